package trodden.kernels;

/** Iteration counts over a grid; the set is symmetric to the real axis, which checks one half by the other. */
final class Mandelbrot implements Kernel {
    private static final int SIZE = 401;
    private static final int LIMIT = 1200;
    /** Recorded from the first verified run. */
    private static final long EXPECTED = 0x4ec2339f1a0ac7a9L;

    @Override
    public String name() {
        return "mandelbrot";
    }

    @Override
    public long run() {
        long upper = 0;
        long lower = 0;
        long sum = 0;
        int middle = SIZE / 2;
        for (int row = 0; row < SIZE; row++) {
            double im = (row - middle) * (2.4 / SIZE);
            for (int column = 0; column < SIZE; column++) {
                int count = iterations(column * (2.8 / SIZE) - 2.1, im);
                sum = Checks.mix(sum, count);
                if (row < middle) {
                    upper += count;
                } else if (row > middle) {
                    lower += count;
                }
            }
        }
        Checks.require(upper == lower, "the picture is not symmetric");
        return sum;
    }

    @Override
    public long expected() {
        return EXPECTED;
    }

    private static int iterations(double re, double im) {
        double x = 0;
        double y = 0;
        for (int i = 0; i < LIMIT; i++) {
            double xx = x * x;
            double yy = y * y;
            if (xx + yy > 4) {
                return i;
            }
            y = 2 * x * y + im;
            x = xx - yy + re;
        }
        return LIMIT;
    }
}
