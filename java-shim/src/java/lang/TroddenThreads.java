package java.lang;

import java.lang.ref.WeakReference;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Which memory belongs to which thread. Each platform thread has a <em>block</em> of native memory, reserved
 * by the agent, and a {@link Table}. Virtual threads, which may be millions, share a few blocks and one
 * table.
 *
 * <p>A block survives its thread: the next new thread takes it over unchanged, since only sums over all
 * blocks are ever looked at. So there are as many as there were threads at one time.
 */
final class TroddenThreads {
    private TroddenThreads() {
    }

    static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final long THREAD_ID = UNSAFE.objectFieldOffset(Thread.class, "tid");

    /*
     * The blocks of threads that have their own, by the lower bits of their ids. In arrays, which only this class
     * writes: compiled code reads them once for all probes between two calls, though probes write to native memory.
     */
    private static final int AT_HAND = 1 << 12;
    private static final int HAND_MASK = AT_HAND - 1;
    private static final long[] OWNERS = new long[AT_HAND];
    private static final long[] BLOCKS = new long[AT_HAND];

    private static final long INDEX = TroddenConfig.index;
    private static final long INDEX_MASK = TroddenConfig.indexEntries - 1;
    private static final long SHARED_BLOCKS = TroddenConfig.sharedBlocks;
    private static final long SHARED_MASK = TroddenConfig.sharedCount - 1;
    private static final long SHARED_BLOCK = UNSAFE.getLong(SHARED_BLOCKS) | TroddenLayout.SHARED_MARK;
    private static final long SINK_BLOCK = TroddenConfig.sinkBlock;

    /** The common supertype of virtual threads, or null on a JDK without them. */
    private static final Class<?> VIRTUAL = virtualThreadClass();

    private static final ThreadLocal<Table> TABLE = new ThreadLocal<>();

    /** Guards the list of tables and what threads share; never held while anything but the shim runs. */
    static final Object LOCK = new Object();

    /** All tables of platform threads, dead ones too. Guarded by {@link #LOCK}. */
    private static Table tables;

    /** The table that virtual threads share. Guarded by {@link #LOCK}. */
    private static final Table SHARED = new Table(SHARED_BLOCK);

    /**
     * The thread that started the JVM, in most programs the one that does the work. A constant: where only
     * this thread runs, compiled code has its block's address as a constant too.
     */
    static final Thread FIRST = Thread.currentThread();
    static final long FIRST_BLOCK = firstBlock();

    /** The same thread, if no other one counts in its block. */
    static final Thread ALONE = (FIRST_BLOCK & TroddenLayout.SHARED_MARK) == 0 ? FIRST : null;

    /** The data of a thread in addition to its block. Only the thread writes to it; others may read at any time. */
    static final class Table {
        long block;
        Table next;
        WeakReference<Thread> owner;
        long thread;

        /** True if the agent knows that this thread writes to this block. */
        boolean reported;

        /** How often the thread asked for its block before that. */
        private int asked;

        /** Counts by (method, path): open addressing, pairs of (key, count); a key of 0 is free. */
        long[] hash = new long[0];
        int hashed;

        /**
         * Counts of paths that an exception cut off, by (method, register, block): open addressing, four
         * longs each. The fourth is {@link TroddenFeedback}'s.
         */
        long[] cuts = new long[0];
        int cutHere;

        /** The block's counters, at an address, and {@link #hash} when {@link TroddenFeedback} last looked. */
        long seen;
        int seenLength;
        long[] seenHash = new long[0];

        Table(long block) {
            this.block = block;
        }

        boolean isFree() {
            Thread thread = owner.get();
            return thread == null || !thread.isAlive();
        }

        /** True if it is time to report again: after twice as many questions as the last time. */
        boolean isDue() {
            return !reported && (++asked & (asked - 1)) == 0;
        }
    }

    /**
     * Address of a thread's block, with {@link TroddenLayout#SHARED_MARK} if it is not its own. For the
     * calling thread, if it is not {@link #FIRST}. Not inlined by force: see {@link Trodden}.
     */
    static long block(Thread thread) {
        // An entry with the caller's own id was written by the caller, and stays as long as it lives.
        long id = UNSAFE.getLong(thread, THREAD_ID);
        int at = (int) id & HAND_MASK;
        return OWNERS[at] == id ? BLOCKS[at] : blockInIndex(thread, id);
    }

    /**
     * One more in that slot of the block of the calling thread, if it is not {@link #FIRST}. Not by {@link #block}, and
     * what is shared is elsewhere: compiled code is a load and an addition then if it knows the block already.
     */
    static void count(Thread thread, int slot) {
        long id = UNSAFE.getLong(thread, THREAD_ID);
        int at = (int) id & HAND_MASK;
        if (OWNERS[at] == id) {
            long counter = BLOCKS[at] + ((long) slot << 3);
            UNSAFE.putLong(counter, UNSAFE.getLong(counter) + 1);
        } else {
            Trodden.count(blockInIndex(thread, id), slot);
        }
    }

    private static long blockInIndex(Thread thread, long id) {
        long entry = INDEX + ((id & INDEX_MASK) << 4);
        if (UNSAFE.getLong(entry) == id) {
            return UNSAFE.getLong(entry + 8);
        }
        return isVirtual(thread) ? sharedBlock(id) : countingBlock(thread);
    }

    /** One of several, so that virtual threads that run at the same time seldom count in the same memory. */
    @ForceInline
    private static long sharedBlock(long id) {
        return UNSAFE.getLong(SHARED_BLOCKS + ((id & SHARED_MASK) << 3)) | TroddenLayout.SHARED_MARK;
    }

    /**
     * Address of the calling thread's very own block, a virtual thread's too; the sink if there is no memory
     * for one.
     */
    @ForceInline
    static long ownBlock() {
        Thread thread = Thread.currentThread();
        if (thread == FIRST) {
            return FIRST_BLOCK;
        }
        long id = UNSAFE.getLong(thread, THREAD_ID);
        int at = (int) id & HAND_MASK;
        return OWNERS[at] == id ? BLOCKS[at] : ownBlockInIndex(thread, id);
    }

    private static long ownBlockInIndex(Thread thread, long id) {
        long entry = INDEX + ((id & INDEX_MASK) << 4);
        long owner = UNSAFE.getLong(entry);
        if (owner == id) {
            long block = UNSAFE.getLong(entry + 8);
            if ((block & TroddenLayout.SHARED_MARK) == 0) {
                return block;
            }
        } else if (owner == ~id) {
            return UNSAFE.getLong(entry + 8);
        }
        return ownBlock(thread);
    }

    @ForceInline
    static boolean isVirtual(Thread thread) {
        return VIRTUAL != null && VIRTUAL.isInstance(thread);
    }

    /**
     * The calling thread's table; {@link #shared()}, to be used under {@link #LOCK}, if it has none of its
     * own.
     */
    static Table table(Thread thread) {
        if (isVirtual(thread)) {
            return SHARED;
        }
        Table table = TABLE.get();
        return table != null ? table : ownTable(thread);
    }

    static Table shared() {
        return SHARED;
    }

    /** The first of all platform threads' tables. To be called and walked under {@link #LOCK}. */
    static Table tables() {
        return tables;
    }

    @DontInline
    private static long countingBlock(Thread thread) {
        try {
            Table table = table(thread);
            if (table.isDue()) {
                report(table, thread);
            }
            return table.block;
        } catch (OutOfMemoryError e) {
            return SHARED_BLOCK;
        }
    }

    @DontInline
    private static long ownBlock(Thread thread) {
        try {
            Table table = TABLE.get();
            if (table == null) {
                table = isVirtual(thread) ? virtualTable(thread) : ownTable(thread);
            }
            if (!table.reported) {
                report(table, thread);
            }
            return table.reported && (table.block & TroddenLayout.SHARED_MARK) == 0 ? table.block : SINK_BLOCK;
        } catch (OutOfMemoryError | UnsatisfiedLinkError e) {
            return SINK_BLOCK;
        }
    }

    /**
     * The table of a virtual thread whose events are recorded. Only the thread knows it; the agent, to which
     * the JVM reports when virtual threads end, takes the block back and clears the index.
     */
    private static Table virtualTable(Thread thread) {
        long id = UNSAFE.getLong(thread, THREAD_ID);
        long block = reserveSmall();
        Table table = new Table(block != 0 ? block : SHARED_BLOCK);
        table.thread = id;
        table.reported = true;
        TABLE.set(table);
        if (block != 0) {
            open(block, id, thread.getName(), true);
            synchronized (LOCK) {
                // Not by the id itself: a search for counters must not find a block that has none.
                remember(id, ~id, block);
            }
        }
        return table;
    }

    /**
     * The table of a platform thread that has it not at hand: new, or forgotten with all its thread locals.
     */
    private static Table ownTable(Thread thread) {
        Table found = null;
        boolean begins = false;
        synchronized (LOCK) {
            Table free = null;
            for (Table t = tables; t != null && found == null; t = t.next) {
                if (t.owner.refersTo(thread)) {
                    found = t;
                } else if (free == null && t.isFree()) {
                    free = t;
                }
            }
            begins = found == null;
            if (begins) {
                WeakReference<Thread> owner = new WeakReference<>(thread);
                found = free != null ? free : new Table(SHARED_BLOCK);
                if (free != null) {
                    forget(free.thread);
                }
                found.owner = owner;
                found.thread = UNSAFE.getLong(thread, THREAD_ID);
                found.reported = false;
                if (free == null) {
                    found.next = tables;
                    tables = found;
                }
            }
        }
        TABLE.set(found);
        if (begins) {
            report(found, thread);
        }
        return found;
    }

    /**
     * Reports to the agent that a thread begins to write to its block, and reserves it if the thread has none
     * yet. The JVM does not list an agent, and so does not find its methods, before it has attached it
     * altogether: until then the thread counts in the shared block, and its events are not recorded; its
     * questions for a block try again, so the index does not have it yet.
     */
    private static void report(Table table, Thread thread) {
        long block = table.block;
        boolean reported = false;
        try {
            if ((block & TroddenLayout.SHARED_MARK) != 0) {
                long reserved = reserve();
                block = reserved != 0 ? reserved : block;
            }
            if ((block & TroddenLayout.SHARED_MARK) == 0) {
                open(block, table.thread, thread.getName(), false);
            }
            reported = true;
        } catch (UnsatisfiedLinkError e) {
            // The table stays unchanged.
        }
        synchronized (LOCK) {
            forget(table.thread);
            if (reported) {
                table.block = block;
                table.reported = true;
                remember(table.thread, table.thread, block);
            }
        }
    }

    /** False if another thread has the place. */
    private static boolean remember(long id, long owner, long block) {
        long entry = INDEX + ((id & INDEX_MASK) << 4);
        if (UNSAFE.getLong(entry) != 0) {
            return false;
        }
        UNSAFE.putLong(entry + 8, block);
        UNSAFE.putLong(entry, owner);
        int at = (int) id & HAND_MASK;
        if (owner == id && OWNERS[at] == 0 && (block & TroddenLayout.SHARED_MARK) == 0) {
            BLOCKS[at] = block;
            OWNERS[at] = id;
        }
        return true;
    }

    private static void forget(long id) {
        long entry = INDEX + ((id & INDEX_MASK) << 4);
        if (UNSAFE.getLong(entry) == id) {
            UNSAFE.putLong(entry, 0);
        }
        int at = (int) id & HAND_MASK;
        if (OWNERS[at] == id) {
            OWNERS[at] = 0;
        }
    }

    /**
     * Gives a virtual thread, the calling one, a block of its own to count in, for activations that begin from now
     * on. Returns false if another thread has its place in the index.
     */
    static boolean lend(Thread thread, long block) {
        long id = UNSAFE.getLong(thread, THREAD_ID);
        synchronized (LOCK) {
            return remember(id, id, block);
        }
    }

    /** Activations of the calling thread that begin from now on count where it shares memory. */
    static void takeBack(Thread thread) {
        synchronized (LOCK) {
            forget(UNSAFE.getLong(thread, THREAD_ID));
        }
    }

    private static long firstBlock() {
        Table table = new Table(TroddenConfig.firstBlock != 0 ? TroddenConfig.firstBlock : SHARED_BLOCK);
        table.owner = new WeakReference<>(FIRST);
        table.thread = UNSAFE.getLong(FIRST, THREAD_ID);
        table.reported = true;
        tables = table;
        TABLE.set(table);
        return table.block;
    }

    private static Class<?> virtualThreadClass() {
        try {
            return Class.forName("java.lang.BaseVirtualThread", false, null);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    /** Throws a block's events away. */
    static void empty(long block) {
        UNSAFE.putLong(block + TroddenLayout.CURSOR, UNSAFE.getLong(block + TroddenLayout.BUFFER));
    }

    /** A new block, zeroed; 0 if there is no memory. */
    static native long reserve();

    /** A new block for events only; 0 if there is no memory. */
    private static native long reserveSmall();

    /** A thread begins to write events to a block. */
    private static native void open(long block, long thread, String name, boolean virtual);

    /**
     * Puts what is on the calling thread's stack, below an activation that begins, into the stream of its
     * block. False: the thread is left out.
     */
    static native boolean join(long block, int upper);

    /** Takes in the events of the calling thread's block and empties it. */
    static native void drain(long block);
}
