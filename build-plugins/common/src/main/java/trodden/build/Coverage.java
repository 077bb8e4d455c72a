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
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a module's tests ran: from the profiles of its JVMs to reports and verdicts. */
public final class Coverage {
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
    private final Path data;
    private final Collection<Path> classes;
    private final List<String> includes;
    private final List<String> excludes;

    /**
     * @param data folder with one profile for each JVM, perhaps in folders below
     * @param classes the module's own classes, not instrumented
     */
    public Coverage(Tools tools, Consumer<String> log, Path data, Collection<Path> classes, List<String> includes,
            List<String> excludes) {
        this.tools = tools;
        this.log = log;
        this.data = data;
        this.classes = classes.stream().filter(Files::exists).collect(Collectors.toList());
        this.includes = includes;
        this.excludes = excludes;
    }

    /** All profiles in one; null if there is none, or nothing whose coverage could be told. */
    private Path merged() throws IOException {
        if (!Files.isDirectory(data)) {
            return null;
        }
        List<String> files;
        try (Stream<Path> all = Files.walk(data)) {
            files = all.map(Path::toString).filter(name -> name.endsWith(".trodden")).sorted()
                    .collect(Collectors.toList());
        }
        if (files.isEmpty() || classes.isEmpty()) {
            return null;
        }
        Path merged = data.resolveSibling("merged.trodden");
        List<String> arguments = new ArrayList<>(Arrays.asList("merge", "-o", merged.toString()));
        arguments.addAll(files);
        tools.mustRun(log, arguments);
        return merged;
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
        Path merged = merged();
        if (merged == null) {
            return false;
        }
        Files.createDirectories(out);
        for (String format : formats) {
            Path file = out.resolve(FILES.get(format));
            List<String> arguments = new ArrayList<>(Arrays.asList("report", merged.toString(), "--format", format,
                    "-o", file.toString()));
            sources.stream().filter(Files::isDirectory)
                    .forEach(source -> arguments.addAll(Arrays.asList("--sources", source.toString())));
            if (!Arrays.asList("html", "text", "json").contains(format)) {
                scope(arguments);
                arguments.addAll(Arrays.asList("--name", name));
            }
            tools.mustRun(log, arguments);
        }
        return true;
    }

    /** What became of a check. */
    public enum Verdict {
        /** All rules are kept. */
        KEPT,
        /** Some are not. */
        BROKEN,
        /** No test JVM left a profile, or there are no classes. */
        NOTHING
    }

    /** Checks rules; the verdicts on each go to the log. */
    public Verdict check(List<String> rules) throws IOException {
        Path merged = merged();
        if (merged == null) {
            return Verdict.NOTHING;
        }
        List<String> arguments = new ArrayList<>(Arrays.asList("check", merged.toString()));
        rules.forEach(rule -> arguments.addAll(Arrays.asList("--rules", rule)));
        scope(arguments);
        int code = tools.run(log, arguments);
        switch (code) {
            case 0:
                return Verdict.KEPT;
            case 3:
                return Verdict.BROKEN;
            default:
                throw new IOException("trodden check ended with " + code);
        }
    }
}
