package trodden.build;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Coverage by a module's tests: from the profiles of its JVMs to reports and verdicts. */
public final class Coverage {
    /** How the names of profiles end. */
    private static final String PROFILE = ".trodden";

    /** The message of {@code trodden} about JaCoCo's XML where classes were changed before Trodden saw them. */
    private static final String OTHER_BYTES = "loaded with other bytes";

    /** How the verdict on a rule that is not kept begins; what is below it is indented. */
    private static final String BROKEN = "BROKEN";

    /** Formats and the files they go to. */
    private static final Map<String, String> FILES = new LinkedHashMap<>();

    static {
        FILES.put("html", "index.html");
        FILES.put("text", "profile.txt");
        FILES.put("json", "profile.json");
        FILES.put("coverage", "coverage.txt");
        FILES.put("coverage-json", "coverage.json");
        FILES.put("lcov", "lcov.info");
        FILES.put("jacoco", "jacoco.xml");
    }

    /** Formats that are written if none is named. */
    public static final List<String> DEFAULT_FORMATS =
            java.util.Collections.unmodifiableList(Arrays.asList("html", "coverage", "coverage-json", "lcov"));

    private final Tools tools;
    private final Consumer<String> log;
    private final Consumer<String> warn;
    private final Path merged;
    private final Collection<Path> data;
    private final Collection<Path> classes;
    private final List<String> includes;
    private final List<String> excludes;

    /**
     * @param merged the file that all profiles are merged into
     * @param data folders with one profile for each JVM, perhaps in folders below
     * @param classes the module's own classes, not instrumented
     */
    public Coverage(Tools tools, Consumer<String> log, Consumer<String> warn, Path merged, Collection<Path> data,
            Collection<Path> classes, List<String> includes, List<String> excludes) {
        this.tools = tools;
        this.log = log;
        this.warn = warn;
        this.merged = merged;
        this.data = data;
        this.classes = classes.stream().filter(Files::exists).collect(Collectors.toList());
        this.includes = includes;
        this.excludes = excludes;
    }

    /** All profiles below folders. */
    public static List<Path> profiles(Collection<Path> folders) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path folder : folders) {
            if (Files.isDirectory(folder)) {
                try (Stream<Path> all = Files.walk(folder)) {
                    all.filter(file -> file.toString().endsWith(PROFILE) && Files.isRegularFile(file)).sorted()
                            .forEach(files::add);
                }
            }
        }
        return files;
    }

    /** Merges profiles into one file. */
    public static void merge(Tools tools, Consumer<String> log, Collection<Path> profiles, Path merged) throws IOException {
        Files.createDirectories(merged.toAbsolutePath().getParent());
        List<String> arguments = new ArrayList<>(Arrays.asList("merge", "-o", merged.toString()));
        profiles.forEach(file -> arguments.add(file.toString()));
        tools.mustRun(log, arguments);
    }

    /** Merges all profiles into one; false if there is none, or no class to report on. */
    private boolean merged() throws IOException {
        List<Path> files = profiles(data);
        if (files.isEmpty() || classes.isEmpty()) {
            return false;
        }
        merge(tools, log, files, merged);
        return true;
    }

    /**
     * Did tests run that left no profile? Test tools write one file TEST-….xml for each class of tests. Profiles of earlier
     * builds are not of these tests.
     *
     * @param results the folders where they do
     * @param since when this build began, in milliseconds since 1970; 0 where results and profiles of earlier builds do not stay
     */
    public boolean testsLeftNothing(Collection<Path> results, long since) throws IOException {
        return !classes.isEmpty() && !isNewer(profiles(data), since) && isNewer(results(results), since);
    }

    private static List<Path> results(Collection<Path> folders) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path folder : folders) {
            if (Files.isDirectory(folder)) {
                try (Stream<Path> all = Files.walk(folder)) {
                    all.filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml") && Files.isRegularFile(file))
                            .forEach(files::add);
                }
            }
        }
        return files;
    }

    /** Is one of these files of this build? File systems keep times in seconds at least. */
    private static boolean isNewer(Collection<Path> files, long since) throws IOException {
        for (Path file : files) {
            if (Files.getLastModifiedTime(file).toMillis() >= since / 1000 * 1000) {
                return true;
            }
        }
        return false;
    }

    /** Source folders and those next to them for a release of Java: {@code src/main/java11}, {@code src/main/java-17}. */
    static List<Path> withReleases(Collection<Path> sources) throws IOException {
        List<Path> all = new ArrayList<>();
        for (Path source : sources) {
            if (!Files.isDirectory(source)) {
                continue;
            }
            all.add(source);
            Path folder = source.toAbsolutePath().getParent();
            String name = Pattern.quote(source.getFileName().toString()) + "-?[0-9]+";
            try (Stream<Path> beside = Files.list(folder)) {
                beside.filter(path -> path.getFileName().toString().matches(name) && Files.isDirectory(path)).sorted()
                        .filter(path -> !sources.contains(path)).forEach(all::add);
            }
        }
        return all;
    }

    private void scope(List<String> arguments) {
        classes.forEach(path -> arguments.addAll(Arrays.asList("--classes", path.toString())));
        includes.forEach(pattern -> arguments.addAll(Arrays.asList("--include", pattern)));
        excludes.forEach(pattern -> arguments.addAll(Arrays.asList("--exclude", pattern)));
    }

    /** Writes reports into a folder; false if there is nothing to report on. */
    public boolean report(Path out, Collection<String> formats, Collection<Path> sources, String name)
            throws IOException {
        for (String format : formats) {
            if (!FILES.containsKey(format)) {
                throw new IOException("unknown report format '" + format + "' (known: "
                        + String.join(", ", FILES.keySet()) + ")");
            }
        }
        if (!merged()) {
            return false;
        }
        Files.createDirectories(out);
        List<Path> folders = withReleases(sources);
        for (String format : formats) {
            Path file = out.resolve(FILES.get(format));
            List<String> arguments = new ArrayList<>(Arrays.asList("report", merged.toString(), "--format", format,
                    "-o", file.toString()));
            folders.forEach(source -> arguments.addAll(Arrays.asList("--sources", source.toString())));
            if (!Arrays.asList("html", "text", "json").contains(format)) {
                scope(arguments);
                arguments.addAll(Arrays.asList("--name", name));
            }
            // What an earlier build wrote must not pass for this one's.
            Files.deleteIfExists(file);
            List<String> lines = new ArrayList<>();
            int code = tools.run(lines::add, arguments);
            if (code != 0 && format.equals("jacoco") && String.join(" ", lines).contains(OTHER_BYTES)) {
                warn.accept("Format jacoco is left out: classes were changed before Trodden saw them, in ways that cannot"
                        + " be derived from the code of the files");
                continue;
            }
            lines.forEach(log);
            if (code != 0) {
                throw new IOException("trodden " + String.join(" ", arguments) + " ended with " + code);
            }
        }
        return true;
    }

    /** The result of a check. */
    public static final class Verdict {
        private final String problem;
        private final boolean nothing;

        private Verdict(String problem, boolean nothing) {
            this.problem = problem;
            this.nothing = nothing;
        }

        /** Why the check is not passed; null if all rules are kept, or if there was nothing to check. */
        public String problem() {
            return problem;
        }

        /** No test JVM left a profile, or there are no classes. */
        public boolean nothing() {
            return nothing;
        }
    }

    /** Checks rules; the verdicts on each go to the log. */
    public Verdict check(List<String> rules) throws IOException {
        if (!merged()) {
            return new Verdict(null, true);
        }
        List<String> arguments = new ArrayList<>(Arrays.asList("check", merged.toString()));
        rules.forEach(rule -> arguments.addAll(Arrays.asList("--rules", rule)));
        scope(arguments);
        List<String> lines = new ArrayList<>();
        int code = tools.run(line -> {
            log.accept(line);
            lines.add(line);
        }, arguments);
        switch (code) {
            case 0:
                return new Verdict(null, false);
            case 3:
                // The log may not be shown: mvn -q.
                String broken = lines.stream().filter(line -> line.startsWith(BROKEN) || line.startsWith(" "))
                        .map(line -> "\n  " + line).collect(Collectors.joining());
                return new Verdict("rules about coverage are broken:" + broken, false);
            case 1:
            case 2:
                String reason = lines.stream().filter(line -> line.startsWith("trodden: ")).findFirst()
                        .map(line -> line.substring("trodden: ".length()).replaceFirst("^error: ", ""))
                        .orElse("see above");
                return new Verdict("the rules cannot be checked: " + reason, false);
            default:
                throw new IOException("trodden check ended with " + code);
        }
    }
}
