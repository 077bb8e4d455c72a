package shop;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Three of four numbers are positive, while it is measured; all are negative while it warms up. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 2, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(2)
public class SignBenchmark {
    private final int[] numbers = new int[1000];
    private int iteration;

    @Setup(org.openjdk.jmh.annotations.Level.Iteration)
    public void numbers() {
        boolean warm = iteration++ < 2;
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = warm || i % 4 == 0 ? -1 : 1;
        }
    }

    @Benchmark
    public int positive() {
        int positive = 0;
        for (int number : numbers) {
            if (number > 0) {
                positive++;
            }
        }
        return positive;
    }
}
