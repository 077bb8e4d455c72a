import java.io.IOException;

/**
 * Runs rounds of {@link SteadyWork}, which all take the same paths, until its standard input ends; with an argument,
 * as many as that says. Prints how many there were.
 */
public final class Steady {
    private static volatile boolean over;

    private static void await() {
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        over = true;
    }

    public static void main(String[] arguments) {
        long limit = arguments.length > 0 ? Long.parseLong(arguments[0]) : Long.MAX_VALUE;
        if (arguments.length == 0) {
            Thread thread = new Thread(Steady::await);
            thread.setDaemon(true);
            thread.start();
        }
        long rounds = 0;
        while (rounds < limit && !over) {
            SteadyWork.round();
            rounds++;
        }
        System.out.println(rounds);
    }
}

/** The profiled code. */
final class SteadyWork {
    static int sink;

    static int hot(int i) {
        int r = (i & 1) == 0 ? 3 : 5;
        if (i % 3 == 0) {
            r ^= i;
        }
        return i % 7 < 2 ? r : -r;
    }

    static int nested(int n) {
        int r = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i; j < n; j++) {
                if ((i ^ j) % 3 == 1) {
                    r += j;
                }
            }
        }
        return r;
    }

    static int word(int i) {
        switch (i % 5) {
            case 0:
                return 1;
            case 1:
            case 2:
                return i > 100 ? 2 : 3;
            default:
                return 4;
        }
    }

    static void round() {
        int r = 0;
        for (int i = 0; i < 2000; i++) {
            r += hot(i);
            if (i % 50 == 0) {
                r += nested(i % 8) + word(i / 50);
            }
        }
        sink = r;
    }
}
