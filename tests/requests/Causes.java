import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A server without a network: some threads handle requests, of which one in twenty is slow for a reason that
 * is known. Arguments: reasons, joined by {@code +} ({@code none}: no request is), and the number of requests.
 * Prints the latencies at some ranks, by its own clock. A comment {@code // cause: REASON} is at the decision of
 * a reason.
 */
public class Causes {
    static final int THREADS = 4;
    static final Object LOCK = new Object();
    static final double[][] tables = new double[64][];

    static boolean miss, retry, size, lock, branch, collector;
    static volatile double sink;

    static final class Request {
        int country;
        int items = 4_000;
        int failures;
        boolean exclusive;
        boolean audited;
    }

    /** What a request is, decided before it is handled. */
    static Request draw(Random random) {
        Request request = new Request();
        request.country = random.nextInt(64);
        boolean slow = random.nextInt(20) == 0;
        String[] reasons = { miss ? "miss" : null, retry ? "retry" : null, size ? "size" : null, lock ? "lock" : null,
            branch ? "branch" : null };
        String[] there = Arrays.stream(reasons).filter(reason -> reason != null).toArray(String[]::new);
        if (slow && there.length > 0) {
            switch (there[random.nextInt(there.length)]) {
                case "miss":
                    synchronized (tables) {
                        tables[request.country] = null;
                    }
                    break;
                case "retry":
                    request.failures = 5;
                    break;
                case "size":
                    request.items = 400_000;
                    break;
                case "lock":
                    request.exclusive = true;
                    break;
                default:
                    request.audited = true;
            }
        }
        return request;
    }

    static double handle(Request request) {
        double[] table = table(request.country);
        double sum = total(table, request.items);
        int attempts = 0;
        while (!sent(request, attempts)) { // cause: retry
            pause(1);
            attempts++;
        }
        if (request.exclusive) { // cause: lock
            synchronized (LOCK) {
                pause(5);
            }
        }
        if (request.audited) { // cause: branch
            sum += audit(table);
        }
        return sum;
    }

    static double[] table(int country) {
        double[] table;
        synchronized (tables) {
            table = tables[country];
        }
        if (table == null) { // cause: miss
            table = load(country);
            synchronized (tables) {
                tables[country] = table;
            }
        }
        return table;
    }

    static double[] load(int country) {
        pause(5);
        return fill(country);
    }

    static double[] fill(int country) {
        double[] table = new double[64];
        for (int i = 0; i < table.length; i++) {
            table[i] = country + i * 0.25;
        }
        return table;
    }

    static double total(double[] table, int items) {
        double sum = 0;
        for (int i = 0; i < items; i++) { // cause: size
            sum += Math.sqrt(table[i & 63] + i) * Math.sqrt(i + sum * 1e-9);
        }
        return sum;
    }

    static boolean sent(Request request, int attempts) {
        return attempts >= request.failures; // cause: retry
    }

    static double audit(double[] table) {
        double sum = 0;
        for (int round = 0; round < 1_500; round++) {
            for (double value : table) {
                sum += Math.sqrt(value + round);
            }
        }
        pause(3);
        return sum;
    }

    static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        for (String reason : args[0].split("\\+")) {
            miss |= reason.equals("miss");
            retry |= reason.equals("retry");
            size |= reason.equals("size");
            lock |= reason.equals("lock");
            branch |= reason.equals("branch");
            collector |= reason.equals("collector");
        }
        int requests = Integer.parseInt(args[1]);
        long seed = args.length > 2 ? Long.parseLong(args[2]) : 1;
        for (int country = 0; country < tables.length; country++) {
            tables[country] = fill(country);
        }
        AtomicLong left = new AtomicLong(requests);
        long[] latencies = new long[requests];
        Object[] live = collector ? new Object[500_000] : null;
        if (collector) {
            for (int i = 0; i < live.length; i++) {
                live[i] = new int[] { i };
            }
            Thread thread = new Thread(() -> {
                while (left.get() > 0) {
                    pause(150);
                    System.gc();
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        Thread[] threads = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            Random random = new Random(seed * 31 + t);
            threads[t] = new Thread(() -> {
                for (long n = left.getAndDecrement(); n > 0; n = left.getAndDecrement()) {
                    Request request = draw(random);
                    long begin = System.nanoTime();
                    sink = handle(request);
                    latencies[(int) n - 1] = System.nanoTime() - begin;
                    if (n % 4 == 0) {
                        // Some time for others.
                        pause(1);
                    }
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Arrays.sort(latencies);
        for (double rank : new double[] { 0.5, 0.99, 0.999 }) {
            System.out.println(rank + " " + latencies[(int) Math.ceil(rank * requests) - 1]);
        }
        if (live != null && live[0] == null) {
            System.out.println();
        }
    }
}
