package trodden.drivers;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32;

/**
 * Constant load on the HTTP server. Usage: {@code HttpLoad PORT REQUESTS-PER-SECOND WARM-UP-SECONDS SECONDS
 * CONNECTIONS}.
 *
 * <p>Each request has a time at which it is due, and its latency counts from there, not from when a
 * connection got round to it: a server that stands still makes all requests late that were due meanwhile.
 * Prints the number of requests, a checksum of all answers, and latencies in nanoseconds by rank.
 */
final class HttpLoad {
    private static final double[] RANKS = {0.5, 0.9, 0.99, 0.999, 1};

    private HttpLoad() {}

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        int rate = Integer.parseInt(args[1]);
        int warmup = Integer.parseInt(args[2]) * rate;
        int requests = warmup + Integer.parseInt(args[3]) * rate;
        int[] sums = new int[requests];
        long[] nanos = new long[requests];
        AtomicInteger next = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();
        long start = System.nanoTime() + 100_000_000;
        Thread[] threads = new Thread[Integer.parseInt(args[4])];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                try (HttpClient client = new HttpClient(port)) {
                    for (int number = next.getAndIncrement(); number < requests; number = next.getAndIncrement()) {
                        long due = start + number * 1_000_000_000L / rate;
                        for (long rest = due - System.nanoTime(); rest > 0; rest = due - System.nanoTime()) {
                            LockSupport.parkNanos(rest);
                        }
                        byte[] body = client.get(HttpService.request(number));
                        nanos[number] = System.nanoTime() - due;
                        CRC32 sum = new CRC32();
                        sum.update(body);
                        sums[number] = (int) sum.getValue();
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                    failed.incrementAndGet();
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failed.get() > 0) {
            System.exit(1);
        }
        long[] measured = Arrays.copyOfRange(nanos, warmup, requests);
        Arrays.sort(measured);
        StringBuilder line = new StringBuilder("latency " + requests + " " + Integer.toHexString(Arrays.hashCode(sums)));
        for (double rank : RANKS) {
            line.append(' ').append(measured[(int) Math.ceil(rank * measured.length) - 1]);
        }
        System.out.println(line);
    }
}
