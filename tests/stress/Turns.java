/** A loop that goes one of two ways by chance: one time of four the one, whatever came before. */
public final class Turns {
    static long loop(int rounds, long seed) {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            seed = seed * 6364136223846793005L + 1442695040888963407L;
            if (seed >>> 62 == 0) {
                sum += i;
            } else {
                sum ^= 3L * i;
            }
        }
        return sum;
    }

    public static void main(String[] args) {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        long sum = 0;
        while (System.nanoTime() < end) {
            sum += loop(100_000, sum);
        }
        System.out.println(sum == 42 ? "chance" : "done");
    }
}
