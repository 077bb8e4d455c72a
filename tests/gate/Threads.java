import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.SynchronousQueue;

/** Tests whose work is done by the test's thread, by one that it begins and waits for, and by threads that live on. It says itself when they end. */
public final class Threads {
    private static final SynchronousQueue<Integer> ORDERS = new SynchronousQueue<>();
    private static final SynchronousQueue<Long> ANSWERS = new SynchronousQueue<>();

    /** Work of the test's thread, of one that it waits for, of one that it leaves behind, of the server. */
    private static final int[] WORK = {1_000, 1_000, 1_000, 1_000};

    public static void main(String[] args) throws Throwable {
        Class<?> trodden = Class.forName("java.lang.Trodden", true, null);
        MethodType type = MethodType.methodType(void.class, String.class, long.class, long.class, String.class);
        MethodHandle mark = MethodHandles.publicLookup().findStatic(trodden, "test", type);

        Thread server = new Thread(Threads::serve);
        server.setDaemon(true);
        server.start();
        // It has done something when the first test begins.
        ask(1);

        mark.invokeExact("(between tests)", 0L, -1L, (String) null);
        long sum = spin(WORK[0]);
        mark.invokeExact("alone", 0L, -1L, (String) null);

        Thread[] waited = {new Thread(() -> spin(WORK[1])), new Thread(() -> caught(WORK[1]))};
        for (Thread thread : waited) {
            thread.start();
            thread.join();
        }
        mark.invokeExact("waits", 0L, -1L, (String) null);

        sum += spin(500);
        SynchronousQueue<Long> first = new SynchronousQueue<>();
        Thread left = new Thread(() -> leave(first));
        left.setDaemon(true);
        left.start();
        sum += first.take();
        mark.invokeExact("leaves behind", 0L, -1L, (String) null);

        sum += spin(500) + ask(WORK[3]);
        mark.invokeExact("asks a server", 0L, -1L, (String) null);
        System.out.println(sum);
    }

    private static long ask(int n) throws InterruptedException {
        ORDERS.put(n);
        return ANSWERS.take();
    }

    private static void serve() {
        try {
            while (true) {
                ANSWERS.put(spin(ORDERS.take()));
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void leave(SynchronousQueue<Long> first) {
        try {
            first.put(spin(WORK[2]));
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Paths that end in exceptions are counted apart. */
    private static long caught(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            try {
                sum += thrower(i);
            } catch (IllegalArgumentException e) {
                sum++;
            }
        }
        return sum;
    }

    private static long thrower(int i) {
        long twice = 2L * i;
        check(i);
        return twice;
    }

    private static void check(int i) {
        if (i % 3 == 0) {
            throw new IllegalArgumentException();
        }
    }

    private static long spin(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum = sum * 31 + (i % 7 == 0 ? i : 1);
        }
        return sum;
    }
}
