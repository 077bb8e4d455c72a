package trodden.jmh;

import java.io.File;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.runner.IterationType;

/**
 * How many bytecode instructions an operation of each benchmark executes, and what grew since a base: {@code
 * -prof trodden:gate}.
 *
 * <p>JMH makes one instance in its own JVM, which adds the agent to forks, and makes a gate file of what they
 * have counted; and one in each fork, which reports to its agent when a measured iteration ends, and how many
 * operations it did.
 *
 * <p>Options: {@code out} (the gate file, {@code trodden-jmh/jmh.gate}), {@code base} (the one to compare
 * with), {@code dir} (where the forks' profiles are kept), {@code include}, {@code exclude}, {@code program},
 * {@code library}.
 */
public final class GateProfiler extends ForkProfiler {
    /** As in {@code profile/src/model/by_test}. */
    private static final String BETWEEN = "(between tests)";
    /** The unit of a gate file's benchmarks. */
    private static final double OPERATIONS = 1e6;

    private final Path out;
    private final Path base;
    /** The files that all forks so far have written, by gate file: JMH makes an instance for each benchmark. */
    private static final Map<Path, List<String>> FILES = new HashMap<>();

    /** @param line {@code name=value;name=value…} */
    public GateProfiler(String line) throws ProfilerException {
        this(options(line));
    }

    private GateProfiler(Map<String, String> given) throws ProfilerException {
        super(given, true);
        // As `trodden gate record` counts.
        options.put("profile", "coverage");
        options.put("coverage", "paths");
        String named = given.remove("out");
        out = named == null ? folder.resolve("jmh.gate") : Paths.get(named).toAbsolutePath();
        String before = given.remove("base");
        base = before == null ? null : Paths.get(before).toAbsolutePath();
        check();
        if (!given.isEmpty()) {
            throw new ProfilerException("trodden: gate has no option " + given.keySet().iterator().next()
                    + " (it has out, base, dir, include, exclude, program, library)");
        }
        if (base != null && !Files.isRegularFile(base)) {
            throw new ProfilerException("trodden: there is no file " + base);
        }
    }

    @Override
    public String getDescription() {
        return "Executed bytecode instructions of an operation, by Trodden";
    }

    /** The name of a benchmark in a gate file. */
    private static String name(BenchmarkParams params) {
        List<String> values = new ArrayList<>();
        for (String key : params.getParamsKeys()) {
            values.add(key + " = " + params.getParam(key));
        }
        String given = values.isEmpty() ? "" : "(" + String.join(", ", values) + ")";
        return params.getBenchmark() + given + " [" + params.getMode().shortLabel() + ", a million operations]";
    }

    // In JMH's own JVM.

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        return Collections.singletonList(agent(params.getBenchmark() + "-gate"));
    }

    @Override
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File stdout, File stderr) {
        try {
            if (!hasWritten()) {
                return text("no instructions: the fork has not written " + file);
            }
            String name = name(result.getParams());
            double own = instructions(Collections.singletonList(file.toString()), newFile("fork-gate"), name, true);
            synchronized (FILES) {
                List<String> files = FILES.computeIfAbsent(out, none -> new ArrayList<>());
                files.add(file.toString());
                instructions(files, out, name, false);
            }
            List<Result> results = new ArrayList<>();
            results.add(new ScalarResult("trodden.instructions", own / OPERATIONS, "#/op", AggregationPolicy.AVG));
            results.addAll(text(said(name, own)));
            return results;
        } catch (IOException | IllegalArgumentException e) {
            return text("no instructions: " + e.getMessage());
        }
    }

    /** Makes a gate file of profiles; the least instructions of a million operations of a benchmark in it. */
    private double instructions(List<String> profiles, Path into, String name, boolean forget) throws IOException {
        List<String> arguments = new ArrayList<>(Arrays.asList("gate", "collect", "-o", into.toString()));
        arguments.addAll(profiles);
        StringBuilder said = new StringBuilder();
        try {
            if (tools.run(line -> said.append(line).append('\n'), arguments) != 0) {
                throw new IOException(said.toString().trim());
            }
            for (String line : Files.readAllLines(into)) {
                String[] columns = line.split("\t");
                if (columns[0].equals("test") && columns[4].equals(name)) {
                    return Double.parseDouble(columns[1]);
                }
            }
        } finally {
            if (forget) {
                Files.deleteIfExists(into);
            }
        }
        throw new IOException("the fork counted nothing of " + name);
    }

    /** The change of the benchmark since the base. */
    private String said(String name, double own) throws IOException {
        StringBuilder said = new StringBuilder(String.format("%,.3f instructions per operation (%s)%n", own / OPERATIONS, out));
        if (base == null) {
            return said.toString();
        }
        StringBuilder json = new StringBuilder();
        tools.mustRun(json::append, Arrays.asList("gate", "compare", base.toString(), out.toString(), "--format", "json"));
        for (Object test : (List<?>) ((Map<?, ?>) Json.read(json.toString())).get("tests")) {
            Map<?, ?> one = (Map<?, ?>) test;
            if (!name.equals(one.get("name"))) {
                continue;
            }
            Object change = one.get("change");
            said.append(change == null ? "not in " + base : String.format("%+.3f %% against %s: %s", 100 * (Double) change, base,
                    one.get("verdict"))).append('\n');
            Map<?, ?> grew = (Map<?, ?>) one.get("grew");
            if (grew != null) {
                said.append("grew: ").append(grew.get("class")).append('.').append(grew.get("method")).append('\n');
                if (grew.get("path") != null) {
                    said.append("path: ").append(grew.get("path")).append('\n');
                }
            }
            if (one.get("unstable") != null) {
                said.append("unstable: ").append(one.get("unstable")).append('\n');
            }
        }
        return said.toString();
    }

    // In the fork.

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        if (iteration.getType() == IterationType.MEASUREMENT) {
            mark(BETWEEN, 0);
        }
    }

    @Override
    public Collection<? extends Result> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
            IterationResult result) {
        if (iteration.getType() == IterationType.MEASUREMENT) {
            mark(name(benchmark), result.getMetadata().getAllOps());
        }
        return Collections.emptyList();
    }

    /** Ends the counts of these operations: those since the last call are theirs. */
    private static void mark(String name, long operations) {
        try {
            Class<?> trodden = Class.forName("java.lang.Trodden", true, null);
            MethodType type = MethodType.methodType(void.class, String.class, long.class, long.class, String.class);
            MethodHandle mark = MethodHandles.publicLookup().findStatic(trodden, "test", type);
            mark.invoke(name, operations, -1L, (String) null);
        } catch (Throwable e) {
            throw new IllegalStateException("trodden: there is no agent in this JVM, or another version of it", e);
        }
    }
}
