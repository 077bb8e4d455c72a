package trodden;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * Which control-flow paths a piece of work took: feedback for a fuzzer, which keeps an input if it took a
 * path that none before did. Edges alone do not show that a new <em>combination</em> of branches was taken.
 *
 * <pre>{@code
 * PathFeedback paths = new PathFeedback(1 << 16);
 * paths.begin();
 * parse(input);
 * if (paths.end() && paths.hasNew()) keep(input);
 * }</pre>
 *
 * It sees what the thread that calls it has counted, in code that Trodden's agent has put probes into with
 * {@code probe=counters} (or {@code trodden instrument} has). Without these it does nothing, and says so. Not
 * for use by several threads at a time; each may have its own.
 */
public final class PathFeedback {
    private static final int LEAST = 64;
    private static final int MOST = 1 << 26;

    /** {@code boolean paths(long[])}; null before the agent is there. */
    private static MethodHandle handle;
    /** How often it was not there. */
    private static int missing;

    private final long[] last;
    private final long[] all;
    private boolean anew;

    /**
     * With a bitmap of {@code bits} bits. Two paths may have the same bit, which is less likely the more there are; up to the number of the
     * program's paths no two do, but for methods with thousands of paths and for exceptions.
     *
     * @param bits a power of two, from 64 to 67,108,864
     */
    public PathFeedback(int bits) {
        if (bits < LEAST || bits > MOST || Integer.bitCount(bits) != 1) {
            throw new IllegalArgumentException(bits + " bits: it has to be a power of two, from " + LEAST + " to " + MOST);
        }
        last = new long[bits >>> 6];
        all = new long[bits >>> 6];
    }

    /** The work begins: what this thread did before is not part of it. Returns false if paths are not counted. */
    public boolean begin() {
        return read();
    }

    /** The work has ended, with an exception or without. Returns false if paths are not counted. */
    public boolean end() {
        boolean counted = read();
        anew = false;
        if (!counted) {
            return false;
        }
        for (int i = 0; i < last.length; i++) {
            long word = last[i];
            if ((word & ~all[i]) != 0) {
                anew = true;
                all[i] |= word;
            }
        }
        return true;
    }

    /** Did the work take a path that was not taken between any {@link #begin} and {@link #end} before? */
    public boolean hasNew() {
        return anew;
    }

    /** The bitmap of the last work: bit {@code i} is in element {@code i / 64}. A copy. */
    public long[] bitmap() {
        return last.clone();
    }

    /** How many bits are set in it. */
    public int count() {
        return count(last);
    }

    /** How many bits any work has set so far. */
    public int countOfAll() {
        return count(all);
    }

    /** Calls that with the number of each bit that is set in the bitmap of the last work, in order. */
    public void forEach(IntConsumer bits) {
        for (int i = 0; i < last.length; i++) {
            for (long word = last[i]; word != 0; word &= word - 1) {
                bits.accept((i << 6) + Long.numberOfTrailingZeros(word));
            }
        }
    }

    private boolean read() {
        MethodHandle paths = handle;
        if (paths == null) {
            paths = find();
            if (paths == null) {
                // Nothing was ever set.
                return false;
            }
        }
        Arrays.fill(last, 0);
        try {
            return (boolean) paths.invokeExact(last);
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** The agent may come later. To look for it takes microseconds, so it is done after 1, 2, 4, 8, … vain times. */
    private static MethodHandle find() {
        int times = missing++;
        if ((times & times - 1) != 0) {
            return null;
        }
        try {
            Class<?> feedback = Class.forName("java.lang.TroddenFeedback", true, null);
            MethodType type = MethodType.methodType(boolean.class, long[].class);
            return handle = MethodHandles.publicLookup().findStatic(feedback, "paths", type);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    private static int count(long[] bits) {
        int count = 0;
        for (long word : bits) {
            count += Long.bitCount(word);
        }
        return count;
    }
}
