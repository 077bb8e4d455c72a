import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** Argument: THREADS. All of them live at the same time, and each calls a method a thousand times; prints the sum. */
public final class Crowd {
    static int odd(int i) {
        return (i & 1) == 0 ? 1 : 2;
    }

    public static void main(String[] arguments) throws Exception {
        Thread[] threads = new Thread[Integer.parseInt(arguments[0])];
        CountDownLatch all = new CountDownLatch(threads.length);
        AtomicLong sum = new AtomicLong();
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                long own = 0;
                for (int i = 0; i < 500; i++) {
                    own += odd(i);
                }
                all.countDown();
                try {
                    all.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                for (int i = 0; i < 500; i++) {
                    own += odd(i);
                }
                sum.addAndGet(own);
            });
            threads[t].setDaemon(true);
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(sum.get());
    }
}
