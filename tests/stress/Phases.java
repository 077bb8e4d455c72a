/**
 * Arguments: MILLISECONDS of each phase. One method, which takes other paths in the second phase than in the first. Prints how often
 * it was called in each.
 */
public final class Phases {
    private static int sink;

    static int step(int i, boolean second) {
        if (second) {
            return i % 4 == 0 ? i ^ 9 : i * 3;
        }
        return i % 8 < 3 ? i + 1 : -i;
    }

    static long calls(boolean second, long milliseconds) {
        long calls = 0;
        long end = System.nanoTime() + milliseconds * 1_000_000;
        do {
            for (int i = 0; i < 10_000; i++) {
                sink += step(i, second);
            }
            calls += 10_000;
        } while (System.nanoTime() < end);
        return calls;
    }

    public static void main(String[] arguments) {
        long milliseconds = Long.parseLong(arguments[0]);
        // Short activations: one that is in a loop when its class is retransformed stays in the interpreter, so classes
        // whose activations may take 10 million iterations keep their probes.
        long[] calls = new long[2];
        for (int phase = 0; phase < 2; phase++) {
            long end = System.nanoTime() + milliseconds * 1_000_000;
            while (System.nanoTime() < end) {
                calls[phase] += calls(phase == 1, 2);
            }
        }
        System.out.println(calls[0] + " " + calls[1]);
    }
}
