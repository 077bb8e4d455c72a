package trodden.jmh;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
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
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.results.TextResult;
import org.openjdk.jmh.runner.IterationType;
import trodden.build.Tools;

/**
 * The hot paths of each benchmark: {@code -prof trodden.jmh.TroddenProfiler[:name=value;name=value…]}.
 *
 * <p>JMH makes one instance in its own JVM, which adds the agent to forks and reads what they have written, and one in each fork,
 * which forgets all counts when the warm-up is over, and stops counting after the last iteration that is measured.
 *
 * <p>Options: {@code top} (paths that are printed, 5), {@code dir} (where the profiles are kept), {@code program} and {@code library}
 * (see {@link Tools}); all others are profile options: {@code probe}, {@code include}, {@code schedule}, …
 */
public final class TroddenProfiler implements ExternalProfiler, InternalProfiler {
    /** JMH itself, and what it generates around benchmarks. */
    private static final List<String> HARNESS = Collections.unmodifiableList(Arrays.asList("org.openjdk.jmh.*",
            "*.jmh_generated.*", "joptsimple.*", "org.apache.commons.math3.*", "trodden.jmh.*", "trodden.build.*"));

    private final Tools tools;
    private final int top;
    private final Path folder;
    private final Map<String, Object> options = new LinkedHashMap<>();
    private Path file;
    private int trials;
    private boolean measuring;
    private int iterations;

    public TroddenProfiler() throws ProfilerException {
        this("");
    }

    /** @param line {@code name=value;name=value…} */
    public TroddenProfiler(String line) throws ProfilerException {
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
        String program = given.remove("program");
        String library = given.remove("library");
        String most = given.remove("top");
        String dir = given.remove("dir");
        if (given.containsKey("file")) {
            throw new ProfilerException("trodden: name the folder of the profiles by dir=, not file=");
        }
        String exclude = given.remove("exclude");
        options.putAll(given);
        List<String> left = new ArrayList<>(HARNESS);
        if (exclude != null) {
            left.addAll(Arrays.asList(exclude.split("\\+")));
        }
        if (given.containsKey("include")) {
            options.put("include", Arrays.asList(given.get("include").split("\\+")));
        }
        options.put("exclude", left);
        if (!given.containsKey("probe") && !given.containsKey("profile")) {
            // The default of running programs takes probes out on the way: code that is measured must not change.
            options.put("probe", "yieldpoint");
        }
        try {
            top = most == null ? 5 : Integer.parseInt(most);
            tools = Tools.find(program, library);
            folder = dir == null ? Paths.get("trodden-jmh").toAbsolutePath() : Paths.get(dir).toAbsolutePath();
        } catch (IOException | NumberFormatException e) {
            throw new ProfilerException("trodden: " + e.getMessage());
        }
    }

    @Override
    public String getDescription() {
        return "Hot control-flow paths, by Trodden";
    }

    // In JMH's own JVM.

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        return Collections.emptyList();
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        StringBuilder name = new StringBuilder(params.getBenchmark());
        for (String key : params.getParamsKeys()) {
            name.append('-').append(key).append('-').append(params.getParam(key));
        }
        String plain = name.toString().replaceAll("[^A-Za-z0-9._-]", "_");
        file = folder.resolve(plain + "-" + params.getMode().shortLabel() + "-" + ++trials + ".trodden");
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("file", file.toString().replace("%", "%%"));
        all.putAll(options);
        try {
            Files.createDirectories(folder);
            Files.deleteIfExists(file);
            // The fork is told over the attach socket when its warm-up is over; JDK 21 and later warn of that.
            return Arrays.asList(tools.agentFlag(all), "-XX:+EnableDynamicAgentLoading");
        } catch (IOException e) {
            throw new IllegalStateException("trodden: " + e.getMessage(), e);
        }
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {}

    @Override
    public boolean allowPrintOut() {
        return true;
    }

    @Override
    public boolean allowPrintErr() {
        return true;
    }

    @Override
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File err) {
        if (!Files.isRegularFile(file)) {
            return Collections.singletonList(new TextResult("no profile: the fork has not written " + file, "trodden"));
        }
        try {
            return results(report("json", "--top", "1000000"), report("text", "--top", Integer.toString(top)));
        } catch (IOException | IllegalArgumentException e) {
            return Collections.singletonList(new TextResult("no profile: " + e.getMessage(), "trodden"));
        }
    }

    private String report(String format, String... more) throws IOException {
        StringBuilder text = new StringBuilder();
        List<String> arguments = new ArrayList<>(Arrays.asList("report", file.toString(), "--format", format));
        arguments.addAll(Arrays.asList(more));
        tools.mustRun(line -> text.append(line).append('\n'), arguments);
        return text.toString();
    }

    /** The paths of all methods, hottest first, and what they are of the whole. */
    private Collection<? extends Result> results(String json, String text) {
        List<Object[]> paths = new ArrayList<>();
        double total = 0;
        for (Object method : (List<?>) ((Map<?, ?>) Json.read(json)).get("methods")) {
            Map<?, ?> of = (Map<?, ?>) method;
            String title = of.get("class").toString().replace('/', '.') + "." + of.get("name");
            for (Object path : (List<?>) of.get("paths")) {
                Map<?, ?> one = (Map<?, ?>) path;
                double count = (Double) one.get("count");
                total += count;
                paths.add(new Object[] {count, title, ((Double) one.get("id")).longValue(), one});
            }
        }
        paths.sort((a, b) -> Double.compare((Double) b[0], (Double) a[0]));
        List<Result> results = new ArrayList<>();
        StringWriter told = new StringWriter();
        told.write("Top paths, of all that ended while measured (" + file + "):\n");
        for (int i = 0; i < Math.min(top, paths.size()); i++) {
            Object[] path = paths.get(i);
            double share = 100 * (Double) path[0] / total;
            told.write(String.format("%6.1f %%  %s, path %s: %s%n", share, path[1], path[2], route((Map<?, ?>) path[3])));
            results.add(new ScalarResult("trodden.path" + (i + 1), share, "%", AggregationPolicy.AVG));
        }
        told.write("\n" + text);
        results.add(new ScalarResult("trodden.paths", paths.size(), "#", AggregationPolicy.AVG));
        results.add(new TextResult(told.toString(), "trodden"));
        return results;
    }

    /** {@code header 12, 12 not-taken, 14 taken, header 12}. */
    private static String route(Map<?, ?> path) {
        List<String> parts = new ArrayList<>();
        parts.add(point((Map<?, ?>) path.get("start")));
        for (Object step : (List<?>) path.get("steps")) {
            Map<?, ?> one = (Map<?, ?>) step;
            parts.add(place(one) + " " + one.get("branch"));
        }
        parts.add(point((Map<?, ?>) path.get("end")));
        return String.join(", ", parts);
    }

    private static String point(Map<?, ?> point) {
        return point.get("kind") + " " + place(point);
    }

    private static String place(Map<?, ?> place) {
        Object line = place.get("line");
        return line == null ? "@" + ((Double) place.get("bci")).intValue() : "line " + ((Double) line).intValue();
    }

    // In the fork.

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        if (iteration.getType() == IterationType.MEASUREMENT && !measuring) {
            measuring = true;
            command("reset");
        }
    }

    @Override
    public Collection<? extends Result> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
            IterationResult result) {
        iterations += iteration.getType() == IterationType.MEASUREMENT ? 1 : 0;
        if (iteration.getType() == IterationType.MEASUREMENT && iterations == iteration.getCount()) {
            command("stop");
        }
        return Collections.emptyList();
    }

    /** Tells the agent in this JVM. */
    private void command(String action) {
        try {
            StringBuilder said = new StringBuilder();
            String pid = Long.toString(ProcessHandle.current().pid());
            int code = tools.run(line -> said.append(line).append('\n'), Arrays.asList("attach", pid, action));
            if (code != 0) {
                throw new IllegalStateException("trodden attach " + pid + " " + action + " ended with " + code + ": " + said);
            }
        } catch (IOException e) {
            throw new IllegalStateException("trodden: " + e.getMessage(), e);
        }
    }
}
