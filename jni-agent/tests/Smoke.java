import java.util.ArrayList;
import java.util.List;

/** The program of the smoke test. Prints "done" and nothing else to standard output, but for a "ready" before it spins. */
public class Smoke {
    static volatile int sink;

    static int classify(int i) {
        if (i % 3 == 0) {
            return i % 5 == 0 ? 15 : 3;
        }
        return i % 5 == 0 ? 5 : 1;
    }

    /** 2^13 paths. */
    static int many(int i) {
        int r = 0;
        if ((i & 1) != 0) {
            r += 1;
        }
        if ((i & 2) != 0) {
            r += 2;
        }
        if ((i & 4) != 0) {
            r += 3;
        }
        if ((i & 8) != 0) {
            r += 4;
        }
        if ((i & 16) != 0) {
            r += 5;
        }
        if ((i & 32) != 0) {
            r += 6;
        }
        if ((i & 64) != 0) {
            r += 7;
        }
        if ((i & 128) != 0) {
            r += 8;
        }
        if ((i & 256) != 0) {
            r += 9;
        }
        if ((i & 512) != 0) {
            r += 10;
        }
        if ((i & 1024) != 0) {
            r += 11;
        }
        if ((i & 2048) != 0) {
            r += 12;
        }
        if ((i & 4096) != 0) {
            r += 13;
        }
        return r;
    }

    static void work() {
        int sum = 0;
        for (int i = 0; i < 100_000; i++) {
            sum += classify(i) + many(i);
        }
        sink = sum;
    }

    static volatile boolean over;

    static void awaitEnd() {
        try {
            System.in.readAllBytes();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        over = true;
    }

    public static void main(String[] args) throws Exception {
        int number = Integer.parseInt(args[1]);
        if (args[0].equals("until-eof")) {
            // Until standard input ends: whoever watches decides when enough was seen.
            Thread waiting = new Thread(Smoke::awaitEnd);
            waiting.setDaemon(true);
            waiting.start();
            while (!over) {
                work();
            }
        } else if (args[0].equals("spin")) {
            System.out.println("ready");
            long end = System.nanoTime() + number * 1_000_000L;
            while (System.nanoTime() < end) {
                work();
            }
        } else {
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < number; t++) {
                Thread thread = new Thread(Smoke::work);
                thread.start();
                threads.add(thread);
            }
            try {
                var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
                for (int t = 0; t < number; t++) {
                    threads.add((Thread) start.invoke(null, (Runnable) Smoke::work));
                }
                System.err.println("virtual threads: " + number);
            } catch (ReflectiveOperationException e) {
                System.err.println("no virtual threads");
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        System.out.println("done");
    }
}
