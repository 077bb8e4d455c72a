import java.io.File;
import java.util.concurrent.CountDownLatch;

/**
 * Does the same work whenever it runs, and in the middle of it waits for new windows in a spool folder, while threads are in {@link ShiftWork}.
 * Arguments: the folder, or - to wait for none; and how to end: normal, exit, uncaught, input (at the end of its standard input).
 */
public final class Shift {
    private static final int THREADS = 4;

    private static int windows(String folder) {
        String[] names = new File(folder).list((at, name) -> name.endsWith(".trodden"));
        return names == null ? 0 : names.length;
    }

    private static void await(String folder) throws InterruptedException {
        // The first one that comes may have been begun before.
        int enough = windows(folder) + 2;
        while (!folder.equals("-") && windows(folder) < enough) {
            Thread.sleep(5);
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int phase = 0; phase < 3; phase++) {
            CountDownLatch inside = new CountDownLatch(THREADS);
            CountDownLatch gate = new CountDownLatch(1);
            Thread[] threads = new Thread[THREADS];
            for (int i = 0; i < THREADS; i++) {
                ShiftWork work = new ShiftWork(inside, gate, i);
                threads[i] = new Thread(work::run);
                threads[i].start();
            }
            inside.await();
            await(arguments[0]);
            gate.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
        }
        System.out.println(ShiftWork.sum());
        switch (arguments[1]) {
            case "exit":
                ShiftWork.leave(7);
                return;
            case "uncaught":
                ShiftWork.fail(3);
                return;
            case "input":
                while (System.in.read() >= 0) {
                    continue;
                }
                return;
            default:
        }
    }
}

/** The profiled code. */
final class ShiftWork {
    private static long sum;
    private final CountDownLatch inside;
    private final CountDownLatch gate;
    private final int number;

    ShiftWork(CountDownLatch inside, CountDownLatch gate, int number) {
        this.inside = inside;
        this.gate = gate;
        this.number = number;
    }

    static synchronized long sum() {
        return sum;
    }

    private static synchronized void add(long more) {
        sum += more;
    }

    void run() {
        long r = 0;
        for (int i = 0; i < 3000 + number; i++) {
            r += step(i);
            if (i == 1000) {
                // A window ends while these are in progress.
                r += number % 2 == 0 ? stand(i) : new ShiftPart(this, i).value;
            }
        }
        add(r);
    }

    long stand(int i) {
        long r = i % 3 == 0 ? 1 : 2;
        inside.countDown();
        try {
            gate.await();
        } catch (InterruptedException e) {
            return -1;
        }
        return i % 2 == 0 ? r : -r;
    }

    static int step(int i) {
        int r = (i & 1) == 0 ? 3 : 5;
        try {
            r += i % 7 == 3 ? thrown(i) : i;
        } catch (IllegalStateException e) {
            r--;
        }
        if (i % 11 == 0) {
            try {
                r += new ShiftPart(null, i).value;
            } catch (IllegalArgumentException e) {
                r += 2;
            }
        }
        return r;
    }

    static int thrown(int i) {
        if (i % 2 == 0) {
            throw new IllegalStateException();
        }
        return i % 5 == 0 ? 4 : 1;
    }

    static void leave(int code) {
        for (int i = 0; i < 100; i++) {
            if (i == 50) {
                System.exit(code);
            }
        }
    }

    static void fail(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("on purpose");
        }
        fail(depth - 1);
    }
}

/** A constructor that waits, or is left by an exception, before it has called that of its superclass. */
final class ShiftPart extends ShiftBase {
    ShiftPart(ShiftWork work, int i) {
        super(argument(work, i));
        if (i % 2 == 0) {
            value++;
        }
    }

    private static long argument(ShiftWork work, int i) {
        if (work != null) {
            return work.stand(i);
        }
        if (i % 33 == 0) {
            throw new IllegalArgumentException();
        }
        return i;
    }
}

/** Without branches. */
class ShiftBase {
    long value;

    ShiftBase(long value) {
        this.value = value;
    }
}
