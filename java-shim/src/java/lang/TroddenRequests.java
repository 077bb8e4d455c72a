package java.lang;

import java.lang.TroddenThreads.Table;

import jdk.internal.misc.Unsafe;
import jdk.internal.util.ArraysSupport;
import jdk.internal.vm.annotation.DontInline;

/**
 * Requests: how long each takes, and of a random part which paths they took. A request is the outermost
 * activation of a method that handles some, or what lies between two calls of {@code trodden.Span}.
 *
 * <p>The paths are the difference of the thread's counts between the request's beginning and its end. Nothing
 * is added to the probes that count them.
 */
public final class TroddenRequests {
    private TroddenRequests() {
    }

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();

    /** The requests of a thread. */
    private static final ThreadLocal<Request> CURRENT = new ThreadLocal<>();

    /** In a name's number: a handler inside may give the request another name. */
    private static final int ENTRY_BIT = 1 << 30;

    /** The chance of a request to be chosen, in units of 2^-32. Plain: an old value is as good. */
    private static long chance = 1L << 32;

    /** Memory for readings that is not in use: so many can be in progress at a time. Guarded by itself. */
    private static final Reading[] FREE = new Reading[8];
    private static int free;
    private static int made;

    private static final long[] NONE = {};

    /** The request that a thread is in. */
    private static final class Request {
        /** Activations of methods that handle requests, and spans, that are open. */
        int depth;
        int name;
        long began;
        /** The thread's counts at the beginning, if the request was chosen. */
        Reading reading;
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
            } else if ((name & ENTRY_BIT) == 0 && (request.name & ENTRY_BIT) != 0) {
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
        final int name;
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
                record(open.name, open.began, System.nanoTime(), -1, null, 0, 0, 0, 0, 0, true);
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
        // A reading that a failed end has left.
        if (request.reading != null) {
            give(request.reading);
            request.reading = null;
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
        int end = TroddenFeedback.slots();
        Reading reading = end < 0 ? null : take();
        if (reading == null) {
            return;
        }
        long begin = cpu();
        if (!reading.begin(thread, Math.max(end - TroddenLayout.HEADER, 0))) {
            give(reading);
            return;
        }
        request.reading = reading;
        reading.chance = chance;
        reading.cpu = cpu();
        reading.took = reading.cpu - begin;
    }

    private static void finish(Request request) {
        long ended = System.nanoTime();
        Reading reading = request.reading;
        if (reading == null) {
            chance = record(request.name, request.began, ended, -1, null, 0, 0, 0, 0, 0, false);
            return;
        }
        request.reading = null;
        try {
            long cpu = cpu();
            long used = cpu < 0 || reading.cpu < 0 ? -1 : cpu - reading.cpu;
            boolean read = reading.end(TroddenFeedback.slots());
            long took = reading.took + cpu() - cpu;
            chance = record(request.name, request.began, ended, used, read ? reading.words : null, reading.counted,
                    reading.hashed, reading.cut, reading.chance, took, !read);
        } finally {
            give(reading);
        }
    }

    private static Reading take() {
        synchronized (FREE) {
            if (free > 0) {
                return FREE[--free];
            }
            if (made == FREE.length) {
                return null;
            }
            made++;
        }
        return new Reading();
    }

    private static void give(Reading reading) {
        reading.takeBack();
        synchronized (FREE) {
            FREE[free++] = reading;
        }
    }

    /** A thread's counts at one moment, and what was counted since. */
    private static final class Reading {
        private Thread thread;
        /** The thread's table; null for a virtual thread, whose counts by hash are not its own. */
        private Table table;
        /** A block for virtual threads; 0 before one was wanted. */
        private long own;
        private boolean lent;

        /** The counters of the thread's block, at an address. */
        private long copy;
        private int length;
        private int room;
        private long block;
        private long[] hash;
        private long[] cuts;

        /** CPU time of the thread, or -1. */
        long cpu;
        /** The chance to be chosen that it had, in units of 2^-32. */
        long chance;
        /** Nanoseconds of CPU time that reading took. */
        long took;

        /** The counts since: pairs (slot, count), pairs (key, count), triples (key, block, count). */
        long[] words = new long[64];
        private int at;
        int counted;
        int hashed;
        int cut;

        /** Reads the calling thread's counts. Returns false if it has no counters of its own. */
        boolean begin(Thread thread, int length) {
            this.thread = thread;
            if (TroddenThreads.isVirtual(thread)) {
                if (own == 0) {
                    own = TroddenThreads.reserve();
                }
                if (own == 0 || !TroddenThreads.lend(thread, own)) {
                    return false;
                }
                lent = true;
                table = null;
                block = own;
                hash = cuts = NONE;
            } else {
                table = TroddenThreads.table(thread);
                block = table.block;
                if ((block & TroddenLayout.SHARED_MARK) != 0) {
                    return false;
                }
                hash = table.hash.clone();
                cuts = table.cuts.clone();
            }
            if (length > room) {
                // Room for classes to come.
                int more = length + length / 2;
                long grown = UNSAFE.allocateMemory(8L * more);
                if (copy != 0) {
                    UNSAFE.freeMemory(copy);
                }
                copy = grown;
                room = more;
            }
            this.length = length;
            UNSAFE.copyMemory(block + 8L * TroddenLayout.HEADER, copy, 8L * length);
            return true;
        }

        /** The thread counts where it did before. */
        void takeBack() {
            if (lent) {
                TroddenThreads.takeBack(thread);
                lent = false;
            }
            thread = null;
            table = null;
        }

        /** Finds what was counted since. Returns false if the thread counts elsewhere now. */
        boolean end(int end) {
            at = counted = hashed = cut = 0;
            if (end < 0 || table != null && table.block != block) {
                return false;
            }
            int now = Math.max(end - TroddenLayout.HEADER, 0);
            long first = block + 8L * TroddenLayout.HEADER;
            int both = Math.min(length, now);
            int slot = 0;
            while (slot < both) {
                long offset = 8L * slot;
                int next = ArraysSupport.vectorizedMismatch(null, first + offset, null, copy + offset, both - slot,
                        ArraysSupport.LOG2_ARRAY_LONG_INDEX_SCALE);
                if (next < 0) {
                    break;
                }
                slot += next;
                dense(slot, UNSAFE.getLong(first + 8L * slot) - UNSAFE.getLong(copy + 8L * slot));
                slot++;
            }
            // Slots of classes that came since: nothing was counted there before.
            for (int later = length; later < now; later++) {
                dense(later, UNSAFE.getLong(first + 8L * later));
            }
            if (table != null) {
                hashed();
                cut();
            }
            return true;
        }

        private void dense(int slot, long count) {
            if (count != 0) {
                room(2);
                words[at++] = slot;
                words[at++] = count;
                counted++;
            }
        }

        private void hashed() {
            long[] now = table.hash;
            for (int i = 0; i < now.length; i += 2) {
                if (now[i] == 0) {
                    continue;
                }
                int old = hash.length == 0 ? -1 : Trodden.find(hash, now[i]);
                long count = now[i + 1] - (old < 0 ? 0 : hash[old + 1]);
                if (count != 0) {
                    room(2);
                    words[at++] = now[i];
                    words[at++] = count;
                    hashed++;
                }
            }
        }

        private void cut() {
            long[] now = table.cuts;
            for (int i = 0; i < now.length; i += Trodden.CUT) {
                if (now[i] == 0) {
                    continue;
                }
                int old = cuts.length == 0 ? -1 : Trodden.findCut(cuts, now[i], now[i + 1]);
                long count = now[i + 2] - (old < 0 ? 0 : cuts[old + 2]);
                if (count != 0) {
                    room(3);
                    words[at++] = now[i];
                    words[at++] = now[i + 1];
                    words[at++] = count;
                    cut++;
                }
            }
        }

        private void room(int more) {
            if (at + more > words.length) {
                long[] grown = new long[words.length * 2];
                System.arraycopy(words, 0, grown, 0, at);
                words = grown;
            }
        }
    }

    /** CPU time of the calling thread in nanoseconds, or -1. */
    private static native long cpu();

    /** The number of a name. */
    private static native int name(String name);

    /**
     * A request has ended. {@code words}: its counts, or null if it was not chosen or cannot be read. Returns the
     * chance of the next ones.
     */
    private static native long record(int name, long began, long ended, long cpu, long[] words, int counted, int hashed,
            int cut, long chance, long took, boolean unreadable);
}
