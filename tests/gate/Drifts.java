import java.util.Random;
import java.util.Set;

/** Methods whose work is another in each run, each for a reason of its own; the argument says which one runs. */
public class Drifts {
    static int sink;

    static void spin(int n) {
        for (int i = 0; i < n; i++) {
            sink += i % 3 == 0 ? 1 : 2;
        }
    }

    static void clock() {
        spin(1_000 + (int) (System.nanoTime() % 997));
    }

    static void random() {
        spin(1_000 + new Random().nextInt(1_000));
    }

    /** A JVM has a seed of its own for the order of such sets. */
    static void order() {
        int n = 0;
        for (String word : Set.of("a", "bb", "ccc", "dddd", "eeeee", "ffffff", "ggggggg", "hhhhhhhh", "iiiiiiiii")) {
            n = (3 * n + word.length()) % 997;
        }
        spin(1_000 + n);
    }

    static int drawn() {
        return 1_000 + new Random().nextInt(1_000);
    }

    /** What drifts is called by nobody who takes the random number. */
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
