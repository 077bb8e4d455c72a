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

    /** Address of the agent's table of counter-array lengths, an {@code int} per class index. */
    static long slots;

    /** Offset of element 0 in a {@code long[]}. Unsafe tells it too, but with another type from JDK 25 on. */
    static long longArrayBase;
}
