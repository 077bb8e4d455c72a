import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Arguments: THREADS MILLISECONDS. Threads do the same work in rounds while their classes are retransformed; every round
 * must give the same sum. Prints the number of rounds; then resident memory and metaspace in KiB when half of the time is over,
 * and at the end.
 */
public final class Cycles {
    /** Work through an interface, with loops, exceptions, switches and locks. */
    interface Work {
        int step(int i);
    }

    static final class Arithmetic implements Work {
        @Override
        public int step(int i) {
            int r = (i & 1) == 0 ? 3 * i : i ^ 5;
            for (int j = i & 7; j > 0; j--) {
                r = (j & 1) == 0 ? r + j : r * 31;
            }
            return r;
        }
    }

    static final class Throwing implements Work {
        @Override
        public int step(int i) {
            try {
                return i % 64 == 0 ? fail(i) : i % 3 == 0 ? i : -i;
            } catch (IllegalStateException e) {
                return e.getMessage().length() + (i % 128 == 0 ? 1 : 2);
            }
        }

        private static int fail(int i) {
            if (i >= 0) {
                throw new IllegalStateException(i % 128 == 0 ? "even" : "odd");
            }
            return 0;
        }
    }

    static final class Locking implements Work {
        private int last;

        @Override
        public synchronized int step(int i) {
            int r;
            switch (i % 5) {
                case 0: r = last; break;
                case 1: r = i; break;
                case 4: r = i * last; break;
                default: r = i > 100 ? 7 : 11;
            }
            last = i % 17 == 0 ? 0 : i;
            return r;
        }
    }

    private static final AtomicLong ROUNDS = new AtomicLong();
    private static volatile boolean over;
    private static volatile Throwable failure;

    static long round() {
        Work[] all = {new Arithmetic(), new Throwing(), new Locking()};
        long sum = 0;
        for (int i = 0; i < 20_000; i++) {
            sum = sum * 31 + all[i % 3].step(i);
        }
        return sum;
    }

    private static void run(long expected) {
        try {
            while (!over) {
                long sum = round();
                if (sum != expected) {
                    throw new AssertionError(sum + " instead of " + expected);
                }
                ROUNDS.incrementAndGet();
            }
        } catch (Throwable t) {
            failure = t;
        }
    }

    /** Old versions of classes are freed by the garbage collector, so it must run now and then. */
    private static void await(long milliseconds) throws Exception {
        long end = System.nanoTime() + milliseconds * 1_000_000;
        while (System.nanoTime() < end) {
            Thread.sleep(200);
            System.gc();
        }
    }

    private static String sizes() throws Exception {
        System.gc();
        Thread.sleep(100);
        System.gc();
        long metaspace = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getName().equals("Metaspace")) {
                metaspace = pool.getUsage().getUsed() >> 10;
            }
        }
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return line.replaceAll("\\D", "") + " " + metaspace;
            }
        }
        throw new IllegalStateException("no VmRSS");
    }

    public static void main(String[] arguments) throws Exception {
        long expected = round();
        Thread[] threads = new Thread[Integer.parseInt(arguments[0])];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> run(expected));
            threads[i].start();
        }
        long half = Long.parseLong(arguments[1]) / 2;
        await(half);
        String early = sizes();
        await(half);
        String late = sizes();
        over = true;
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure != null) {
            throw new AssertionError(failure);
        }
        System.out.println(ROUNDS);
        System.out.println(early + " " + late);
    }
}
