import java.util.concurrent.CountDownLatch;

/** Several threads in the same code, virtual ones too where there are any; each does work of its own, so the sum is always the same. */
public class Shared {
    static int work(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            if ((i ^ n) % 3 == 0) {
                sum += i;
            } else {
                sum ^= n;
            }
        }
        return sum;
    }

    static void run(int n, CountDownLatch done) {
        try {
            if (work(1_000 * n) == 42) {
                throw new IllegalStateException();
            }
        } finally {
            done.countDown();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(16);
        for (int i = 0; i < 16; i++) {
            int n = i;
            new Thread(() -> run(n, done)).start();
        }
        done.await();
    }
}
