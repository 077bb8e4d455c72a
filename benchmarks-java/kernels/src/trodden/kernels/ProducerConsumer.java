package trodden.kernels;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;

/** Two producers and two consumers around a small bounded buffer with one monitor. */
final class ProducerConsumer implements Kernel {
    private static final int EACH = 60_000;
    private static final int CAPACITY = 128;
    private static final int POISON = -1;

    private static final class Buffer {
        private final ArrayDeque<Integer> items = new ArrayDeque<>();

        synchronized void put(int item) throws InterruptedException {
            while (items.size() >= CAPACITY) {
                wait();
            }
            items.addLast(item);
            notifyAll();
        }

        synchronized int take() throws InterruptedException {
            while (items.isEmpty()) {
                wait();
            }
            int item = items.removeFirst();
            notifyAll();
            return item;
        }
    }

    private interface Work {
        void run() throws InterruptedException;
    }

    @Override
    public String name() {
        return "producerconsumer";
    }

    @Override
    public long run() {
        Buffer buffer = new Buffer();
        AtomicLong total = new AtomicLong();
        Thread[] producers = {start(() -> produce(buffer, 0)), start(() -> produce(buffer, 1))};
        Thread[] consumers = {start(() -> consume(buffer, total)), start(() -> consume(buffer, total))};
        join(producers);
        for (int i = 0; i < consumers.length; i++) {
            guarded(() -> buffer.put(POISON));
        }
        join(consumers);
        return total.get();
    }

    @Override
    public long expected() {
        long total = 0;
        for (int item = 0; item < 2 * EACH; item++) {
            total += weight(item);
        }
        return total;
    }

    private static void produce(Buffer buffer, int parity) throws InterruptedException {
        for (int i = 0; i < EACH; i++) {
            buffer.put(2 * i + parity);
        }
    }

    private static void consume(Buffer buffer, AtomicLong total) throws InterruptedException {
        long sum = 0;
        for (int item = buffer.take(); item != POISON; item = buffer.take()) {
            sum += weight(item);
        }
        total.addAndGet(sum);
    }

    /** Steps of the Collatz sequence: a little branchy work per item. */
    private static int weight(int item) {
        int steps = 0;
        for (long n = item + 1L; n != 1; steps++) {
            n = (n & 1) == 0 ? n / 2 : 3 * n + 1;
        }
        return steps;
    }

    private static Thread start(Work work) {
        Thread thread = new Thread(() -> guarded(work));
        thread.start();
        return thread;
    }

    private static void join(Thread[] threads) {
        for (Thread thread : threads) {
            guarded(thread::join);
        }
    }

    private static void guarded(Work work) {
        try {
            work.run();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }
}
