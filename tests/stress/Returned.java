/** A long loop that calls no native method and is given much more than fits the heap, a piece at a time. */
public final class Returned {
    private static byte[] make(int bytes) {
        return new byte[bytes];
    }

    private static long run(int times) {
        long sum = 0;
        for (int i = 0; i < times; i++) {
            sum += make(4096).length;
        }
        return sum;
    }

    public static void main(String[] arguments) {
        System.out.println(run(20_000_000));
    }
}
