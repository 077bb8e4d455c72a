import java.util.concurrent.atomic.AtomicLong;

/** Arguments: THREADS MILLISECONDS. All threads run the same hot method; prints how often it went which way. */
public final class SharedHot {
    static int hot(int i) {
        int r = i;
        if ((i & 3) == 0) { // one in four
            r ^= 0x55;
        }
        return r + (i % 3 == 0 ? 7 : 1); // one in three
    }

    public static void main(String[] arguments) throws Exception {
        Thread[] threads = new Thread[Integer.parseInt(arguments[0])];
        long end = System.nanoTime() + Long.parseLong(arguments[1]) * 1_000_000;
        AtomicLong calls = new AtomicLong();
        AtomicLong sink = new AtomicLong();
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                long rounds = 0;
                long sum = 0;
                do {
                    for (int i = 0; i < 12_000; i++) {
                        sum += hot(i);
                    }
                    rounds++;
                } while (System.nanoTime() < end);
                calls.addAndGet(rounds * 12_000);
                sink.addAndGet(sum);
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(calls.get() + (sink.get() == 42 ? " " : ""));
    }
}
