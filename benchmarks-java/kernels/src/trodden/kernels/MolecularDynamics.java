package trodden.kernels;

/**
 * Argon-like particles with a truncated Lennard-Jones force in a periodic box, velocity Verlet integration. The
 * total energy must stay where it was, and the momentum at zero.
 */
final class MolecularDynamics implements Kernel {
    private static final int SIDE = 10;
    private static final int COUNT = SIDE * SIDE * SIDE;
    private static final double SPACING = 1.2;
    private static final double BOX = SIDE * SPACING;
    private static final double CUTOFF_SQUARED = 2.5 * 2.5;
    private static final double SHIFT = 4 * (StrictMath.pow(2.5, -12) - StrictMath.pow(2.5, -6));
    private static final double STEP = 0.002;
    private static final int STEPS = 60;
    /** Recorded from the first verified run. Doubles are strict since JDK 17, so it holds on every later JDK. */
    private static final long EXPECTED = 0xe3c6738012a3b406L;

    private final double[][] position = new double[3][COUNT];
    private final double[][] velocity = new double[3][COUNT];
    private final double[][] force = new double[3][COUNT];
    private double potential;

    @Override
    public String name() {
        return "moldyn";
    }

    @Override
    public long run() {
        place();
        computeForces();
        double before = potential + kinetic();
        for (int step = 0; step < STEPS; step++) {
            kick();
            drift();
            computeForces();
            kick();
        }
        double after = potential + kinetic();
        Checks.require(Math.abs(after - before) < 1e-3 * Math.abs(before), "energy drifts");
        long sum = Checks.mix(0, after);
        for (int axis = 0; axis < 3; axis++) {
            double momentum = 0;
            for (int i = 0; i < COUNT; i++) {
                momentum += velocity[axis][i];
                sum = Checks.mix(sum, position[axis][i]);
            }
            Checks.require(Math.abs(momentum) < 1e-8, "momentum is not conserved");
        }
        return sum;
    }

    @Override
    public long expected() {
        return EXPECTED;
    }

    private void place() {
        Rng random = new Rng(3);
        for (int i = 0; i < COUNT; i++) {
            position[0][i] = i % SIDE * SPACING;
            position[1][i] = i / SIDE % SIDE * SPACING;
            position[2][i] = i / (SIDE * SIDE) * SPACING;
        }
        for (double[] component : velocity) {
            double mean = 0;
            for (int i = 0; i < COUNT; i++) {
                component[i] = random.nextDouble() - 0.5;
                mean += component[i] / COUNT;
            }
            for (int i = 0; i < COUNT; i++) {
                component[i] -= mean;
            }
        }
    }

    private void kick() {
        for (int axis = 0; axis < 3; axis++) {
            for (int i = 0; i < COUNT; i++) {
                velocity[axis][i] += force[axis][i] * STEP / 2;
            }
        }
    }

    private void drift() {
        for (int axis = 0; axis < 3; axis++) {
            double[] x = position[axis];
            for (int i = 0; i < COUNT; i++) {
                x[i] += velocity[axis][i] * STEP;
                if (x[i] < 0) {
                    x[i] += BOX;
                } else if (x[i] >= BOX) {
                    x[i] -= BOX;
                }
            }
        }
    }

    private void computeForces() {
        potential = 0;
        for (double[] component : force) {
            java.util.Arrays.fill(component, 0);
        }
        for (int i = 0; i < COUNT; i++) {
            for (int j = i + 1; j < COUNT; j++) {
                double dx = nearest(position[0][i] - position[0][j]);
                double dy = nearest(position[1][i] - position[1][j]);
                double dz = nearest(position[2][i] - position[2][j]);
                double squared = dx * dx + dy * dy + dz * dz;
                if (squared < CUTOFF_SQUARED) {
                    attract(i, j, dx, dy, dz, squared);
                }
            }
        }
    }

    private void attract(int i, int j, double dx, double dy, double dz, double squared) {
        double inverse = 1 / squared;
        double sixth = inverse * inverse * inverse;
        potential += 4 * sixth * (sixth - 1) - SHIFT;
        double scale = 24 * inverse * sixth * (2 * sixth - 1);
        force[0][i] += dx * scale;
        force[0][j] -= dx * scale;
        force[1][i] += dy * scale;
        force[1][j] -= dy * scale;
        force[2][i] += dz * scale;
        force[2][j] -= dz * scale;
    }

    /** The distance to the nearest periodic image. */
    private static double nearest(double distance) {
        if (distance > BOX / 2) {
            return distance - BOX;
        }
        if (distance < -BOX / 2) {
            return distance + BOX;
        }
        return distance;
    }

    private double kinetic() {
        double energy = 0;
        for (double[] component : velocity) {
            for (double v : component) {
                energy += v * v / 2;
            }
        }
        return energy;
    }
}
