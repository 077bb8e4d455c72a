import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** The program's own measurement of its time: the CPU clock of its thread before and after calls of one kind. */
final class Truth {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private final long[] spent = new long[2];
    private final long[] calls = new long[2];
    private final long[] rounds = new long[2];
    private long sum;

    /** Rounds of a program: {@code usual}, times the number on its command line if there is one. */
    static int rounds(String[] args, int usual) {
        return args.length == 0 ? usual : usual * Integer.parseInt(args[0]);
    }

    static long now() {
        return CLOCK.getCurrentThreadCpuTime();
    }

    /** Calls that began at {@code before} have ended; {@code way} is 1 for those with the planted fault. */
    void add(int way, int count, long before) {
        spent[way] += now() - before;
        calls[way] += count;
        rounds[way]++;
    }

    /** Keeps a result, so that no compiler leaves its computation out. */
    void leave(long result) {
        sum += result;
    }

    /** Shares of calls and of time with the fault, and the CPU time of all calls in seconds. */
    void print() {
        long reading = reading();
        for (int way = 0; way < 2; way++) {
            spent[way] = Math.max(0, spent[way] - rounds[way] * reading);
        }
        System.out.println("calls " + (double) calls[1] / (calls[0] + calls[1]));
        System.out.println("time " + (double) spent[1] / (spent[0] + spent[1]));
        System.out.println("seconds " + (spent[0] + spent[1]) / 1e9);
        System.out.println("sum " + sum);
    }

    /** The cost of a reading of the clock, which is in each of the sums. */
    private static long reading() {
        long readings = 200_000;
        long first = now();
        for (int i = 0; i < readings; i++) {
            now();
        }
        return (now() - first) / readings;
    }
}
