package trodden.kernels;

/** Recursive functions whose values are known: Fibonacci, Takeuchi, queens on a board. */
final class Recursion implements Kernel {
    @Override
    public String name() {
        return "recursion";
    }

    @Override
    public long run() {
        long sum = fibonacci(36);
        sum = sum * 1000 + takeuchi(18, 12, 6);
        return sum * 100_000 + queens(0, 0, 0, (1 << 13) - 1);
    }

    /** fib(36) = 14930352, tak(18, 12, 6) = 7, 73712 ways to put thirteen queens. */
    @Override
    public long expected() {
        return (14_930_352L * 1000 + 7) * 100_000 + 73_712;
    }

    private static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    private static int takeuchi(int x, int y, int z) {
        if (x <= y) {
            return z;
        }
        return takeuchi(takeuchi(x - 1, y, z), takeuchi(y - 1, z, x), takeuchi(z - 1, x, y));
    }

    /** Columns and both kinds of diagonals that are under attack in this row, as bit sets. */
    private static int queens(int columns, int left, int right, int all) {
        if (columns == all) {
            return 1;
        }
        int ways = 0;
        int free = all & ~(columns | left | right);
        while (free != 0) {
            int place = free & -free;
            free ^= place;
            ways += queens(columns | place, (left | place) << 1, (right | place) >> 1, all);
        }
        return ways;
    }
}
