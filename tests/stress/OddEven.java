/** A loop whose odd iterations go one way and whose even ones go the other. */
public final class OddEven {
    static int loop(int rounds) {
        int sum = 0;
        for (int i = 0; i < rounds; i++) {
            if ((i & 1) == 0) {
                sum += i;
            } else {
                sum ^= 3 * i;
            }
        }
        return sum;
    }

    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < 200; i++) {
            sum += loop(20_000);
        }
        System.out.println(sum);
    }
}
