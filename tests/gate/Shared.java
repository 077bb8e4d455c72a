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

    static Thread started(boolean virtual, Runnable work) {
        if (virtual) {
            try {
                return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
            } catch (ReflectiveOperationException e) {
                // An older JDK.
            }
        }
        Thread thread = new Thread(work);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(16);
        Thread[] threads = new Thread[16];
        for (int i = 0; i < threads.length; i++) {
            int n = i;
            threads[i] = started(n % 2 == 0, () -> run(n, done));
        }
        done.await();
        // Virtual threads are daemons: the JVM would not wait for what they do after that.
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
