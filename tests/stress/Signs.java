/**
 * Arguments: MILLISECONDS. Comparisons with 0 whose outcomes cannot be guessed from the code, in activations that are short. Prints how
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

    /** As many calls as fit into two milliseconds, in activations that are short but not few: those may be retransformed. */
    static long rounds() {
        long rounds = 0;
        long end = System.nanoTime() + 2_000_000;
        do {
            int sum = 0;
            for (int i = 0; i < 1_000; i++) {
                sum += classify(i == 0 ? 7 : -7);
            }
            if (sum != 999 * 7) {
                throw new AssertionError(sum);
            }
            rounds++;
        } while (System.nanoTime() < end);
        return rounds;
    }

    public static void main(String[] arguments) {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000;
        long rounds = 0;
        while (System.nanoTime() < end) {
            rounds += rounds();
        }
        System.out.println(rounds * 999 + " " + rounds);
    }
}
