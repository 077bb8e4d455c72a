package trodden.jmh;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.TextResult;
import trodden.build.Tools;

/** A profiler that gives the agent to forks, each with a file of its own. */
abstract class ForkProfiler implements ExternalProfiler, InternalProfiler {
    /** JMH itself, and what it generates around benchmarks. */
    private static final List<String> HARNESS = Collections.unmodifiableList(Arrays.asList("org.openjdk.jmh.*",
            "*.jmh_generated.*", "joptsimple.*", "org.apache.commons.math3.*", "trodden", "trodden.jmh.*", "trodden.build.*"));

    /** Null in an instance that JMH only lists, where there is no trodden. */
    final Tools tools;
    final Path folder;
    /** The agent's options, all but its file. */
    final Map<String, Object> options = new LinkedHashMap<>();
    /** What the fork that runs writes. */
    Path file;

    /** Takes {@code program}, {@code library}, {@code dir}, {@code include} and {@code exclude} of what was given. */
    ForkProfiler(Map<String, String> given, boolean needed) throws ProfilerException {
        String program = given.remove("program");
        String library = given.remove("library");
        String dir = given.remove("dir");
        String include = given.remove("include");
        String exclude = given.remove("exclude");
        folder = Paths.get(dir == null ? "trodden-jmh" : dir).toAbsolutePath();
        List<String> left = new ArrayList<>(HARNESS);
        if (exclude != null) {
            left.addAll(Arrays.asList(exclude.split("\\+")));
        }
        if (include != null) {
            options.put("include", Arrays.asList(include.split("\\+")));
        }
        options.put("exclude", left);
        try {
            tools = needed ? Tools.find(program, library) : null;
        } catch (IOException e) {
            throw new ProfilerException("trodden: " + e.getMessage());
        }
    }

    /** {@code name=value;name=value…} as a map. */
    static Map<String, String> options(String line) throws ProfilerException {
        Map<String, String> given = new LinkedHashMap<>();
        for (String part : line.split(";")) {
            if (part.trim().isEmpty()) {
                continue;
            }
            String[] sides = part.split("=", 2);
            if (sides.length < 2) {
                throw new ProfilerException("trodden: '" + part + "' is not name=value");
            }
            given.put(sides[0].trim(), sides[1].trim());
        }
        return given;
    }

    /** Checks the options. */
    final void check() throws ProfilerException {
        try {
            tools.checkOptions(options);
        } catch (IOException e) {
            throw new ProfilerException("trodden: " + e.getMessage());
        }
    }

    /** The agent of a fork, which writes a new file: NAME-1.trodden, NAME-2.trodden … */
    final String agent(String name) {
        Map<String, Object> all = new LinkedHashMap<>();
        try {
            file = newFile(name);
            all.put("file", file.toString().replace("%", "%%"));
            all.putAll(options);
            return tools.agentFlag(all);
        } catch (IOException e) {
            throw new IllegalStateException("trodden: " + e.getMessage(), e);
        }
    }

    /** A file of its own for each fork, of this run and of others. */
    final Path newFile(String name) throws IOException {
        Files.createDirectories(folder);
        String plain = name.replaceAll("[^A-Za-z0-9._-]", "_");
        for (int number = 1;; number++) {
            try {
                // Empty until the agent replaces it: so no other run takes the name.
                return Files.createFile(folder.resolve(plain + "-" + number + ".trodden"));
            } catch (FileAlreadyExistsException e) {
                continue;
            }
        }
    }

    /** True if the fork has written its file; else this is gone. */
    final boolean hasWritten() throws IOException {
        if (Files.size(file) == 0) {
            Files.delete(file);
            return false;
        }
        return true;
    }

    static List<TextResult> text(String text) {
        return Collections.singletonList(new TextResult(text, "trodden"));
    }

    @Override
    public final Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        return Collections.emptyList();
    }

    @Override
    public final void beforeTrial(BenchmarkParams params) {}

    @Override
    public final boolean allowPrintOut() {
        return true;
    }

    @Override
    public final boolean allowPrintErr() {
        return true;
    }
}
