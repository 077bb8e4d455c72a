import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.Deflater;

/**
 * Argument: SECONDS. Everything that makes a stack hard to walk, at the same time, for that time: classes that come and go,
 * hidden classes, stack overflows, exceptions, deoptimisation, native code, short threads, virtual threads, much
 * garbage. Each worker checks its own results. Prints "ok" and how often each went round.
 */
public final class Sampled {
    private static final AtomicBoolean STOP = new AtomicBoolean();
    private static final List<String> FAILURES = new ArrayList<>();

    /** Loaded again each time. */
    public static final class Short implements Runnable {
        static int result;

        @Override
        public void run() {
            long sum = 0;
            for (int i = 0; i < 20_000; i++) {
                sum += step(i);
            }
            if (sum != 199_990_000L / 2 + 5_000) {
                throw new IllegalStateException("sum " + sum);
            }
        }

        private static int step(int i) {
            return i % 2 == 0 ? i / 2 : (i + 1) / 2;
        }
    }

    private static final class Loader extends ClassLoader {
        private final byte[] bytes;

        Loader(byte[] bytes) {
            super(Sampled.class.getClassLoader());
            this.bytes = bytes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Sampled$Short")) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            return known != null ? known : defineClass(name, bytes, 0, bytes.length);
        }
    }

    private interface Work {
        void round() throws Throwable;
    }

    private static byte[] bytes;

    private static void unloading() throws Throwable {
        Class<?> type = new Loader(bytes).loadClass("Sampled$Short");
        ((Runnable) type.getDeclaredConstructor().newInstance()).run();
    }

    private static void hidden() throws Throwable {
        Class<?> type = MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass();
        ((Runnable) type.getDeclaredConstructor().newInstance()).run();
    }

    private static int deep(int n) {
        return n == 0 ? 0 : 1 + deep(n - 1);
    }

    private static int endless(int n) {
        return endless(n + 1) + 1;
    }

    private static void recursion() {
        check(deep(3000) == 3000, "deep");
        try {
            check(endless(0) < 0, "endless recursion ended");
        } catch (StackOverflowError expected) {
            // As it should.
        }
    }

    private static void exceptions() {
        int caught = 0;
        for (int i = 0; i < 2000; i++) {
            try {
                thrower(i, 20);
            } catch (IllegalArgumentException e) {
                caught += e.getStackTrace().length > 20 ? 1 : 0;
            }
        }
        check(caught == 1000, "caught " + caught);
    }

    private static void thrower(int i, int depth) {
        if (depth > 0) {
            thrower(i, depth - 1);
        } else if (i % 2 == 0) {
            throw new IllegalArgumentException();
        }
    }

    private interface Shape {
        int area();
    }

    /** Code that was compiled for one class of shapes meets another one: it is thrown away. */
    private static void deoptimisation() {
        Shape[] shapes = new Shape[1000];
        for (int kind = 0; kind < 4; kind++) {
            int side = kind + 1;
            for (int i = 0; i < shapes.length; i++) {
                shapes[i] = switch (kind) {
                    case 0 -> () -> side;
                    case 1 -> () -> side * side;
                    case 2 -> new Shape() {
                        @Override
                        public int area() {
                            return side;
                        }
                    };
                    default -> () -> side + 1;
                };
            }
            long sum = 0;
            for (int round = 0; round < 200; round++) {
                for (Shape shape : shapes) {
                    sum += shape.area();
                }
            }
            check(sum == 200_000L * new int[] {1, 4, 3, 5}[kind], "area " + sum);
        }
    }

    private static void natives() throws Throwable {
        Deflater deflater = new Deflater(9);
        byte[] in = new byte[1 << 16];
        ThreadLocalRandom.current().nextBytes(in);
        deflater.setInput(in);
        deflater.finish();
        byte[] out = new byte[1 << 17];
        check(deflater.deflate(out) > 0, "nothing deflated");
        deflater.end();
        Method method = Sampled.class.getDeclaredMethod("deep", int.class);
        check(method.invoke(null, 50).equals(50), "reflection");
        check(System.getenv().size() >= 0 && Thread.currentThread().getStackTrace().length > 2, "stack");
    }

    private static void garbage() {
        Map<Integer, String> map = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            map.put(i & 4095, "value " + i);
        }
        check(map.size() == 4096, "size " + map.size());
        System.gc();
    }

    private static void shortThreads() throws Throwable {
        Thread[] threads = new Thread[20];
        AtomicLong done = new AtomicLong();
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> done.addAndGet(deep(500)));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        check(done.get() == 500L * threads.length, "done " + done);
    }

    private static void virtualThreads() throws Throwable {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        CountDownLatch latch = new CountDownLatch(200);
        AtomicLong sum = new AtomicLong();
        for (int i = 0; i < 200; i++) {
            start.invoke(null, (Runnable) () -> {
                sum.addAndGet(deep(300));
                Thread.yield();
                sum.addAndGet(deep(200));
                latch.countDown();
            });
        }
        latch.await();
        check(sum.get() == 500L * 200, "sum " + sum);
    }

    private static void sleeps() throws Throwable {
        for (int i = 0; i < 20; i++) {
            long begin = System.nanoTime();
            Thread.sleep(2);
            check(System.nanoTime() - begin >= 1_900_000, "a sleep was cut short");
            deep(2000);
        }
    }

    private static void check(boolean good, String what) {
        if (!good) {
            throw new IllegalStateException(what);
        }
    }

    private static Thread worker(String name, AtomicLong rounds, Work work) {
        Thread thread = new Thread(() -> {
            try {
                while (!STOP.get()) {
                    work.round();
                    rounds.incrementAndGet();
                }
            } catch (Throwable e) {
                synchronized (FAILURES) {
                    FAILURES.add(name + ": " + e);
                }
            }
        }, name);
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        try (InputStream in = Sampled.class.getResourceAsStream("Sampled$Short.class")) {
            bytes = in.readAllBytes();
        }
        Map<String, Work> all = new HashMap<>();
        all.put("unloading", Sampled::unloading);
        all.put("hidden", Sampled::hidden);
        all.put("recursion", Sampled::recursion);
        all.put("exceptions", Sampled::exceptions);
        all.put("deoptimisation", Sampled::deoptimisation);
        all.put("natives", Sampled::natives);
        all.put("garbage", Sampled::garbage);
        all.put("threads", Sampled::shortThreads);
        all.put("sleeps", Sampled::sleeps);
        if (Runtime.version().feature() >= 21) {
            all.put("virtual", Sampled::virtualThreads);
        }
        Map<String, AtomicLong> rounds = new HashMap<>();
        List<Thread> threads = new ArrayList<>();
        all.forEach((name, work) -> {
            AtomicLong counter = new AtomicLong();
            rounds.put(name, counter);
            threads.add(worker(name, counter, work));
        });
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
        while (System.nanoTime() < end && FAILURES.isEmpty()) {
            Thread.sleep(100);
        }
        STOP.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(FAILURES.isEmpty() ? "ok " + rounds : "failed " + FAILURES);
    }
}
