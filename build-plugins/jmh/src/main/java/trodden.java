import java.io.File;
import java.util.Collection;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import trodden.jmh.GateProfiler;
import trodden.jmh.TroddenProfiler;

/**
 * Trodden's profilers under a short name: {@code -prof trodden} is {@link TroddenProfiler}, {@code -prof
 * trodden:gate} is {@link GateProfiler}; options follow, separated by semicolons. JMH takes the part before
 * the colon for the name of a class, so this one is in no package.
 */
public final class trodden implements ExternalProfiler, InternalProfiler {
    private final ExternalProfiler outside;
    private final InternalProfiler inside;

    /** For lists of profilers: works where there is no trodden, too. */
    public trodden() throws ProfilerException {
        TroddenProfiler paths = new TroddenProfiler();
        outside = paths;
        inside = paths;
    }

    /** @param line {@code gate} or nothing, then {@code name=value;name=value…} */
    public trodden(String line) throws ProfilerException {
        String[] parts = line.split(";", 2);
        if (parts[0].trim().equals("gate")) {
            GateProfiler gate = new GateProfiler(parts.length < 2 ? "" : parts[1]);
            outside = gate;
            inside = gate;
        } else {
            TroddenProfiler paths = new TroddenProfiler(line);
            outside = paths;
            inside = paths;
        }
    }

    @Override
    public String getDescription() {
        return "Hot control-flow paths; with :gate instructions of an operation, by Trodden";
    }

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        return outside.addJVMInvokeOptions(params);
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        return outside.addJVMOptions(params);
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {
        outside.beforeTrial(params);
    }

    @Override
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File err) {
        return outside.afterTrial(result, pid, out, err);
    }

    @Override
    public boolean allowPrintOut() {
        return outside.allowPrintOut();
    }

    @Override
    public boolean allowPrintErr() {
        return outside.allowPrintErr();
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        inside.beforeIteration(benchmark, iteration);
    }

    @Override
    public Collection<? extends Result> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
            IterationResult result) {
        return inside.afterIteration(benchmark, iteration, result);
    }
}
