import java.io.IOException;

/** Works once for each line of standard input, and says when it has. */
public final class Waits {
    private Waits() {}

    public static void main(String[] args) throws IOException {
        for (int c = System.in.read(); c >= 0; c = System.in.read()) {
            System.out.println(sum(1000));
        }
    }

    private static int sum(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i % 2 == 0 ? 1 : 2;
        }
        return sum;
    }
}
