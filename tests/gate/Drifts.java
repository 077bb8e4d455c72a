import java.util.Random;
import java.util.Set;

/**
 * Methods whose work is another in each run, each for a reason of its own; the argument says which one runs. That three runs do the
 * same by chance comes once in ten million times, or less often.
 */
public class Drifts {
    static int sink;

    static void spin(int n) {
        for (int i = 0; i < n; i++) {
            sink += i % 3 == 0 ? 1 : 2;
        }
    }

    static void clock() {
        spin(1_000 + (int) (System.nanoTime() % 99_991));
    }

    static void random() {
        spin(1_000 + new Random().nextInt(100_000));
    }

    /** A JVM has a seed of its own for the order of such sets: of that number of words there are thousands of orders. */
    static void order() {
        String[] words = new String[4_000];
        for (int i = 0; i < words.length; i++) {
            words[i] = Integer.toString(i);
        }
        int n = 0;
        for (String word : Set.of(words)) {
            n = (31 * n + word.hashCode() % 1_000) % 99_991;
        }
        spin(1_000 + n);
    }

    static int drawn() {
        return 1_000 + new Random().nextInt(100_000);
    }

    /** The method that drifts is not called by one that takes the random number. */
    static void far() {
        spin(drawn());
    }

    public static void main(String[] args) {
        switch (args[0]) {
            case "far" -> far();
            case "clock" -> clock();
            case "random" -> random();
            default -> order();
        }
    }
}
