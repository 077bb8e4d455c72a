package lib;

/** Used by the app, instrumented separately. */
public final class Steps {
    private Steps() {}

    public static int collatz(long n) {
        int steps = 0;
        while (n != 1) {
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
            steps++;
        }
        return steps;
    }
}
