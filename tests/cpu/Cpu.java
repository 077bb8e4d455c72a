import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.Deflater;

/**
 * Argument: what to do. Work whose CPU time is known: it is measured by the thread's own clock around each call, and
 * printed as lines `method nanoseconds`. How fast the machine is does not matter.
 */
public final class Cpu {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    /** CPU time of each program. */
    private static final long LONG = 2_500_000_000L;
    static volatile long sink;

    private static long cpu() {
        return THREADS.getCurrentThreadCpuTime();
    }

    static long first(int n) {
        long x = n;
        for (int i = 0; i < n; i++) {
            x = x * 6364136223846793005L + (x >>> 7);
        }
        return x;
    }

    static long second(int n) {
        long x = n;
        for (int i = 0; i < n; i++) {
            x = x * 2862933555777941757L + (x >>> 9);
        }
        return x;
    }

    /**
     * Two methods of the program, three to one. Rounds have different lengths: with a period of its own the program would keep
     * step with the system's clock, whose ticks are the samples.
     */
    private static void shares() {
        Random random = new Random(11);
        long[] spent = new long[2];
        for (long begin = cpu(); cpu() - begin < LONG;) {
            int n = 200_000 + random.nextInt(2_000_000);
            long at = cpu();
            sink += first(3 * n);
            long between = cpu();
            sink += second(n);
            spent[0] += between - at;
            spent[1] += cpu() - between;
        }
        System.out.println("first " + spent[0] + "\nsecond " + spent[1]);
    }

    static long until(long time) {
        long n = 0;
        while (System.nanoTime() < time) {
            n++;
        }
        return n;
    }

    static long early(long time) {
        return until(time);
    }

    static long late(long time) {
        return until(time);
    }

    /** One to three, in rounds as long as the system's tick often is (250 a second): each tick finds the same place. */
    private static void rounds() {
        long[] spent = new long[2];
        long next = System.nanoTime();
        for (long begin = cpu(); cpu() - begin < LONG;) {
            long at = cpu();
            sink += early(next + 1_000_000);
            long between = cpu();
            next += 4_000_000;
            sink += late(next);
            spent[0] += between - at;
            spent[1] += cpu() - between;
        }
        System.out.println("early " + spent[0] + "\nlate " + spent[1]);
    }

    static void sort(int[] numbers) {
        Arrays.sort(numbers);
    }

    /** Methods of the JDK, in Java and native; and sleeping, which takes none. */
    private static void library() throws InterruptedException {
        Random random = new Random(7);
        int[] numbers = random.ints(300_000).toArray();
        byte[] bytes = new byte[1 << 20];
        random.nextBytes(bytes);
        byte[] out = new byte[1 << 21];
        long[] spent = new long[2];
        Thread sleeper = new Thread(() -> {
            for (int i = 0; i < 400; i++) {
                long begin = System.nanoTime();
                try {
                    Thread.sleep(3);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                if (System.nanoTime() - begin < 2_900_000) {
                    System.out.println("a sleep was cut short");
                }
            }
        });
        sleeper.start();
        for (long begin = cpu(); cpu() - begin < LONG;) {
            long at = cpu();
            sort(numbers.clone());
            long between = cpu();
            Deflater deflater = new Deflater(6);
            deflater.setInput(bytes);
            deflater.finish();
            sink += deflater.deflate(out);
            deflater.end();
            spent[0] += between - at;
            spent[1] += cpu() - between;
        }
        sleeper.join();
        System.out.println("sort " + spent[0] + "\ndeflate " + spent[1]);
    }

    static int down(int n) {
        if (n == 0) {
            sink += first(100_000_000);
            return 0;
        }
        return down(n - 1) + 1;
    }

    static int endless(int n) {
        return endless(n + 1) + 1;
    }

    /** Stacks that are deeper than is recorded, and some that overflow. */
    private static void deep() throws InterruptedException {
        Thread thread = new Thread(null, () -> {
            for (long begin = cpu(); cpu() - begin < LONG / 2;) {
                if (down(2000) != 2000) {
                    System.out.println("wrong depth");
                }
            }
            int overflows = 0;
            for (long begin = cpu(); cpu() - begin < LONG / 2; overflows++) {
                try {
                    System.out.println("never " + endless(0));
                } catch (StackOverflowError expected) {
                    sink++;
                }
            }
            System.out.println("overflows " + overflows);
        }, "deep", 4 << 20);
        thread.start();
        thread.join();
    }

    /** Virtual threads: their carriers have the timers, and the stacks are theirs. */
    private static void virtual() throws Exception {
        var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        CountDownLatch latch = new CountDownLatch(60);
        for (int i = 0; i < 60; i++) {
            start.invoke(null, (Runnable) () -> {
                for (int round = 0; round < 10; round++) {
                    sink += first(4_000_000);
                    Thread.yield();
                }
                latch.countDown();
            });
        }
        latch.await();
        System.out.println("done");
    }

    /** A program that has its own use for SIGPROF gets what it sends itself, and nothing else. */
    private static void signals() throws Exception {
        AtomicInteger seen = new AtomicInteger();
        sun.misc.Signal signal = new sun.misc.Signal("PROF");
        sun.misc.Signal.handle(signal, s -> seen.incrementAndGet());
        for (int i = 1; i <= 20; i++) {
            sun.misc.Signal.raise(signal);
            sink += first(30_000_000);
            while (seen.get() < i) {
                Thread.onSpinWait();
            }
        }
        System.out.println("signals " + seen.get());
    }

    /** Reads that block, while other threads are sampled: each byte arrives once. */
    private static void reads() throws Exception {
        Thread busy = new Thread(() -> {
            for (long begin = cpu(); cpu() - begin < LONG / 2;) {
                sink += first(1_000_000);
            }
        });
        busy.start();
        long sum = 0;
        int bytes = 0;
        for (int next; (next = System.in.read()) >= 0; bytes++) {
            sum = sum * 31 + next;
            sink += second(50_000);
        }
        busy.join();
        System.out.println("read " + bytes + " " + sum);
    }

    private static final byte[] FROM = new byte[200];
    private static final byte[] TO = new byte[200];

    /** Routines that compiled code calls without a bytecode index of its own: mathematics, copies of arrays, remainders. */
    static double stubs(int n) {
        double sum = 0;
        for (int i = 1; i <= n; i++) {
            double x = i * 0.37;
            if ((i & 3) != 0) {
                sum += Math.sin(x) + Math.log(x);
            } else {
                sum += Math.pow(x, 1.3) % 7.5;
            }
            System.arraycopy(FROM, 0, TO, i & 7, 150);
        }
        return sum;
    }

    private static void intrinsics() {
        long spent = 0;
        for (long begin = cpu(); cpu() - begin < LONG;) {
            long at = cpu();
            sink += (long) stubs(200_000);
            spent += cpu() - at;
        }
        System.out.println("stubs " + spent);
    }

    /** Threads of less than two milliseconds, which do one thing and then another. */
    private static void brief() throws InterruptedException {
        java.util.concurrent.atomic.AtomicLongArray spent = new java.util.concurrent.atomic.AtomicLongArray(2);
        Random random = new Random(5);
        for (int i = 0; i < 1400; i++) {
            int n = 200_000 + random.nextInt(300_000);
            Thread thread = new Thread(() -> {
                long at = cpu();
                sink += first(3 * n);
                long between = cpu();
                sink += second(n);
                spent.addAndGet(0, between - at);
                spent.addAndGet(1, cpu() - between);
            });
            thread.start();
            thread.join();
        }
        System.out.println("first " + spent.get(0) + "\nsecond " + spent.get(1));
    }

    /// Says what the JVM says of a flag: at once, and after the next line of input.
    static void flag() throws Exception {
        var jvm = ManagementFactory.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class);
        System.out.println(jvm.getVMOption("DebugNonSafepoints").getValue());
        System.in.read();
        System.out.println(jvm.getVMOption("DebugNonSafepoints").getValue());
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "shares" -> shares();
            case "rounds" -> rounds();
            case "library" -> library();
            case "deep" -> deep();
            case "virtual" -> virtual();
            case "flag" -> flag();
            case "intrinsics" -> intrinsics();
            case "brief" -> brief();
            case "signals" -> signals();
            case "reads" -> reads();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }
}
