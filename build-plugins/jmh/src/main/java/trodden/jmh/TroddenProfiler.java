package trodden.jmh;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.results.TextResult;
import org.openjdk.jmh.runner.IterationType;

/**
 * The hot paths of each benchmark: {@code -prof trodden.jmh.TroddenProfiler[:name=value;name=value…]}.
 *
 * <p>JMH makes one instance in its own JVM, which adds the agent to forks and reads what they have written,
 * and one in each fork, which forgets all counts when the warm-up is over, and stops counting after the last
 * iteration that is measured.
 *
 * <p>Options: {@code top} (paths that are printed and become metrics, 5), {@code dir} (where the profiles are
 * kept), {@code program} and {@code library} (see {@link trodden.build.Tools}); all others are profile options: {@code
 * probe}, {@code include}, {@code schedule}, …
 */
public final class TroddenProfiler extends ForkProfiler {
    private final int top;
    private String benchmark = "";
    /** The benchmark's paths that are metrics, with the metrics' names. */
    private final Map<String, String> metrics = new LinkedHashMap<>();
    /** Per fork of the benchmark: each path's share. */
    private final List<Map<String, Double>> forks = new ArrayList<>();
    private boolean measuring;
    private int iterations;

    /** For lists of profilers: works where there is no trodden, too. */
    public TroddenProfiler() throws ProfilerException {
        this(options(""), false);
    }

    /** @param line {@code name=value;name=value…} */
    public TroddenProfiler(String line) throws ProfilerException {
        this(options(line), true);
    }

    private TroddenProfiler(Map<String, String> given, boolean needed) throws ProfilerException {
        super(given, needed);
        if (given.containsKey("file")) {
            throw new ProfilerException("trodden: name the folder of the profiles by dir=, not file=");
        }
        String most = given.remove("top");
        options.putAll(given);
        if (!given.containsKey("probe") && !given.containsKey("profile")) {
            // The default of running programs takes probes out on the way: code that is measured must not
            // change.
            options.put("probe", "yieldpoint");
        }
        try {
            top = most == null ? 5 : Integer.parseInt(most);
        } catch (NumberFormatException e) {
            throw new ProfilerException("trodden: " + e.getMessage());
        }
        if (needed) {
            check();
        }
    }

    @Override
    public String getDescription() {
        return "Hot control-flow paths, by Trodden";
    }

    // In JMH's own JVM.

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        StringBuilder name = new StringBuilder(params.getBenchmark());
        for (String key : params.getParamsKeys()) {
            name.append('-').append(key).append('-').append(params.getParam(key));
        }
        name.append('-').append(params.getMode().shortLabel());
        if (!benchmark.contentEquals(name)) {
            benchmark = name.toString();
            metrics.clear();
            forks.clear();
        }
        // The fork talks to its agent over the attach socket when the warm-up is over; JDK 21 and later warn of
        // that.
        return Arrays.asList(agent(benchmark), "-XX:+EnableDynamicAgentLoading");
    }

    @Override
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File err) {
        try {
            if (!hasWritten()) {
                return text("no profile: the fork has not written " + file);
            }
            return results(report("json", "--top", "1000000"), report("text", "--all", "--top", Integer.toString(top)));
        } catch (IOException | IllegalArgumentException e) {
            return text("no profile: " + e.getMessage());
        }
    }

    private String report(String format, String... more) throws IOException {
        StringBuilder text = new StringBuilder();
        List<String> arguments = new ArrayList<>(Arrays.asList("report", file.toString(), "--format", format));
        arguments.addAll(Arrays.asList(more));
        tools.mustRun(line -> text.append(line).append('\n'), arguments);
        return text.toString();
    }

    /** A path and how often it was counted. */
    private static final class Counted {
        final double count;
        final String method;
        final String descriptor;
        final long number;
        final String route;

        Counted(Map<?, ?> method, Map<?, ?> path) {
            this.count = (Double) path.get("count");
            this.method = method.get("class").toString().replace('/', '.') + "." + method.get("name");
            this.descriptor = method.get("descriptor").toString();
            this.number = ((Double) path.get("id")).longValue();
            this.route = route(path);
        }

        String key() {
            return method + descriptor + " " + number;
        }
    }

    /** The paths of all methods, hottest first, and their shares of the whole. */
    private Collection<? extends Result> results(String json, String text) {
        List<Counted> paths = new ArrayList<>();
        Map<String, Set<String>> overloads = new HashMap<>();
        double total = 0;
        for (Object method : (List<?>) ((Map<?, ?>) Json.read(json)).get("methods")) {
            Map<?, ?> of = (Map<?, ?>) method;
            for (Object path : (List<?>) of.get("paths")) {
                Counted one = new Counted(of, (Map<?, ?>) path);
                total += one.count;
                overloads.computeIfAbsent(one.method, name -> new HashSet<>()).add(one.descriptor);
                paths.add(one);
            }
        }
        // The same order in every fork.
        paths.sort(Comparator.comparingDouble((Counted path) -> -path.count).thenComparing(Counted::key));
        StringWriter out = new StringWriter();
        out.write("Top paths, of all that ended while measured (" + file + "):\n");
        List<Result> results = new ArrayList<>();
        Map<String, Double> shares = new HashMap<>();
        for (int i = 0; i < paths.size(); i++) {
            Counted path = paths.get(i);
            double share = 100 * path.count / total;
            shares.put(path.key(), share);
            if (i >= top) {
                continue;
            }
            boolean overloaded = overloads.get(path.method).size() > 1;
            String name = plain(path.method + (overloaded ? path.descriptor : "")) + " path " + path.number + ": " + path.route;
            out.write(String.format("%6.1f %%  %s%n", share, name));
            if (metrics.putIfAbsent(path.key(), "trodden " + name) == null) {
                // JMH takes the mean of a metric's values. Each fork has to give one, also those before this
                // one.
                for (Map<String, Double> fork : forks) {
                    results.add(metric(path.key(), fork));
                }
            }
        }
        for (String key : metrics.keySet()) {
            results.add(metric(key, shares));
        }
        forks.add(shares);
        out.write("\n" + text);
        results.add(new ScalarResult("trodden.paths", paths.size(), "#", AggregationPolicy.AVG));
        results.add(new TextResult(out.toString(), "trodden"));
        return results;
    }

    /** The share of a path in a fork. Its name has the path's text: JMH writes no other text into its JSON. */
    private Result metric(String key, Map<String, Double> shares) {
        return new ScalarResult(metrics.get(key), shares.getOrDefault(key, 0.0), "%", AggregationPolicy.AVG);
    }

    /**
     * JMH breaks lines in its JSON after these characters, also where they are in a name. It writes a comma
     * for each semicolon, and brackets for less and greater.
     */
    private static String plain(String text) {
        return text.replace('[', '*').replaceAll("[],{}]", ";");
    }

    /** {@code number above 0: yes}; where the condition is not known, {@code taken} or the keys of a switch. */
    private static String decision(Map<?, ?> step) {
        Object condition = step.get("condition");
        Object outcome = step.get("outcome");
        if (condition == null || outcome == null) {
            // The keys of a switch are joined by commas.
            return plain(step.get("branch").toString());
        }
        return words(condition.toString()) + ": " + words(outcome.toString());
    }

    /** A condition without the signs that JMH changes. */
    private static String words(String text) {
        String compared = text.replace(" <= ", " at most ").replace(" >= ", " at least ").replace(" < ", " below ")
                .replace(" > ", " above ");
        return plain(compared.replaceAll("[\\[{<]", "(").replaceAll("[]}>]", ")"));
    }

    /** {@code header line 12 / line 12 i below n: again / line 14 number above 0: yes / header line 12}. */
    private static String route(Map<?, ?> path) {
        List<String> parts = new ArrayList<>();
        parts.add(point((Map<?, ?>) path.get("start")));
        for (Object step : (List<?>) path.get("steps")) {
            Map<?, ?> one = (Map<?, ?>) step;
            parts.add(place(one) + " " + decision(one));
        }
        parts.add(point((Map<?, ?>) path.get("end")));
        return String.join(" / ", parts);
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

    /** Gives the agent in this JVM a command. */
    private void command(String action) {
        try {
            StringBuilder output = new StringBuilder();
            String pid = Long.toString(ProcessHandle.current().pid());
            int code = tools.run(line -> output.append(line).append('\n'), Arrays.asList("attach", pid, action));
            if (code != 0) {
                throw new IllegalStateException("trodden attach " + pid + " " + action + " ended with " + code + ": " + output);
            }
        } catch (IOException e) {
            throw new IllegalStateException("trodden: " + e.getMessage(), e);
        }
    }
}
