package java.lang;

/**
 * Values that the agent decides before {@link Trodden} is initialised, so that they are constants in there.
 * Defined and filled in first; nothing else reads it.
 */
final class TroddenConfig {
    private TroddenConfig() {
    }

    /** Entries of the sample ring, a power of two. */
    static int ring;

    /**
     * Address of the index of threads: pairs of longs (thread id, block), {@link #indexEntries} of them.
     * Where the block is for events only, it is the id's complement.
     */
    static long index;

    /** Number of pairs in the index, a power of two. */
    static long indexEntries;

    /** Block of the thread that initialises the shim; 0 if there is none. */
    static long firstBlock;

    /** Block of events that are never read, for threads that find no memory. */
    static long sinkBlock;

    /**
     * Address of the addresses of blocks that threads share; 0 in the first if there is none, and no probe
     * may ask then.
     */
    static long sharedBlocks;

    /** Number of these, a power of two. */
    static int sharedCount;

    /**
     * Address of the switches of structure graphs, an int for each slot; 0 if there are none, and no probe
     * may ask then.
     */
    static long switches;
}
