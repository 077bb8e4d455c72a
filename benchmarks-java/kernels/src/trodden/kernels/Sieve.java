package trodden.kernels;

/** The sieve of Eratosthenes. */
final class Sieve implements Kernel {
    private static final int LIMIT = 20_000_000;

    @Override
    public String name() {
        return "sieve";
    }

    @Override
    public long run() {
        boolean[] composite = new boolean[LIMIT];
        int primes = 0;
        for (int n = 2; n < LIMIT; n++) {
            if (composite[n]) {
                continue;
            }
            primes++;
            if ((long) n * n < LIMIT) {
                for (int multiple = n * n; multiple < LIMIT; multiple += n) {
                    composite[multiple] = true;
                }
            }
        }
        return primes;
    }

    /** The number of primes below 20,000,000. */
    @Override
    public long expected() {
        return 1_270_607;
    }
}
