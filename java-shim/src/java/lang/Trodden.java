package java.lang;

import java.lang.TroddenThreads.Table;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The methods that instrumented code calls. The agent defines it in {@code java.base} once the JVM is up, so that every
 * class sees it, classes in named modules too, and the compilers honour {@code ForceInline}.
 *
 * <p>Five independent parts, which probes call: the <em>yieldpoint</em> ({@link #pathEnd}), the exact
 * counters ({@link #counters}, {@link #count}, {@link #countHashed}), counters of structure graphs, which
 * have switches ({@link #structuralPath}, {@link #structuralHashed}), coverage ({@link #covered}), and the
 * stream of events ({@link #events} to {@link #lastPath(long, long, int, int)}). The last methods are called
 * by the agent's own threads. Nothing here throws into the program: what cannot be counted for want of memory
 * is dropped and {@linkplain #lost counted as lost}.
 */
public final class Trodden {
    private Trodden() {
    }

    // ---- tests: whose counts are whose
    // ------------------------------------------------------------------------------------

    /**
     * Ends the counts of a test: those since the last call are its own. Called by {@code trodden.listener.GateListener}, and by the profiler for JMH.
     *
     * @param operations how many operations a benchmark did; 0 for a test
     * @param allocated bytes that the test's thread allocated, or -1
     * @param maxGrowth how much more work it may do than before, such as {@code 0.5%}, or null
     */
    public static native void test(String name, long operations, long allocated, String maxGrowth);

    private static final Unsafe UNSAFE = TroddenThreads.UNSAFE;

    // ---- class loaders

    /** Returns true if a class loader is asked for this class, since a probe names it. Then it answers at once: the program does not ask. */
    @ForceInline
    public static boolean isShim(String name) {
        return "java.lang.Trodden".equals(name);
    }

    // ---- yieldpoint: samples go into a ring
    // -------------------------------------------------------------------

    private static final int RING_MASK = TroddenConfig.ring - 1;

    /** (method << 32 | path) of the last window's path ends. */
    private static final long[] RING = new long[TroddenConfig.ring];

    /**
     * True while a window is open. Volatile: a plain field would be read once before a long loop nest, not in
     * it.
     */
    private static volatile boolean open;

    /*
     * Each path end is a step further on a line of places, in units of 2^-32, that begins at 2^log. Places
     * from 2^log to 2^(log + 1) have an entry each, those from there to 2^(log + 2) one for two, then one for
     * four and so on: these are the strata, with 2^log entries each. What comes later to an entry overwrites
     * it.
     */

    /**
     * Place of the next path end; where the window ends. Plain: threads that race lose or repeat single
     * samples.
     */
    private static long next;
    private static long limit;

    /** 32 + number of the stratum that {@link #next} is in, or the one before. */
    private static int shift;

    /** Set before a profile starts. */
    private static long step;
    private static int log;

    /** A path has ended. */
    @ForceInline
    public static void pathEnd(int method, int path) {
        if (open) {
            // No call on this way: one in a hot loop costs spills even if it is never taken, and the
            // interpreter and the first compiler would make what they run rare in windows.
            long place = next;
            int s = shift;
            int entry = (int) (place >>> s);
            if (entry >>> log > 1) {
                shift = ++s;
                entry >>>= 1;
            }
            RING[(s - 33 << log) + entry & RING_MASK] = ((long) method << 32) | (path & 0xffff_ffffL);
            next = place += step;
            if (place >= limit) {
                open = false;
            }
        }
    }

    // ---- counters: exact, in the calling thread's block
    // ---------------------------------------------------------

    /*
     * There is one of these calls at every path end, and in a program's first seconds compilers take more time for
     * them than they take themselves. So what counts has more than 35 bytes, and is not inlined by force: C1 calls it,
     * C2 inlines it where it runs often. What the first thread does is one step.
     */

    /** Path ends that found no memory to be counted in. */
    private static long lost;

    /**
     * Where the calling thread has its counters from slot {@code offset} on: an address, odd if other threads
     * count there as well.
     */
    @ForceInline
    public static long counters(int offset) {
        Thread thread = Thread.currentThread();
        long block = thread == TroddenThreads.FIRST ? TroddenThreads.FIRST_BLOCK : TroddenThreads.block(thread);
        return block + ((long) offset << 3);
    }

    /**
     * One more. Slots are not checked: they come from path registers, whose range is known when they are put
     * in.
     */
    public static void count(long counters, int slot) {
        long at = counters + ((long) slot << 3);
        if ((at & TroddenLayout.SHARED_MARK) == 0) {
            UNSAFE.putLong(at, UNSAFE.getLong(at) + 1);
        } else {
            UNSAFE.getAndAddLong(null, at - TroddenLayout.SHARED_MARK, 1L);
        }
    }

    /** One more, in a method that ends one path per activation. */
    public static void count(int offset, int slot) {
        Thread thread = Thread.currentThread();
        if (thread == TroddenThreads.ALONE) {
            long at = TroddenThreads.FIRST_BLOCK + ((long) (offset + slot) << 3);
            UNSAFE.putLong(at, UNSAFE.getLong(at) + 1);
        } else {
            TroddenThreads.count(thread, offset + slot);
        }
    }

    /** One more, for methods with too many paths for slots of their own. */
    @DontInline
    public static void countHashed(int method, int path) {
        try {
            long key = ((long) (method + 1) << 32) | (path & 0xffff_ffffL);
            Table table = TroddenThreads.table(Thread.currentThread());
            if (table == TroddenThreads.shared()) {
                synchronized (TroddenThreads.LOCK) {
                    add(table, key, 1);
                }
            } else {
                add(table, key, 1);
            }
        } catch (OutOfMemoryError e) {
            lost++;
        }
    }

    /**
     * An exception has cut off a path in a block, or ({@code block} is negative) came after the path was
     * counted. Called in handlers, with little stack left if that is what the exception is about: what finds
     * none is lost.
     */
    @DontInline
    public static void cut(int method, int register, int block) {
        if (block < 0) {
            return;
        }
        try {
            long key = ((long) (method + 1) << 32) | (register & 0xffff_ffffL);
            Table table = TroddenThreads.table(Thread.currentThread());
            if (table == TroddenThreads.shared()) {
                synchronized (TroddenThreads.LOCK) {
                    addCut(table, key, block, 1);
                }
            } else {
                addCut(table, key, block, 1);
            }
        } catch (OutOfMemoryError | StackOverflowError e) {
            lost++;
        }
    }

    /** Entries of {@link Table#cuts}: key, block, count, and the count when {@link TroddenFeedback} last looked. */
    static final int CUT = 4;

    /** Adds to the count of a cut path; fills at most half of the table. */
    private static void addCut(Table table, long key, long block, long count) {
        if ((table.cutHere + 1) * 2L * CUT > table.cuts.length) {
            long[] old = table.cuts;
            long[] grown = new long[Math.max(32 * CUT, old.length * 2)];
            for (int i = 0; i < old.length; i += CUT) {
                if (old[i] != 0) {
                    System.arraycopy(old, i, grown, findCut(grown, old[i], old[i + 1]), CUT);
                }
            }
            UNSAFE.storeFence();
            table.cuts = grown;
        }
        long[] cuts = table.cuts;
        int at = findCut(cuts, key, block);
        if (cuts[at] == key) {
            cuts[at + 2] += count;
        } else {
            cuts[at + 1] = block;
            cuts[at + 2] = count;
            UNSAFE.storeFence();
            cuts[at] = key;
            table.cutHere++;
        }
    }

    /** Index of the entry of a cut path, or of the free one where it belongs. */
    private static int findCut(long[] cuts, long key, long block) {
        int mask = cuts.length - 1;
        int at = mix(key * 31 + block) * CUT & mask;
        while (cuts[at] != 0 && (cuts[at] != key || cuts[at + 1] != block)) {
            at = at + CUT & mask;
        }
        return at;
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

    /** Bits of a key, well mixed. */
    static int mix(long key) {
        return (int) (key * 0x9e37_79b9_7f4a_7c15L >>> 32);
    }

    /** Index of a key's pair, or of the free pair where it belongs. */
    static int find(long[] hash, long key) {
        int mask = hash.length - 1;
        int at = mix(key) << 1 & mask;
        while (hash[at] != 0 && hash[at] != key) {
            at = at + 2 & mask;
        }
        return at;
    }

    // ---- structure graphs: counters with a switch
    // ------------------------------------------------------------------

    private static final long SWITCHES = TroddenConfig.switches;

    /**
     * A path ended of the structure graph whose slots begin at {@code slot}. Its switch says how many more it
     * counts: 0 none, less than 0 all. Threads that race take one off together, or write an old number over
     * the agent's: a window is some path ends longer then. Opaque: a plain load would be moved out of the
     * loop that it is to be asked in.
     */
    @ForceInline
    public static void structuralPath(int slot, int path) {
        long at = SWITCHES + ((long) slot << 2);
        int left = UNSAFE.getIntOpaque(null, at);
        if (left != 0) {
            if (left > 0) {
                UNSAFE.putIntOpaque(null, at, left - 1);
            }
            count(slot, path);
        }
    }

    /** The same for a graph with too many paths for slots of their own. */
    @ForceInline
    public static void structuralHashed(int slot, int path) {
        long at = SWITCHES + ((long) slot << 2);
        int left = UNSAFE.getIntOpaque(null, at);
        if (left != 0) {
            if (left > 0) {
                UNSAFE.putIntOpaque(null, at, left - 1);
            }
            countHashed(slot, path);
        }
    }

    // ---- requests
    // ------------------------------------------------------------------------------------------------

    /** An activation of a method that handles requests begins. Returns how many the thread is in. */
    public static int requestBegins(int name) {
        return TroddenRequests.begins(name);
    }

    /** The activation ends that began in that many. */
    public static void requestEnds(int depth) {
        TroddenRequests.ends(depth);
    }

    // ---- coverage: a byte per probe, set once
    // -----------------------------------------------------------------------------

    /** Probes of a row have the same number but for this number of lower bits. */
    private static final int ROW_BITS = 12;

    private static final int ROWS = 1 << 12;

    /**
     * Which probes were passed: 0, or 1 for ever. Stable: where compiled code would read a 1, the compilers
     * put the 1 in its place, so that nothing is left of the probe. Rows are there for all probes that are in
     * classes.
     */
    @Stable
    private static final byte[][] RAN = new byte[ROWS][];

    /** Execution passed this probe. Calls nothing and allocates nothing: where there is room for its frame, it works. */
    @ForceInline
    public static void covered(int probe) {
        byte[] row = RAN[probe >>> ROW_BITS];
        int at = probe & (1 << ROW_BITS) - 1;
        if (row != null && row[at] == 0) {
            row[at] = 1;
        }
    }

    // ---- events: words of a stream, in a buffer of the calling thread
    // --------------------------------------------- Where things are in a block's header says TroddenLayout,
    // which is made from jni-agent/src/threads/layout.rs.

    /** The calling thread's own block. */
    @ForceInline
    public static long events() {
        return TroddenThreads.ownBlock();
    }

    /**
     * An activation begins. {@code upper}: upper half of its word. Returns how many activations are below it.
     */
    @ForceInline
    public static int enter(long block, int upper) {
        int depth = UNSAFE.getInt(block + TroddenLayout.DEPTH);
        // First: an activation that ends in here for want of stack is then one that was unwound.
        UNSAFE.putInt(block + TroddenLayout.DEPTH, depth + 1);
        append(block, upper, TroddenLayout.NO_CALL_SITE);
        return depth;
    }

    /** A path of the activation above {@code depth} others ended. */
    @ForceInline
    public static void path(long block, int depth, int upper, int path) {
        surface(block, depth);
        append(block, upper, path & 0xffff_ffffL);
    }

    /** The last path of the activation above {@code depth} others ended. */
    @ForceInline
    public static void lastPath(long block, int depth, int upper, int path) {
        surface(block, depth);
        append(block, upper, path & 0xffff_ffffL);
        UNSAFE.putInt(block + TroddenLayout.DEPTH, depth);
    }

    /*
     * Activations that count their path if it is the only one. Such an activation is reported from its first
     * path on that is not the last: its depth is negative until then.
     */

    /** The calling thread's own block, if it is not known. */
    @ForceInline
    public static long events(long known) {
        return known != 0 ? known : TroddenThreads.ownBlock();
    }

    /** A path ended that is not its activation's only one. Returns how many activations are below that. */
    @ForceInline
    public static int pathReporting(long block, int depth, int upper, int path) {
        int below = depth;
        if (below < 0) {
            below = enter(block, upper | TroddenLayout.ENTER);
        } else {
            surface(block, below);
        }
        append(block, upper, path & 0xffff_ffffL);
        return below;
    }

    /** The last path ended; if it is the only one, it is counted, in slots from {@code offset} on. */
    @ForceInline
    public static void lastOrOnlyPath(long block, int depth, int upper, int path, int offset) {
        if (depth < 0) {
            count(offset, path);
        } else {
            lastPath(block, depth, upper, path);
        }
    }

    /** A path ended, where it does not matter of which activation. */
    @ForceInline
    public static void path(long block, int upper, int path) {
        append(block, upper, path & 0xffff_ffffL);
    }

    /** A whole activation with one path. */
    @ForceInline
    public static void onlyPath(int upper, int path) {
        append(TroddenThreads.ownBlock(), upper, path & 0xffff_ffffL);
    }

    /** The same, where most are not wanted: the thread counts those down. */
    @ForceInline
    public static void pathIfWanted(long block, int upper, int path) {
        int left = UNSAFE.getInt(block + TroddenLayout.SKIP);
        UNSAFE.putInt(block + TroddenLayout.SKIP, left - 1);
        if (left <= 0) {
            wantedPath(block, upper, path);
        }
    }

    /** A whole activation with one path, where most are not wanted. */
    @ForceInline
    public static void onlyPathIfWanted(int upper, int path) {
        pathIfWanted(TroddenThreads.ownBlock(), upper, path);
    }

    @DontInline
    private static void wantedPath(long block, int upper, int path) {
        int words = UNSAFE.getInt(block + TroddenLayout.WORDS) - 1;
        UNSAFE.putInt(block + TroddenLayout.WORDS, words);
        UNSAFE.putInt(block + TroddenLayout.SKIP, 0);
        append(block, upper, path & 0xffff_ffffL);
        if (words <= 0) {
            // Where the consumer says what it wants next.
            drain(block);
        }
    }

    /*
     * With call sites. The depth of a block is then the lower half of its call word; the upper half is the
     * bytecode index of the call that the topmost activation makes, or NO_CALL_SITE. An activation keeps the
     * word of its beginning, the caller's, and puts it back when it ends: however often code
     * without probes calls back, each time the word is that of the last activation with probes that is still
     * there.
     */

    private static final long CALL = TroddenLayout.DEPTH;
    private static final long DEPTH_MASK = 0xffff_ffffL;

    /** An activation begins. Returns the caller's word. */
    @ForceInline
    public static long enterFrom(long block, int upper) {
        long caller = UNSAFE.getLong(block + CALL);
        enter(block, upper, caller, caller >>> 32);
        return caller;
    }

    /** A class initialiser begins, without a call in progress. Returns the caller's word. */
    @ForceInline
    public static long initialise(long block, int upper) {
        long caller = UNSAFE.getLong(block + CALL);
        enter(block, upper, caller, TroddenLayout.NO_CALL_SITE);
        return caller;
    }

    @ForceInline
    private static void enter(long block, int upper, long caller, long site) {
        // First: if there is no stack left for what follows, the next event of the caller shows it.
        UNSAFE.putLong(block + CALL, caller + 1 & DEPTH_MASK | TroddenLayout.NO_CALL_SITE << 32);
        append(block, upper, site);
    }

    /** The activation that was called with that word is about to call something at a bytecode index. */
    @ForceInline
    public static void call(long block, long caller, int bci) {
        surface(block, (int) caller);
        UNSAFE.putLong(block + CALL, caller + 1 & DEPTH_MASK | (long) bci << 32);
    }

    /** The activation that was called with that word ends. */
    @ForceInline
    public static void exit(long block, long caller, int upper) {
        surface(block, (int) caller);
        // First: if there is no stack left for what follows, the method's own handler does all of it again.
        UNSAFE.putLong(block + CALL, caller);
        append(block, upper, 0);
    }

    /** A path of the activation that was called with that word ended. */
    @ForceInline
    public static void path(long block, long caller, int upper, int path) {
        surface(block, (int) caller);
        append(block, upper, path & 0xffff_ffffL);
    }

    /** The last path of the activation that was called with that word ended. */
    @ForceInline
    public static void lastPath(long block, long caller, int upper, int path) {
        surface(block, (int) caller);
        UNSAFE.putLong(block + CALL, caller);
        append(block, upper, path & 0xffff_ffffL);
    }

    // With the paths to calls. The word of the register waits until there is a callee with probes: most calls
    // have none. A callee without such a word is called by the same call as the one before.

    @ForceInline
    public static long enterAlong(long block, int upper) {
        prefix(block);
        return enterFrom(block, upper);
    }

    @ForceInline
    public static long initialiseAlong(long block, int upper) {
        prefix(block);
        return initialise(block, upper);
    }

    @ForceInline
    private static void prefix(long block) {
        long prefix = UNSAFE.getLong(block + TroddenLayout.PENDING);
        if (prefix != 0) {
            UNSAFE.putLong(block + TroddenLayout.PENDING, 0);
            append(block, (int) (prefix >>> 32), prefix & DEPTH_MASK);
        }
    }

    /**
     * The activation that was called with that word is about to call something at a bytecode index, and has
     * taken a path to get there.
     */
    @ForceInline
    public static void callAlong(long block, long caller, int bci, int upper, int register) {
        call(block, caller, bci);
        UNSAFE.putLong(block + TroddenLayout.PENDING, (long) upper << 32 | register & DEPTH_MASK);
    }

    @ForceInline
    public static void exitAlong(long block, long caller, int upper) {
        // Of the activation's own last call.
        UNSAFE.putLong(block + TroddenLayout.PENDING, 0);
        exit(block, caller, upper);
    }

    // With time: what has passed since the last word is the topmost activation's. Probes take part of it.

    @ForceInline
    public static long enterTimed(long block, int upper) {
        charge(block);
        return enterFrom(block, upper);
    }

    @ForceInline
    public static long initialiseTimed(long block, int upper) {
        charge(block);
        return initialise(block, upper);
    }

    @ForceInline
    public static void exitTimed(long block, long caller, int upper) {
        charge(block);
        exit(block, caller, upper);
    }

    @ForceInline
    private static void charge(long block) {
        long now = System.nanoTime();
        long passed = now - UNSAFE.getLong(block + TroddenLayout.TIME);
        UNSAFE.putLong(block + TroddenLayout.TIME, now);
        if (passed >>> 32 == 0) {
            append(block, TroddenLayout.CHARGE, passed);
        } else if (passed != now) {
            chargeMuch(block, passed);
        }
    }

    /** More than four seconds. */
    @DontInline
    private static void chargeMuch(long block, long passed) {
        long left = passed;
        for (; left > DEPTH_MASK; left -= DEPTH_MASK) {
            append(block, TroddenLayout.CHARGE, DEPTH_MASK);
        }
        // Negative if the clock went back.
        append(block, TroddenLayout.CHARGE, Math.max(left, 0));
    }

    /*
     * In bursts. Between them a probe tests a flag. In a burst, a thread that begins an activation first asks
     * the agent to walk its stack and to put that into the stream; from then on it reports what happens,
     * until the burst is over. That may be in the middle of anything, and nothing is reported about it: the
     * next burst brings its own stack.
     */

    /**
     * Number of the burst, from 1; 0 between bursts. Volatile: a plain field would be read once before a
     * loop, not in it.
     */
    private static volatile int burst;

    /** An activation begins. */
    @ForceInline
    public static void begins(int upper) {
        if (burst != 0) {
            begins(upper, TroddenLayout.CALL_UNDER_WAY);
        }
    }

    /** A class initialiser begins, without a call in progress. */
    @ForceInline
    public static void initialises(int upper) {
        if (burst != 0) {
            begins(upper, TroddenLayout.NO_CALL_SITE);
        }
    }

    /** An activation is about to call something at a bytecode index. */
    @ForceInline
    public static void calls(int upper, int bci) {
        if (burst != 0) {
            callsNow(upper, bci);
        }
    }

    /** An activation ends. */
    @ForceInline
    public static void ends(int upper) {
        if (burst != 0) {
            endsNow(upper);
        }
    }

    @DontInline
    private static void begins(int upper, long site) {
        int now = burst;
        if (now == 0) {
            return;
        }
        long block = TroddenThreads.ownBlock();
        int joined = UNSAFE.getInt(block + TroddenLayout.JOINED);
        if (joined != now && (joined == -now || !join(block, now, upper))) {
            return;
        }
        long call = UNSAFE.getLong(block + TroddenLayout.PENDING);
        if (call != 0) {
            // First: if there is no stack left for what follows, the call has not been made.
            UNSAFE.putLong(block + TroddenLayout.PENDING, 0);
            append(block, (int) (call >>> 32), call & DEPTH_MASK);
        }
        append(block, upper, site);
    }

    private static boolean join(long block, int now, int upper) {
        UNSAFE.putLong(block + TroddenLayout.PENDING, 0);
        boolean joins;
        try {
            joins = TroddenThreads.join(block, upper);
        } catch (UnsatisfiedLinkError e) {
            joins = false;
        }
        // Its negative: the thread has nothing to do with this burst.
        UNSAFE.putInt(block + TroddenLayout.JOINED, joins ? now : -now);
        return joins;
    }

    /** The word of a call waits until there is a callee with probes: most calls have none. */
    @DontInline
    private static void callsNow(int upper, int bci) {
        long block = TroddenThreads.ownBlock();
        if (hasJoined(block)) {
            UNSAFE.putLong(block + TroddenLayout.PENDING, (long) upper << 32 | bci);
        }
    }

    @DontInline
    private static void endsNow(int upper) {
        long block = TroddenThreads.ownBlock();
        if (hasJoined(block)) {
            UNSAFE.putLong(block + TroddenLayout.PENDING, 0);
            append(block, upper, 0);
        }
    }

    private static boolean hasJoined(long block) {
        int now = burst;
        return now != 0 && UNSAFE.getInt(block + TroddenLayout.JOINED) == now;
    }

    /** Reports to the stream that exceptions have unwound activations, if they have. */
    @ForceInline
    private static void surface(long block, int depth) {
        if (UNSAFE.getInt(block + TroddenLayout.DEPTH) != depth + 1) {
            unwound(block, depth + 1);
        }
    }

    @DontInline
    private static void unwound(long block, int remain) {
        append(block, TroddenLayout.UNWOUND, remain);
        UNSAFE.putInt(block + TroddenLayout.DEPTH, remain);
    }

    @ForceInline
    private static void append(long block, int upper, long argument) {
        long at = UNSAFE.getLong(block + TroddenLayout.CURSOR);
        // Before the word is written, so that nothing is if the call finds no stack. Not equality: threads
        // without memory share a buffer, and may run past its end by some words each.
        if (at >= UNSAFE.getLong(block + TroddenLayout.END)) {
            at = drain(block);
        }
        UNSAFE.putLong(at, (long) upper << 32 | argument);
        UNSAFE.putLong(block + TroddenLayout.CURSOR, at + 8);
    }

    @DontInline
    private static long drain(long block) {
        try {
            TroddenThreads.drain(block);
        } catch (UnsatisfiedLinkError e) {
            TroddenThreads.empty(block);
        }
        return UNSAFE.getLong(block + TroddenLayout.CURSOR);
    }

    // ---- called by the agent
    // ------------------------------------------------------------------------------------

    /** Opens a window of at most that many path ends. */
    private static void arm(int pathEnds) {
        open = false;
        long first = 1L << 32 + log;
        next = first;
        shift = 32;
        limit = first + pathEnds * step;
        open = true;
    }

    /** Closes the window. Returns how many path ends it has seen. */
    private static int disarm() {
        open = false;
        return (int) ((Math.min(next, limit) - (1L << 32 + log)) / step);
    }

    /** Makes rows for all probes below a number. Returns 1, or 0 if there are not that many. */
    private static int rows(int probes) {
        int rows = (probes - 1 >>> ROW_BITS) + 1;
        if (rows > ROWS) {
            return 0;
        }
        for (int i = 0; i < rows; i++) {
            if (RAN[i] == null) {
                byte[] row = new byte[1 << ROW_BITS];
                UNSAFE.storeFence();
                RAN[i] = row;
            }
        }
        return 1;
    }

    /** Which probes of a row were passed; null if there is no such row. */
    private static byte[] row(int row) {
        return row < ROWS ? RAN[row] : null;
    }

    private static long[] ring() {
        return RING;
    }

    /** All counts by hash so far: pairs of ((method + 1) << 32 | path, count). */
    private static long[] snapshotHashed() {
        synchronized (TroddenThreads.LOCK) {
            Table sum = new Table(0);
            addHashed(sum, TroddenThreads.shared());
            for (Table t = TroddenThreads.tables(); t != null; t = t.next) {
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

    /** All cut paths so far: triples of ((method + 1) << 32 | register, block, count). */
    private static long[] snapshotCuts() {
        synchronized (TroddenThreads.LOCK) {
            Table sum = new Table(0);
            addCuts(sum, TroddenThreads.shared());
            for (Table t = TroddenThreads.tables(); t != null; t = t.next) {
                addCuts(sum, t);
            }
            long[] triples = new long[sum.cutHere * 3];
            int n = 0;
            for (int i = 0; i < sum.cuts.length; i += CUT) {
                if (sum.cuts[i] != 0) {
                    System.arraycopy(sum.cuts, i, triples, n, 3);
                    n += 3;
                }
            }
            return triples;
        }
    }

    private static void addCuts(Table sum, Table table) {
        long[] cuts = table.cuts;
        for (int i = 0; i < cuts.length; i += CUT) {
            if (cuts[i] != 0) {
                addCut(sum, cuts[i], cuts[i + 1], cuts[i + 2]);
            }
        }
    }

    /**
     * The counts by hash of each table, and the paths cut off in it; and its owner. For each table, oldest last: address of its block (odd: it has
     * none of its own), 1 if its thread is the calling one, 2 if it is another one that lives, else 0, number
     * of pairs, number of triples; then these, as above. The last table is that of virtual threads.
     */
    private static long[] snapshotTables() {
        synchronized (TroddenThreads.LOCK) {
            long[] out = new long[256];
            int n = 0;
            for (Table t = TroddenThreads.tables(); t != null; t = t.next) {
                Thread owner = t.owner.get();
                int state = owner == Thread.currentThread() ? 1 : owner != null && owner.isAlive() ? 2 : 0;
                out = appendTable(out, n, t, state);
                n += tableLength(out, n);
            }
            out = appendTable(out, n, TroddenThreads.shared(), 2);
            n += tableLength(out, n);
            long[] all = new long[n];
            System.arraycopy(out, 0, all, 0, n);
            return all;
        }
    }

    private static int tableLength(long[] out, int at) {
        return 4 + 2 * (int) out[at + 2] + 3 * (int) out[at + 3];
    }

    private static long[] appendTable(long[] out, int at, Table table, int state) {
        // Its thread may count meanwhile: room for everything that these arrays can hold.
        long[] hash = table.hash;
        long[] cuts = table.cuts;
        int room = at + 4 + hash.length + cuts.length;
        if (room > out.length) {
            long[] grown = new long[Math.max(room, 2 * out.length)];
            System.arraycopy(out, 0, grown, 0, at);
            out = grown;
        }
        int n = at + 4;
        for (int i = 0; i < hash.length; i += 2) {
            if (hash[i] != 0) {
                out[n++] = hash[i];
                out[n++] = hash[i + 1];
            }
        }
        int pairs = (n - at - 4) / 2;
        for (int i = 0; i < cuts.length; i += CUT) {
            if (cuts[i] != 0) {
                System.arraycopy(cuts, i, out, n, 3);
                n += 3;
            }
        }
        out[at] = table.block;
        out[at + 1] = state;
        out[at + 2] = pairs;
        out[at + 3] = (n - at - 4 - 2 * pairs) / 3;
        return out;
    }

    private static long lost() {
        return lost;
    }
}
