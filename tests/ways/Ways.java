import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * Arguments: SHAPE SECONDS. One shape of code for that time. For each decision with a comment {@code way: NAME OUTCOME} it
 * prints the name and the share of its method's time that the outcome has, by this thread's own CPU clock.
 */
public final class Ways {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private static final String TEXT = "the path that a sample was on ends some time later ".repeat(2000);
    private static final byte[][] BYTES = {new byte[9_000], new byte[90_000], new byte[900_000], new byte[9_000_000]};
    private static final int[] NUMBERS = new int[600];
    private static long sum;
    private static long seed = System.nanoTime();

    /** What the program measures: time by way. */
    private static final class Share {
        private final String name;
        private final long[] spent = new long[2];

        Share(String name) {
            this.name = name;
        }

        void add(boolean way, long time) {
            spent[way ? 1 : 0] += time;
        }

        void print() {
            System.out.println(name + " " + (double) spent[1] / (spent[0] + spent[1]));
        }
    }

    static long spin(int rounds) {
        long x = rounds;
        for (int i = 0; i < rounds; i++) {
            x = x * 31 + (x >>> 7);
        }
        return x;
    }

    /** Each way calls a method. */
    static void calls(int i) {
        if (i % 3 == 0) { // way: calls yes
            sum += heavy(i);
        } else {
            sum += light(i);
        }
    }

    static long heavy(int i) {
        return spin(90_000 + (i & 7)) ^ i;
    }

    static long light(int i) {
        return spin(60_000 + (i & 7)) + i;
    }

    /** Plain arithmetic in both ways: compilers unroll the loops and leave most instructions without a place. */
    static void loops(int i) {
        if (i % 2 == 0) { // way: loops yes
            for (int k = 1; k < NUMBERS.length; k++) {
                int moved = (i * 7919 + k * 31337) & 0xffff;
                int at = k - 1;
                while (at >= 0 && NUMBERS[at] > moved) {
                    NUMBERS[at + 1] = NUMBERS[at];
                    at--;
                }
                NUMBERS[at + 1] = moved;
            }
        } else {
            int hash = 0;
            for (int k = 0; k < TEXT.length(); k++) {
                hash = hash * 31 + TEXT.charAt(k);
            }
            sum += hash;
        }
    }

    /** Three levels, whose ways all lead to the same code. */
    static void outer(int i) {
        int rounds = 20_000;
        if (i % 2 == 0) { // way: outer yes
            rounds *= 3;
        }
        middle(i, rounds);
    }

    static void middle(int i, int rounds) {
        int more = rounds;
        if (i % 3 == 0) { // way: middle yes
            more *= 2;
        }
        inner(i, more);
    }

    static void inner(int i, int rounds) {
        int most = rounds;
        if (i % 5 == 0) { // way: inner yes
            most *= 4;
        }
        sum += spin(most);
    }

    /** Each activation is on the way of the first one. */
    static long recursion(int i, int depth) {
        int rounds = 10_000;
        if (i % 4 == 0) { // way: recursion yes
            rounds = 25_000;
        }
        long own = spin(rounds + depth);
        return depth == 0 ? own : own ^ recursion(i, depth - 1);
    }

    /** One way ends in an exception, which is caught here. */
    static void exceptions(int i) {
        if (i % 3 == 0) { // way: exceptions yes
            try {
                sum += failing(i);
            } catch (IllegalStateException e) {
                sum++;
            }
        } else {
            sum += light(i);
        }
    }

    static long failing(int i) {
        long x = spin(80_000);
        if (x != i) {
            throw new IllegalStateException();
        }
        return x;
    }

    /** Paths of very different lengths, whose calls have no counts. */
    static void plain(int length) {
        if (length == 0) { // way: plain-5us yes
            sum += Arrays.hashCode(BYTES[0]);
        } else if (length == 1) { // way: plain-50us yes
            sum += Arrays.hashCode(BYTES[1]);
        } else if (length == 2) { // way: plain-500us yes
            sum += Arrays.hashCode(BYTES[2]);
        } else {
            sum += Arrays.hashCode(BYTES[3]);
        }
    }

    /** As above, with loops below that count each round. */
    static void loud(int length) {
        if (length == 0) { // way: loud-5us yes
            sum += spin(5_000);
        } else if (length == 1) { // way: loud-50us yes
            sum += spin(50_000);
        } else if (length == 2) { // way: loud-500us yes
            sum += spin(500_000);
        } else {
            sum += spin(5_000_000);
        }
    }

    /** As with calls, in threads that leave their carriers. */
    static void virtual(int i) {
        if (i % 3 == 0) { // way: virtual yes
            sum += heavy(i);
        } else {
            sum += light(i);
        }
        // Seldom: that is time of both ways.
        if ((i & 15) == 0) {
            Thread.yield();
        }
    }

    /** Calls for that time, each of which is on one of the ways of all the decisions. */
    private static void measure(double seconds, IntConsumer call, Share[] shares, int[] every) {
        long reading = reading();
        long end = CLOCK.getCurrentThreadCpuTime() + (long) (seconds * 1e9);
        long before = CLOCK.getCurrentThreadCpuTime();
        for (int i = 0; before < end; i++) {
            call.accept(i);
            long spent = CLOCK.getCurrentThreadCpuTime() - before - reading;
            for (int at = 0; at < shares.length; at++) {
                shares[at].add(i % every[at] == 0, spent);
            }
            before = CLOCK.getCurrentThreadCpuTime();
        }
    }

    /** Calls of each length, so many that they take about the same time in all. */
    private static void measureLengths(double seconds, IntConsumer call, Share[] shares) {
        long reading = reading();
        long end = CLOCK.getCurrentThreadCpuTime() + (long) (seconds * 1e9);
        int[] done = new int[4];
        while (CLOCK.getCurrentThreadCpuTime() < end) {
            // 1, 10, 100 and 1000 calls, in any order.
            int length = 0;
            for (int draw = (int) (random() * 1111); draw >= 0 && length < 3; length++) {
                draw -= new int[] {1000, 100, 10}[length];
                if (draw < 0) {
                    break;
                }
            }
            done[length]++;
            long before = CLOCK.getCurrentThreadCpuTime();
            call.accept(length);
            long spent = CLOCK.getCurrentThreadCpuTime() - before - reading;
            for (int at = 0; at < shares.length; at++) {
                shares[at].add(at == length, spent);
            }
        }
    }

    private static double random() {
        seed = seed * 6364136223846793005L + 1442695040888963407L;
        return (seed >>> 11) / (double) (1L << 53);
    }

    /** The cost of a reading of the clock, in nanoseconds. */
    private static long reading() {
        int readings = 5_000;
        long best = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 20; attempt++) {
            long first = CLOCK.getCurrentThreadCpuTime();
            for (int i = 1; i < readings; i++) {
                CLOCK.getCurrentThreadCpuTime();
            }
            best = Math.min(best, CLOCK.getCurrentThreadCpuTime() - first);
        }
        return best / readings;
    }

    /** Virtual threads have no clock of their own. Both ways run the same loop: its rounds are the time. */
    private static void measureVirtual(double seconds, Share share) throws Exception {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (int i = 0; System.nanoTime() < end; i++) {
            int call = i;
            Runnable task = () -> virtual(call);
            Thread thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
            thread.join();
            boolean way = i % 3 == 0;
            share.add(way, (way ? 90_000 : 60_000) + (i & 7));
        }
    }

    public static void main(String[] args) throws Exception {
        String shape = args[0];
        double seconds = Double.parseDouble(args[1]);
        Share[] shares = {new Share(shape)};
        switch (shape) {
            case "calls" -> measure(seconds, Ways::calls, shares, new int[] {3});
            case "loops" -> measure(seconds, Ways::loops, shares, new int[] {2});
            case "nested" -> {
                shares = new Share[] {new Share("outer"), new Share("middle"), new Share("inner")};
                measure(seconds, Ways::outer, shares, new int[] {2, 3, 5});
            }
            case "recursion" -> measure(seconds, i -> sum += recursion(i, 6), shares, new int[] {4});
            case "plain", "loud" -> {
                shares = new Share[3];
                for (int at = 0; at < shares.length; at++) {
                    shares[at] = new Share(shape + "-5" + new String[] {"us", "0us", "00us"}[at]);
                }
                measureLengths(seconds, shape.equals("loud") ? Ways::loud : Ways::plain, shares);
            }
            case "exceptions" -> measure(seconds, Ways::exceptions, shares, new int[] {3});
            default -> measureVirtual(seconds, shares[0]);
        }
        for (Share share : shares) {
            share.print();
        }
        System.out.println("sum " + sum);
    }
}
