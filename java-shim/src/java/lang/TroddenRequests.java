package java.lang;

import java.lang.TroddenThreads.Table;

import jdk.internal.vm.annotation.DontInline;

/**
 * Requests: how long each takes, and of a random part which paths they took. A request is the outermost
 * activation of a method that handles some, or what is between two calls of {@code trodden.Span}.
 *
 * <p>The paths are the difference of the thread's counts between the request's beginning and its end. Nothing
 * is added to the probes that count them.
 */
public final class TroddenRequests {
    private TroddenRequests() {
    }

    /** The requests of a thread. */
    private static final ThreadLocal<Request> CURRENT = new ThreadLocal<>();

    /** A name's number has above these bits how far outside of the handler it is. */
    private static final int ROLE_SHIFT = 29;

    /** The chance of a request to be chosen, in units of 2^-32. Plain: an old value is as good. */
    private static long chance = 1L << 32;

    /** Blocks for virtual threads that are chosen; 0: not reserved yet. Those from {@link #lent} on are not in use. Guarded by itself. */
    private static final long[] BLOCKS = new long[8];
    private static int lent;

    /** The request that a thread is in. */
    private static final class Request {
        /** Activations of methods that handle requests, and spans, that are open. */
        int depth;
        int name;
        long began;
        /** The number of the reading of the thread's counts at the beginning, if the request was chosen; else 0. */
        int reading;
        /** Where it counts then. */
        long block;
        /** Its table; null for a virtual thread, which has {@link #block} for this request only, and shares its table. */
        Table table;
        /** State of a random sequence. */
        long random;
        final Thread owner;
        /** True if the outermost span has ended on another thread. */
        volatile boolean left;

        Request(Thread owner) {
            this.owner = owner;
            random = System.nanoTime() ^ (long) System.identityHashCode(this) << 32 | 1;
        }
    }

    /**
     * An activation of a method that handles requests begins. Returns how many the thread is in; -1 if there
     * is no memory to know that.
     */
    static int begins(int name) {
        try {
            Request request = CURRENT.get();
            if (request == null) {
                request = new Request(Thread.currentThread());
                CURRENT.set(request);
            }
            if (request.left) {
                request.left = false;
                request.depth = 0;
            }
            int depth = request.depth;
            if (depth == 0) {
                start(request, name);
            } else if (name >>> ROLE_SHIFT < request.name >>> ROLE_SHIFT) {
                request.name = name;
            }
            request.depth = depth + 1;
            return depth;
        } catch (OutOfMemoryError | StackOverflowError | UnsatisfiedLinkError e) {
            return -1;
        }
    }

    /** The activation ends that began when there were {@code depth}. */
    static void ends(int depth) {
        if (depth < 0) {
            return;
        }
        try {
            Request request = CURRENT.get();
            // The thread may have lost all its thread locals.
            if (request != null && request.depth > depth) {
                request.depth = depth;
                if (depth == 0) {
                    finish(request);
                }
            }
        } catch (OutOfMemoryError | StackOverflowError | UnsatisfiedLinkError e) {
            // This one is not recorded.
        }
    }

    /** A span that is open, for {@code trodden.Span}. */
    private static final class Open {
        final Request request;
        final int depth;
        int name;
        final long began;

        Open(Request request, int depth, int name, long began) {
            this.request = request;
            this.depth = depth;
            this.name = name;
            this.began = began;
        }
    }

    /** A span begins, whose name has a number. Returns what {@link #end} wants. */
    public static Object begin(int name) {
        int depth = begins(name);
        if (depth < 0) {
            return null;
        }
        Request request = CURRENT.get();
        return new Open(request, depth, name, request.began);
    }

    /** The span gets another name, before it ends. */
    public static void rename(Object span, int name) {
        if (span instanceof Open) {
            Open open = (Open) span;
            open.name = name;
            if (open.depth == 0 && open.request.owner == Thread.currentThread()) {
                open.request.name = name;
            }
        }
    }

    /** It ends. On another thread than it began on it took that long, and its paths are not known. */
    public static void end(Object span) {
        if (!(span instanceof Open)) {
            return;
        }
        Open open = (Open) span;
        if (open.request.owner == Thread.currentThread()) {
            ends(open.depth);
        } else if (open.depth == 0) {
            open.request.left = true;
            try {
                record(open.name, open.began, System.nanoTime(), 0, 0, null, null, true);
            } catch (UnsatisfiedLinkError e) {
                // There is no agent.
            }
        }
    }

    /** The number of a span's name. */
    public static int number(String name) {
        try {
            return name(name);
        } catch (UnsatisfiedLinkError e) {
            return 0;
        }
    }

    private static void start(Request request, int name) {
        Thread thread = Thread.currentThread();
        request.name = name;
        if (request.reading != 0) {
            // A failed end has left it.
            drop(request);
        }
        long random = request.random;
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        request.random = random;
        if (random >>> 32 < chance) {
            choose(request, thread);
        }
        request.began = System.nanoTime();
    }

    @DontInline
    private static void choose(Request request, Thread thread) {
        Table table = null;
        long block;
        if (TroddenThreads.isVirtual(thread)) {
            block = borrow(thread);
        } else {
            table = TroddenThreads.table(thread);
            block = (table.block & TroddenLayout.SHARED_MARK) == 0 ? table.block : 0;
        }
        if (block == 0) {
            return;
        }
        request.block = block;
        request.table = table;
        request.reading = open(block, table == null ? null : table.hash, table == null ? null : table.cuts, chance);
        if (request.reading == 0) {
            giveBack(request);
        }
    }

    private static void finish(Request request) {
        long ended = System.nanoTime();
        int reading = request.reading;
        if (reading == 0) {
            chance = record(request.name, request.began, ended, 0, 0, null, null, false);
            return;
        }
        request.reading = 0;
        Table table = request.table;
        // It may have another block now, if there was no memory for one before.
        long block = table == null ? request.block : table.block;
        try {
            chance = record(request.name, request.began, ended, reading, block, table == null ? null : table.hash,
                    table == null ? null : table.cuts, false);
        } finally {
            giveBack(request);
        }
    }

    /** The request's counts at the beginning are not wanted any more. */
    private static void drop(Request request) {
        close(request.reading);
        request.reading = 0;
        giveBack(request);
    }

    /** A block of its own for a virtual thread; 0 if there is none. */
    private static long borrow(Thread thread) {
        long block;
        synchronized (BLOCKS) {
            if (lent == BLOCKS.length) {
                return 0;
            }
            if (BLOCKS[lent] == 0) {
                BLOCKS[lent] = TroddenThreads.reserve();
            }
            block = BLOCKS[lent];
            if (block == 0) {
                return 0;
            }
            lent++;
        }
        if (TroddenThreads.lend(thread, block)) {
            return block;
        }
        returned(block);
        return 0;
    }

    private static void giveBack(Request request) {
        if (request.table == null) {
            TroddenThreads.takeBack(request.owner);
            returned(request.block);
        }
        request.table = null;
    }

    private static void returned(long block) {
        synchronized (BLOCKS) {
            BLOCKS[--lent] = block;
        }
    }

    /**
     * Reads the calling thread's counts. {@code hash}, {@code cuts}: those of its table, or null. Returns the
     * reading's number; 0 if paths are not counted exactly now, or too many requests are being read.
     */
    private static native int open(long block, long[] hash, long[] cuts, long chance);

    /** A reading is not wanted any more. */
    private static native void close(int reading);

    /** The number of a name. */
    private static native int name(String name);

    /**
     * A request has ended, whose counts were read at its beginning, or not ({@code reading} is 0). Returns the chance
     * of the next ones.
     */
    private static native long record(int name, long began, long ended, int reading, long block, long[] hash,
            long[] cuts, boolean elsewhere);
}
