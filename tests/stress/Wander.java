/** Random turns, always the same ones: branches, a loop in a loop, calls. */
public final class Wander {
    static int state = 12_345;

    static int step(int x) {
        if ((x & 3) == 0) {
            return 3 * x + 1;
        }
        return (x & 1) == 0 ? x >> 1 : x ^ 0x55;
    }

    static int walk(int rounds) {
        int sum = 0;
        for (int i = 0; i < rounds; i++) {
            state = state * 1_103_515_245 + 12_345;
            int turn = state >>> 16;
            if ((turn & 7) == 0) {
                sum += step(turn >>> 3);
            } else if ((turn & 7) < 5) {
                sum ^= turn;
            } else {
                for (int j = turn >>> 3 & 3; j > 0; j--) {
                    sum += j;
                }
            }
        }
        return sum;
    }

    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < 30; i++) {
            sum += walk(10_000);
        }
        System.out.println(sum);
    }
}
