/**
 * The environment variable LEARNT: MILLISECONDS (at least) and WEIGHT, as arguments say which program it is. `steady` takes the same paths all the time and in each run; `other` takes one of them by WEIGHT in
 * 100 calls, so runs differ if that differs; `rare` is called now and then; `never` is not, unless there is a third word. Prints how often each was called.
 */
public final class Learnt {
    private static int sink;

    static int steady(int i) {
        return i % 4 == 0 ? i ^ 9 : i * 3;
    }

    static int other(int i, int weight) {
        return i % 100 < weight ? i + 1 : -i;
    }

    static int rare(int i) {
        return i % 3 == 0 ? i : 7;
    }

    static int never(int i) {
        return i % 5 == 0 ? i : 8;
    }

    static void calls(int weight) {
        for (int i = 0; i < 10_000; i++) {
            sink += steady(i) + other(i, weight);
        }
        sink += rare(sink);
    }

    public static void main(String[] arguments) {
        String[] words = System.getenv("LEARNT").split(" ");
        long milliseconds = Long.parseLong(words[0]);
        long end = System.nanoTime() + milliseconds * 1_000_000;
        int weight = Integer.parseInt(words[1]);
        long rounds = 0;
        // On a busy machine it takes longer, and does no less.
        while (System.nanoTime() < end || rounds < 2 * milliseconds) {
            calls(weight);
            rounds++;
        }
        if (words.length > 2) {
            sink += never(sink);
        }
        System.out.println(rounds);
    }
}
