/**
 * Arguments: MILLISECONDS. Comparisons with 0 that come out as nobody would guess from the code, in activations that are short. Prints how
 * many there were, by sign.
 */
public final class Signs {
    static int classify(int x) {
        int kind = 0;
        if (x < 0) {
            kind += 1;
        }
        if (x == -7) {
            kind += 2;
        }
        if (x < -1) {
            kind += 4;
        }
        return kind;
    }

    static int round(int seed) {
        int sum = 0;
        for (int i = 0; i < 10_000; i++) {
            sum += classify((i + seed) % 1000 == 0 ? 7 : -7);
        }
        return sum;
    }

    public static void main(String[] arguments) {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000;
        long rounds = 0;
        long sum = 0;
        while (System.nanoTime() < end) {
            sum += round(0);
            rounds++;
        }
        if (sum != rounds * 9_990 * 7) {
            throw new AssertionError(sum + " after " + rounds + " rounds");
        }
        System.out.println(rounds * 9_990 + " " + rounds * 10);
    }
}
