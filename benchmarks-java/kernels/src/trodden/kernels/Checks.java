package trodden.kernels;

/** Checksums and assertions that are always on. */
final class Checks {
    private Checks() {}

    static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalStateException(message);
        }
    }

    /** Mixes one more value into a checksum; the order of values matters. */
    static long mix(long sum, long value) {
        return (sum ^ value) * 0x100000001B3L + (sum >>> 47);
    }

    static long mix(long sum, double value) {
        return mix(sum, Double.doubleToLongBits(value));
    }
}
