/**
 * What code with a probed copy of each body asks at entry: is a sample wanted? A clock arms 64 of them every 10 ms. Not a
 * profiler: it counts blocks for real, so that the cost is there, and reports nothing but how many.
 */
public final class Armed {
    /** Activations that are still to be taken in the probed copy. Races lose a few, as in a real sampler. */
    public static int left;

    private static final long[] TABLE = new long[4096];
    private static long entered;
    private static long blocks;

    private Armed() {
    }

    static void start() {
        Thread clock = new Thread(() -> {
            try {
                while (true) {
                    Thread.sleep(10);
                    left = 64;
                }
            } catch (InterruptedException e) {
                // The JVM ends.
            }
        }, "armed");
        clock.setDaemon(true);
        clock.start();
    }

    /** An activation begins in the probed copy. */
    public static void enter() {
        int now = left;
        if (now > 0) {
            left = now - 1;
        }
        entered++;
    }

    /** A block of the probed copy runs. */
    public static void block(int id) {
        blocks++;
        TABLE[id & 0xfff] += 1;
    }

    static String summary() {
        return entered + " activations, " + blocks + " blocks";
    }
}
