package java.lang;

import java.lang.ref.WeakReference;
import java.util.Arrays;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What instrumented code calls. The agent defines it in {@code java.base} once the JVM is up, so that every class
 * sees it, classes in named modules too, and the compilers honour {@code ForceInline}.
 *
 * <p>Two independent halves: the <em>yieldpoint</em> ({@link #pathEnd}) and the exact counters ({@link #counters},
 * {@link #count}, {@link #countHashed}). Methods of the first block are called by probes, those of the last by the
 * agent's own thread. Nothing here throws into the program: what cannot be counted for want of memory is dropped and
 * {@linkplain #lost told}.
 */
public final class Trodden {
    private Trodden() {
    }

    // ---- yieldpoint: samples go into a ring -------------------------------------------------------------------

    private static final int RING_MASK = TroddenConfig.ring - 1;

    /** (method << 32 | path) of the last window's path ends. */
    private static final long[] RING = new long[TroddenConfig.ring];

    /** Does a window stand open? Volatile: a plain field would be read once before a long loop nest, not in it. */
    private static volatile boolean open;

    /** Next free entry; how many entries a window has. Plain: threads that race lose or repeat single samples. */
    private static int next;
    private static int limit;

    /** A path has ended. */
    @ForceInline
    public static void pathEnd(int method, int path) {
        if (open) {
            // No call on this way: one in a hot loop costs spills even if it is never taken.
            int at = next;
            RING[at & RING_MASK] = ((long) method << 32) | (path & 0xffff_ffffL);
            next = ++at;
            if (at >= limit) {
                open = false;
            }
        }
    }

    // ---- counters: exact, one array per thread and class --------------------------------------------------------

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final long SLOTS = TroddenConfig.slots;
    private static final long BASE = TroddenConfig.longArrayBase;

    /** The common supertype of virtual threads, or null on a JDK without them. */
    private static final Class<?> VIRTUAL = virtualThreadClass();

    private static final ThreadLocal<Table> TABLE = new ThreadLocal<>();

    /** All tables of platform threads not yet found dead. Guarded by {@link #LOCK}. */
    private static Table tables;

    /** What dead threads have counted. Guarded by {@link #LOCK}. */
    private static final Table RETIRED = new Table(null);

    /** What virtual threads count, all in the same arrays: they are too many to have some each. */
    private static final Table SHARED = new Table(null);

    /** Guards the list of tables and the growth of shared ones; never held while anything but this class runs. */
    private static final Object LOCK = new Object();

    /** Path ends that found no memory to be counted in. */
    private static long lost;

    /**
     * One thread's counters. Only the thread writes; others may read at any time.
     */
    private static final class Table {
        final WeakReference<Thread> owner;
        Table next;

        /** By class index. Arrays of one thread have an even length, those of {@link #SHARED} an odd one. */
        long[][] classes = new long[16][];

        /** Open addressing, pairs of (key, count); a key of 0 is free. */
        long[] hash = new long[0];
        int hashed;

        Table(Thread owner) {
            this.owner = owner == null ? null : new WeakReference<>(owner);
        }
    }

    /** The array in which the calling thread counts for a class; null if there is no memory for it. */
    @ForceInline
    public static long[] counters(int index) {
        Thread thread = Thread.currentThread();
        Table table = VIRTUAL != null && VIRTUAL.isInstance(thread) ? SHARED : TABLE.get();
        if (table != null) {
            long[][] classes = table.classes;
            if (index < classes.length) {
                long[] counters = classes[index];
                if (counters != null) {
                    return counters;
                }
            }
        }
        return allocate(table, index);
    }

    /** One more. The length of an array tells whether it is shared: it is at hand, and the compiler knows it constant. */
    @ForceInline
    public static void count(long[] counters, int slot) {
        if (counters != null) {
            if ((counters.length & 1) == 0) {
                counters[slot]++;
            } else {
                countShared(counters, slot);
            }
        }
    }

    /** One more, in a method that ends one path per activation. */
    @ForceInline
    public static void count(int index, int slot) {
        count(counters(index), slot);
    }

    /** One more, for methods with too many paths for an array. */
    @DontInline
    public static void countHashed(int method, int path) {
        try {
            Thread thread = Thread.currentThread();
            long key = ((long) (method + 1) << 32) | (path & 0xffff_ffffL);
            if (VIRTUAL != null && VIRTUAL.isInstance(thread)) {
                synchronized (LOCK) {
                    add(SHARED, key, 1);
                }
            } else {
                Table table = TABLE.get();
                add(table != null ? table : table(thread), key, 1);
            }
        } catch (OutOfMemoryError e) {
            lost++;
        }
    }

    @DontInline
    private static void countShared(long[] counters, int slot) {
        if (slot < 0 || slot >= counters.length) {
            throw new ArrayIndexOutOfBoundsException(slot);
        }
        UNSAFE.getAndAddLong(counters, BASE + ((long) slot << 3), 1L);
    }

    @DontInline
    private static long[] allocate(Table table, int index) {
        try {
            if (table == SHARED) {
                synchronized (LOCK) {
                    return array(SHARED, index, 1);
                }
            }
            return array(table != null ? table : table(Thread.currentThread()), index, 0);
        } catch (OutOfMemoryError e) {
            lost++;
            return null;
        }
    }

    /** The array for a class in a table, made if need be, with a length of the given parity. */
    private static long[] array(Table table, int index, int parity) {
        long[][] classes = table.classes;
        if (index >= classes.length) {
            long[][] grown = Arrays.copyOf(classes, Math.max(index + 1, classes.length + (classes.length >> 1)));
            UNSAFE.storeFence();
            table.classes = classes = grown;
        }
        long[] counters = classes[index];
        if (counters == null) {
            int slots = UNSAFE.getInt(SLOTS + ((long) index << 2));
            counters = new long[(slots & 1) == parity ? slots : slots + 1];
            UNSAFE.storeFence();
            classes[index] = counters;
        }
        return counters;
    }

    /** The calling platform thread's table, which it has not at hand: new, or forgotten with all its thread locals. */
    private static Table table(Thread thread) {
        Table found = null;
        synchronized (LOCK) {
            retireDead();
            for (Table t = tables; t != null && found == null; t = t.next) {
                if (t.owner.refersTo(thread)) {
                    found = t;
                }
            }
            if (found == null) {
                found = new Table(thread);
                found.next = tables;
                tables = found;
            }
        }
        TABLE.set(found);
        return found;
    }

    /** Moves the counts of threads that have ended, and so count no more, to {@link #RETIRED}. */
    private static void retireDead() {
        Table previous = null;
        for (Table t = tables; t != null; t = t.next) {
            Thread thread = t.owner.get();
            if (thread != null && thread.isAlive()) {
                previous = t;
                continue;
            }
            // Room for everything first, so that running out of memory cannot leave a table half moved.
            reserve(RETIRED, t);
            for (int c = 0; c < t.classes.length; c++) {
                if (t.classes[c] != null) {
                    addAll(RETIRED.classes[c], t.classes[c]);
                }
            }
            for (int i = 0; i < t.hash.length; i += 2) {
                if (t.hash[i] != 0) {
                    add(RETIRED, t.hash[i], t.hash[i + 1]);
                }
            }
            if (previous == null) {
                tables = t.next;
            } else {
                previous.next = t.next;
            }
        }
    }

    private static void reserve(Table into, Table from) {
        for (int c = 0; c < from.classes.length; c++) {
            if (from.classes[c] != null) {
                array(into, c, 0);
            }
        }
        while ((into.hashed + from.hashed + 1) * 4L > into.hash.length) {
            growHash(into);
        }
    }

    private static void addAll(long[] into, long[] from) {
        int length = Math.min(into.length, from.length);
        for (int i = 0; i < length; i++) {
            into[i] += from[i];
        }
    }

    /** Adds to the count of a key; fills at most half of the table. */
    private static void add(Table table, long key, long count) {
        if ((table.hashed + 1) * 4L > table.hash.length) {
            growHash(table);
        }
        long[] hash = table.hash;
        int at = find(hash, key);
        if (hash[at] == key) {
            hash[at + 1] += count;
        } else {
            hash[at + 1] = count;
            UNSAFE.storeFence();
            hash[at] = key;
            table.hashed++;
        }
    }

    private static void growHash(Table table) {
        long[] old = table.hash;
        long[] grown = new long[Math.max(128, old.length * 2)];
        for (int i = 0; i < old.length; i += 2) {
            if (old[i] != 0) {
                int at = find(grown, old[i]);
                grown[at] = old[i];
                grown[at + 1] = old[i + 1];
            }
        }
        UNSAFE.storeFence();
        table.hash = grown;
    }

    /** Index of a key's pair, or of the free pair where it belongs. */
    private static int find(long[] hash, long key) {
        int mask = hash.length - 1;
        int at = (int) ((key * 0x9e37_79b9_7f4a_7c15L) >>> 32) << 1 & mask;
        while (hash[at] != 0 && hash[at] != key) {
            at = at + 2 & mask;
        }
        return at;
    }

    private static Class<?> virtualThreadClass() {
        try {
            return Class.forName("java.lang.BaseVirtualThread", false, null);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    // ---- called by the agent ------------------------------------------------------------------------------------

    /** Opens a window of that many path ends, at most the ring's length. */
    private static void arm(int entries) {
        open = false;
        Arrays.fill(RING, 0, entries, -1L);
        next = 0;
        limit = entries;
        open = true;
    }

    /** Closes the window. Returns how many path ends it has seen. */
    private static int disarm() {
        open = false;
        return Math.min(next, limit);
    }

    private static long[] ring() {
        return RING;
    }

    /** All counts so far, by class index and slot; null where nothing was counted. */
    private static long[][] snapshot() {
        synchronized (LOCK) {
            retireDead();
            Table sum = new Table(null);
            add(sum, RETIRED);
            add(sum, SHARED);
            for (Table t = tables; t != null; t = t.next) {
                add(sum, t);
            }
            return sum.classes;
        }
    }

    private static void add(Table sum, Table table) {
        long[][] classes = table.classes;
        for (int c = 0; c < classes.length; c++) {
            if (classes[c] != null) {
                addAll(array(sum, c, 0), classes[c]);
            }
        }
    }

    /** All counts by hash so far: pairs of ((method + 1) << 32 | path, count). */
    private static long[] snapshotHashed() {
        synchronized (LOCK) {
            retireDead();
            Table sum = new Table(null);
            addHashed(sum, RETIRED);
            addHashed(sum, SHARED);
            for (Table t = tables; t != null; t = t.next) {
                addHashed(sum, t);
            }
            long[] pairs = new long[sum.hashed * 2];
            int n = 0;
            for (int i = 0; i < sum.hash.length; i += 2) {
                if (sum.hash[i] != 0) {
                    pairs[n++] = sum.hash[i];
                    pairs[n++] = sum.hash[i + 1];
                }
            }
            return pairs;
        }
    }

    private static void addHashed(Table sum, Table table) {
        long[] hash = table.hash;
        for (int i = 0; i < hash.length; i += 2) {
            if (hash[i] != 0) {
                add(sum, hash[i], hash[i + 1]);
            }
        }
    }

    private static long lost() {
        return lost;
    }
}
