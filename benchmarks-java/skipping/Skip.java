import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a thread of the prototypes has: a counter that instrumented code counts down, and the sampler of
 * <em>Online Subpath Profiling</em> (CC 2002), figure 3, behind it. Not a profiler: it samples for real, so
 * that its cost is there, and reports nothing but how much it sampled.
 */
public final class Skip {
    /** Mean distance between samples, in what is counted down; the default is that of Trodden's probes. */
    private static final int MEAN = Integer.getInteger("skip.mean", 4096);

    private static final AtomicLong SAMPLES = new AtomicLong();
    private static final AtomicLong BLOCKS = new AtomicLong();
    private static final AtomicLong DISTINCT = new AtomicLong();

    /**
     * As in Trodden's shim: a constant for the thread that does the work, so that finding it costs a
     * comparison.
     */
    private static final Thread FIRST = Thread.currentThread();
    private static final Skip OF_FIRST = new Skip();
    private static final ThreadLocal<Skip> OF_OTHERS = ThreadLocal.withInitial(Skip::new);

    /**
     * What may still be passed over: more than 0 while no sample is being taken. Instrumented code decrements
     * it.
     */
    public int left;

    private final SplittableRandom random = new SplittableRandom(1);
    private final int[] taken = new int[1024];
    private int at;
    private int length;

    /** Keys and counts of an open-addressed table; full ones are emptied, as nobody asks for results. */
    private final long[] table = new long[2 << 12];
    private int used;

    private Skip() {
        left = gap();
    }

    /** The calling thread's. */
    public static Skip mine() {
        return Thread.currentThread() == FIRST ? OF_FIRST : OF_OTHERS.get();
    }

    /** A block is entered, and the counter says that it is not to be passed over. */
    public void block(int id) {
        if (left > 0) {
            // The rest of a slow copy after the sample's end.
            return;
        }
        if (length == 0) {
            // 2^n with probability 2^-n, up to 1024.
            length = 2 << Math.min(Long.numberOfTrailingZeros(random.nextLong()), 9);
        }
        left = 0;
        taken[at++] = id;
        if (at == length) {
            count();
            at = 0;
            length = 0;
            left = gap();
        }
    }

    private int gap() {
        return (int) Math.min(1 + Math.log(1 - random.nextDouble()) / Math.log1p(-1.0 / MEAN), Integer.MAX_VALUE - 1);
    }

    /** The paper's identity: length and xor. */
    private void count() {
        long key = length;
        for (int i = 0; i < length; i++) {
            key ^= (taken[i] + 1) * 0x9e37_79b9_7f4a_7c15L;
        }
        SAMPLES.incrementAndGet();
        BLOCKS.addAndGet(length);
        if (used > table.length / 4) {
            java.util.Arrays.fill(table, 0);
            used = 0;
        }
        int mask = table.length - 2;
        int slot = (int) (key * 0xd6e8_feb8_6659_fd93L >>> 40) & mask;
        while (table[slot] != 0 && table[slot] != key) {
            slot = slot + 2 & mask;
        }
        if (table[slot] == 0) {
            table[slot] = key;
            used++;
            DISTINCT.incrementAndGet();
        }
        table[slot + 1]++;
    }

    /** For the log. */
    static String summary() {
        return SAMPLES + " samples, " + BLOCKS + " blocks, " + DISTINCT + " different";
    }
}
