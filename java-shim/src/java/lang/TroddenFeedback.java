package java.lang;

import java.lang.TroddenThreads.Table;

import jdk.internal.misc.Unsafe;
import jdk.internal.util.ArraysSupport;

/**
 * Which paths a thread has counted since it last asked: for fuzzers, which ask after each input ({@code
 * trodden.PathFeedback}). Nothing is added to what probes do: counts are compared with those of the last
 * time.
 */
public final class TroddenFeedback {
    private TroddenFeedback() {
    }

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();

    /** Slots of a block before its counters. */
    private static final int HEADER = TroddenLayout.HEADER;

    /**
     * Sets the bits of the paths that the calling thread has counted since it last asked; where they stand
     * is the same for the whole life of the JVM. Two paths may have the same bit.
     *
     * @param bits a power of two of them
     * @return false if this thread's paths are not counted exactly, or there is no memory
     */
    public static boolean paths(long[] bits) {
        try {
            Table table = TroddenThreads.table(Thread.currentThread());
            int end = slots();
            if (end < 0 || (table.block & TroddenLayout.SHARED_MARK) != 0) {
                return false;
            }
            int mask = (bits.length << 6) - 1;
            counted(table, end, bits, mask);
            hashed(table, bits, mask);
            cut(table, bits, mask);
            return true;
        } catch (OutOfMemoryError | UnsatisfiedLinkError e) {
            return false;
        }
    }

    private static void counted(Table table, int end, long[] bits, int mask) {
        int length = Math.max(end - HEADER, 0);
        if (table.seenLength < length) {
            grow(table, length);
        }
        long first = table.block + 8L * HEADER;
        long seen = table.seen;
        int at = 0;
        while (at < length) {
            long offset = 8L * at;
            int next = ArraysSupport.vectorizedMismatch(null, first + offset, null, seen + offset, length - at,
                    ArraysSupport.LOG2_ARRAY_LONG_INDEX_SCALE);
            if (next < 0) {
                return;
            }
            at += next;
            UNSAFE.putLong(seen + 8L * at, UNSAFE.getLong(first + 8L * at));
            set(bits, at & mask);
            at++;
        }
    }

    private static void grow(Table table, int length) {
        // Room for classes to come.
        int room = length + length / 2;
        long grown = UNSAFE.allocateMemory(8L * room);
        UNSAFE.setMemory(grown, 8L * room, (byte) 0);
        if (table.seenLength > 0) {
            UNSAFE.copyMemory(table.seen, grown, 8L * table.seenLength);
            UNSAFE.freeMemory(table.seen);
        }
        table.seen = grown;
        table.seenLength = room;
    }

    private static void hashed(Table table, long[] bits, int mask) {
        long[] hash = table.hash;
        long[] seen = table.seenHash;
        if (seen.length != hash.length) {
            // It has grown, and everything stands elsewhere.
            long[] grown = new long[hash.length];
            for (int i = 0; i < seen.length; i += 2) {
                if (seen[i] != 0) {
                    int at = Trodden.find(hash, seen[i]);
                    grown[at] = seen[i];
                    grown[at + 1] = seen[i + 1];
                }
            }
            table.seenHash = seen = grown;
        }
        for (int i = 0; i < hash.length; i += 2) {
            if (hash[i] != 0 && seen[i + 1] != hash[i + 1]) {
                seen[i] = hash[i];
                seen[i + 1] = hash[i + 1];
                set(bits, Trodden.mix(hash[i]) & mask);
            }
        }
    }

    private static void cut(Table table, long[] bits, int mask) {
        long[] cuts = table.cuts;
        for (int i = 0; i < cuts.length; i += Trodden.CUT) {
            if (cuts[i] != 0 && cuts[i + 3] != cuts[i + 2]) {
                cuts[i + 3] = cuts[i + 2];
                set(bits, Trodden.mix(cuts[i] * 31 + cuts[i + 1]) & mask);
            }
        }
    }

    private static void set(long[] bits, int bit) {
        bits[bit >>> 6] |= 1L << bit;
    }

    /** One past the last counter of a block; -1 if paths are not counted exactly now. */
    private static native int slots();
}
