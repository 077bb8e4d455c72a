package trodden.kernels;

/** Price of a knock-out call option by simulated paths; normal numbers by the polar method's rejection loop. */
final class MonteCarlo implements Kernel {
    private static final int PATHS = 200_000;
    private static final int STEPS = 32;
    private static final double STRIKE = 100;
    private static final double BARRIER = 140;
    /** Recorded from the first verified run. */
    private static final long EXPECTED = 0x12828c997973d972L;

    private double spare;
    private boolean hasSpare;

    @Override
    public String name() {
        return "montecarlo";
    }

    @Override
    public long run() {
        Rng random = new Rng(9);
        hasSpare = false;
        double total = 0;
        int knocked = 0;
        int worthless = 0;
        for (int path = 0; path < PATHS; path++) {
            double price = simulate(random);
            if (price > BARRIER) {
                knocked++;
            } else if (price <= STRIKE) {
                worthless++;
            } else {
                total += price - STRIKE;
            }
        }
        double value = total / PATHS;
        Checks.require(value > 3 && value < 9, "implausible price " + value);
        return Checks.mix(Checks.mix(Checks.mix(0, knocked), worthless), total);
    }

    @Override
    public long expected() {
        return EXPECTED;
    }

    /** The last price of a path, or the first one above the barrier. */
    private double simulate(Rng random) {
        double price = 100;
        for (int step = 0; step < STEPS; step++) {
            // One Euler step of a geometric Brownian motion: no exp, whose last bit may depend on the JVM.
            price *= 1 + 0.03 / STEPS + 0.2 / Math.sqrt(STEPS) * gaussian(random);
            if (price > BARRIER) {
                return price;
            }
        }
        return price;
    }

    private double gaussian(Rng random) {
        if (hasSpare) {
            hasSpare = false;
            return spare;
        }
        double u;
        double v;
        double square;
        do {
            u = 2 * random.nextDouble() - 1;
            v = 2 * random.nextDouble() - 1;
            square = u * u + v * v;
        } while (square >= 1 || square == 0);
        double scale = Math.sqrt(-2 * StrictMath.log(square) / square);
        spare = v * scale;
        hasSpare = true;
        return u * scale;
    }
}
