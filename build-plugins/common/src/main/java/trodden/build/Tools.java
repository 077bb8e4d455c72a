package trodden.build;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The program {@code trodden} and the agent's library: where they are, and running them.
 *
 * <p>The program is the one named, else that of the variable {@code TRODDEN}, else the one that came with the
 * plugin (see {@link Natives}), else the first {@code trodden} on the PATH. The library is the one named,
 * else that of the variable {@code TRODDEN_AGENT}, else {@code libtrodden.so} next to the program or in
 * {@code ../lib} from there: as the program itself looks for it.
 */
public final class Tools {
    private static final String LIBRARY = Natives.LIBRARY;

    private final Path program;
    private final Path library;

    private Tools(Path program, Path library) {
        this.program = program;
        this.library = library;
    }

    /** Finds both; a name that is null or empty means: look. */
    public static Tools find(String program, String library) throws IOException {
        Path found = program(program);
        return new Tools(found, library(library, found));
    }

    /** The SHA-256 sum of the library that {@link #find} finds; nothing is unpacked for it. */
    public static String fingerprint(String program, String library) throws IOException {
        boolean named = given(program) || given(library) || given(System.getenv("TRODDEN")) || given(System.getenv("TRODDEN_AGENT"));
        String sum = named ? null : Natives.sums().get(LIBRARY);
        return sum != null ? sum : Natives.sha256(find(program, library).library);
    }

    private static boolean given(String text) {
        return text != null && !text.isEmpty();
    }

    private static Path program(String named) throws IOException {
        String variable = System.getenv("TRODDEN");
        if (given(named) || given(variable)) {
            Path path = Paths.get(given(named) ? named : variable).toAbsolutePath();
            if (!Files.isExecutable(path) || Files.isDirectory(path)) {
                throw new IOException(path + " is no program");
            }
            return path.toRealPath();
        }
        Path natives = Natives.folder();
        if (natives != null) {
            return natives.resolve(Natives.PROGRAM);
        }
        String path = System.getenv("PATH");
        for (String folder : (path == null ? "" : path).split(File.pathSeparator)) {
            Path candidate = Paths.get(folder, "trodden");
            if (!folder.isEmpty() && Files.isExecutable(candidate) && !Files.isDirectory(candidate)) {
                return candidate.toRealPath();
            }
        }
        throw new IOException("the program trodden did not come with this plugin (no artifact trodden-natives for "
                + Natives.platform() + "), and it is not on the PATH; name it by the property trodden.program or the"
                + " variable TRODDEN");
    }

    private static Path library(String named, Path program) throws IOException {
        String variable = System.getenv("TRODDEN_AGENT");
        if (given(named) || given(variable)) {
            Path path = Paths.get(given(named) ? named : variable).toAbsolutePath();
            if (!Files.isRegularFile(path)) {
                throw new IOException(path + " is no file");
            }
            return path.toRealPath();
        }
        for (String place : new String[] {LIBRARY, "../lib/" + LIBRARY}) {
            Path candidate = program.resolveSibling(place);
            if (Files.isRegularFile(candidate)) {
                return candidate.toRealPath();
            }
        }
        throw new IOException(LIBRARY + " is neither next to " + program + " nor in ../lib; name it by the property"
                + " trodden.library or the variable TRODDEN_AGENT");
    }

    /** The agent's library. */
    public Path library() {
        return library;
    }

    /** The JVM's flag that loads the agent with these options; a list as a value is joined by plus signs. */
    public String agentFlag(Map<String, ?> options) throws IOException {
        if (library.toString().contains("=")) {
            throw new IOException("the JVM takes no agent from " + library + ": its name contains '='");
        }
        return "-agentpath:" + library + "=start," + agentOptions(options);
    }

    /** Options in the agent's syntax: commas end values, so those inside are marked. */
    public static String agentOptions(Map<String, ?> options) {
        List<String> parts = new ArrayList<>();
        for (Map.Entry<String, ?> option : options.entrySet()) {
            Object value = option.getValue();
            if (value instanceof List) {
                for (Object item : (List<?>) value) {
                    parts.add(option.getKey() + "=" + escaped(item.toString()).replace("+", "\\+"));
                }
            } else if (value != null) {
                parts.add(option.getKey() + "=" + escaped(value.toString()));
            }
        }
        return String.join(",", parts);
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace(",", "\\,");
    }

    /**
     * Does the build itself run under {@code trodden run} or {@code trodden gate record}? Then the tests' JVMs take that agent, by a
     * variable that they inherit.
     */
    public static boolean isUnderAgent() {
        for (String variable : new String[] {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"}) {
            String flags = System.getenv(variable);
            if (flags != null && flags.contains("-agentpath:") && flags.contains("libtrodden")) {
                return true;
            }
        }
        return false;
    }

    /** Makes sure that the agent takes these options: in a test's JVM a wrong one would only leave no profile. */
    public void checkOptions(Map<String, ?> options) throws IOException {
        List<String> lines = new ArrayList<>();
        int code = run(lines::add, java.util.Arrays.asList("doctor", "--agent-options", "start," + agentOptions(options)));
        if (code == 1) {
            throw new IOException("the agent does not take these options: " + String.join(" ", lines).replaceFirst("^BAD +", ""));
        }
    }

    /** The program with these arguments, which takes this library. */
    public ProcessBuilder command(List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(program.toString());
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("TRODDEN_AGENT", library.toString());
        return builder;
    }

    /** Runs the program; its output goes to the log, line by line. Returns its exit code. */
    public int run(Consumer<String> log, List<String> arguments) throws IOException {
        return runIn(null, log, arguments);
    }

    /** As {@link #run}, in a folder; null is the current one. */
    public int runIn(Path folder, Consumer<String> log, List<String> arguments) throws IOException {
        ProcessBuilder builder = command(arguments).redirectErrorStream(true);
        builder.directory(folder == null ? null : folder.toFile());
        builder.environment().put("NO_COLOR", "1");
        Process process = builder.start();
        process.getOutputStream().close();
        try (BufferedReader out = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                log.accept(line);
            }
        }
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** As {@link #run}, but another exit code than 0 is an error. */
    public void mustRun(Consumer<String> log, List<String> arguments) throws IOException {
        mustRunIn(null, log, arguments);
    }

    /** As {@link #mustRun}, in a folder. */
    public void mustRunIn(Path folder, Consumer<String> log, List<String> arguments) throws IOException {
        int code = runIn(folder, log, arguments);
        if (code != 0) {
            throw new IOException("trodden " + String.join(" ", arguments) + " ended with " + code);
        }
    }
}
