package trodden.kernels;

/** SplitMix64: tiny, and the same numbers on every JDK. */
final class Rng {
    private long state;

    Rng(long seed) {
        state = seed;
    }

    long nextLong() {
        state += 0x9E3779B97F4A7C15L;
        long z = state;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /** Uniform in 0 .. bound-1 (bound is small, so the modulo's bias is without consequence here). */
    int nextInt(int bound) {
        return (int) ((nextLong() >>> 33) % bound);
    }

    /** Uniform in [0, 1). */
    double nextDouble() {
        return (nextLong() >>> 11) * 0x1.0p-53;
    }
}
