package trodden.kernels;

/** Matrix product of small integers held in doubles, so that every sum is exact. */
final class MatrixMultiply implements Kernel {
    private static final int SIZE = 840;

    private final double[][] left = matrix(7);
    private final double[][] right = matrix(8);

    @Override
    public String name() {
        return "matmul";
    }

    @Override
    public long run() {
        double[][] product = new double[SIZE][SIZE];
        for (int i = 0; i < SIZE; i++) {
            double[] row = product[i];
            for (int k = 0; k < SIZE; k++) {
                double factor = left[i][k];
                double[] other = right[k];
                for (int j = 0; j < SIZE; j++) {
                    row[j] += factor * other[j];
                }
            }
        }
        long sum = 0;
        for (int i = 0; i < SIZE; i++) {
            for (int j = 0; j < SIZE; j++) {
                sum += (i + 1L) * (j + 3L) * (long) product[i][j];
            }
        }
        return sum;
    }

    /** u(LR)v as (uL)(Rv). */
    @Override
    public long expected() {
        long sum = 0;
        for (int k = 0; k < SIZE; k++) {
            long fromLeft = 0;
            long fromRight = 0;
            for (int i = 0; i < SIZE; i++) {
                fromLeft += (i + 1L) * (long) left[i][k];
                fromRight += (i + 3L) * (long) right[k][i];
            }
            sum += fromLeft * fromRight;
        }
        return sum;
    }

    private static double[][] matrix(long seed) {
        Rng random = new Rng(seed);
        double[][] matrix = new double[SIZE][SIZE];
        for (double[] row : matrix) {
            for (int j = 0; j < SIZE; j++) {
                row[j] = random.nextInt(201) - 100;
            }
        }
        return matrix;
    }
}
