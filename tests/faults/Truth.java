import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * The program's own measurement of its time, before and after calls of one kind. A reading of the thread's CPU clock costs more
 * than a short call, so the monotonic clock measures calls; rounds in which the thread did not have a processor throughout, as
 * the CPU clock says, are left out.
 */
final class Truth {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    /** A round has been interrupted if the clocks differ by more nanoseconds. */
    private static final long INTERRUPTED = 30_000;
    private final long[] spent = new long[2];
    private final long[] calls = new long[2];
    private final long[] rounds = new long[2];
    private final long[] inRound = new long[2];
    private long roundBegan = now();
    private long roundBeganCpu = CLOCK.getCurrentThreadCpuTime();
    private long interrupted;
    private long sum;

    /** Rounds of a program: {@code usual}, times the number on its command line if there is one. */
    static int rounds(String[] args, int usual) {
        return args.length == 0 ? usual : usual * Integer.parseInt(args[0]);
    }

    static long now() {
        return System.nanoTime();
    }

    /** Calls that began at {@code before} have ended; {@code way} is 1 for those with the planted fault, the last of a round. */
    void add(int way, int count, long before) {
        inRound[way] = now() - before;
        calls[way] += count;
        if (way == 1) {
            endRound();
        }
    }

    private void endRound() {
        // In this order: a sample that falls into the reading of the CPU clock is in neither.
        long end = now();
        long cpu = CLOCK.getCurrentThreadCpuTime();
        if (end - roundBegan - (cpu - roundBeganCpu) < INTERRUPTED) {
            for (int way = 0; way < 2; way++) {
                spent[way] += inRound[way];
                rounds[way]++;
            }
        } else {
            interrupted++;
        }
        roundBegan = end;
        roundBeganCpu = cpu;
    }

    /** Keeps a result, so that no compiler leaves its computation out. */
    void leave(long result) {
        sum += result;
    }

    /** Shares of calls and of time with the fault, and the time of all calls in seconds. */
    void print() {
        double reading = reading();
        double[] time = new double[2];
        for (int way = 0; way < 2; way++) {
            time[way] = Math.max(0, spent[way] - rounds[way] * reading);
        }
        System.out.println("calls " + (double) calls[1] / (calls[0] + calls[1]));
        System.out.println("time " + time[1] / (time[0] + time[1]));
        System.out.println("seconds " + (time[0] + time[1]) / 1e9);
        System.out.println("interrupted " + (double) interrupted / (interrupted + rounds[1]));
        System.out.println("sum " + sum);
    }

    /** The cost of a reading of the clock in nanoseconds, which is in each of the sums. */
    private static double reading() {
        long readings = 200_000;
        long best = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 10; attempt++) {
            long first = now();
            for (int i = 0; i < readings; i++) {
                now();
            }
            best = Math.min(best, now() - first);
        }
        return best / (double) readings;
    }
}
