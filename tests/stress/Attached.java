import java.io.IOException;

/** Works until its standard input ends; then prints the last result, which is always the same. */
public final class Attached {
    private static volatile boolean running = true;

    static int work(int n) {
        int r = 0;
        for (int i = 0; i < n; i++) {
            r += i % 3 == 0 ? 2 : 1;
        }
        return r;
    }

    public static void main(String[] arguments) throws Exception {
        Thread reader = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    // Whatever comes is of no interest.
                }
            } catch (IOException e) {
                e.printStackTrace();
            }
            running = false;
        });
        reader.start();
        System.out.println("ready");
        int last = 0;
        while (running) {
            last = work(100_000);
            Thread.sleep(1);
        }
        System.out.println(last);
    }
}
