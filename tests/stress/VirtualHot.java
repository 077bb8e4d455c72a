import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Arguments: THREADS ROUNDS. Virtual threads that change carriers in the middle of a path; prints the calls. */
public final class VirtualHot {
    static int hot(int i) {
        int r = i;
        if ((i & 3) == 0) {
            r ^= 0x55;
        }
        if (i % 50 == 0) {
            Thread.yield();
        }
        return r + (i % 3 == 0 ? 7 : 1);
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[1]);
        AtomicLong calls = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < Integer.parseInt(arguments[0]); t++) {
            threads.add(Thread.startVirtualThread(() -> {
                int sum = 0;
                for (int i = 0; i < 12 * rounds; i++) {
                    sum += hot(i);
                }
                calls.addAndGet(sum == 42 ? 12L * rounds : 12L * rounds);
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(calls.get());
    }
}
