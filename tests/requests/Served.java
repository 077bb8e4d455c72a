import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import trodden.Span;

/**
 * Requests whose paths are known. For each request prints: its name, iterations of its loop that were even and odd, and
 * nanoseconds that it took at least.
 */
public class Served {
    static final class Refused extends RuntimeException {
        Refused() {
            super(null, null, false, false);
        }
    }

    /** A request: with a nested one, or an exception in the end. */
    static int handle(int n) {
        int done = work(n);
        if (n % 3 == 0) {
            done += handleInside(n + 1);
        }
        if (n % 5 == 0) {
            throw new Refused();
        }
        return done;
    }

    static int handleInside(int n) {
        if (n > 1000) {
            return 0;
        }
        return work(n);
    }

    static int work(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            if ((i & 1) == 0) {
                sum += i;
            } else {
                sum -= 3;
            }
        }
        return sum;
    }

    static void say(String name, int n, long nanos) {
        int even = (n + 1) / 2, odd = n / 2;
        if (n % 3 == 0 && n < 1000 && !name.equals("span")) {
            even += (n + 2) / 2;
            odd += (n + 1) / 2;
        }
        synchronized (System.out) {
            System.out.println(name + " " + even + " " + odd + " " + nanos);
        }
    }

    static void request(int n) {
        // The clock of the truth is outside: a request takes no longer than that.
        long begin = System.nanoTime();
        try {
            handle(n);
        } catch (Refused e) {
            // As expected.
        }
        say("Served#handle", n, System.nanoTime() - begin);
    }

    static void span(int n) {
        long begin = System.nanoTime();
        try (Span span = Span.begin("span")) {
            work(n);
            try (Span inner = Span.begin("inner")) {
                work(0);
            }
        }
        say("span", n, System.nanoTime() - begin);
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = args[0].equals("virtual")
                ? (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null)
                : Executors.newFixedThreadPool(4);
        int requests = Integer.parseInt(args[1]);
        CountDownLatch left = new CountDownLatch(requests);
        for (int i = 0; i < requests; i++) {
            int n = i + 1;
            pool.execute(() -> {
                if (n % 4 == 0) {
                    span(n);
                } else {
                    request(n);
                }
                left.countDown();
            });
        }
        left.await();
        pool.shutdown();
        pool.awaitTermination(10, TimeUnit.SECONDS);
        Span moved = Span.begin("moved");
        Thread other = new Thread(moved::close);
        other.start();
        other.join();
        // The first one is over: this one is no part of it.
        request(1);
        System.out.println("moved 0 0 0");
    }
}
