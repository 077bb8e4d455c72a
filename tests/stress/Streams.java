import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads whose events must all arrive. The first argument says what to do (see {@link #main}). What each thread does is
 * the same in every run; the order in which threads run is not, and nothing that is printed depends on it.
 */
public final class Streams {
    private Streams() {
    }

    /** Thrown over a number of activations. */
    static final class Back extends Exception {
        int left;

        Back(int left) {
            super(null, null, false, false);
            this.left = left;
        }
    }

    /** Nested loops with calls. */
    static int loops(int seed, int n) {
        int r = seed;
        for (int i = 0; i < n; i++) {
            if ((i + seed) % 3 == 0) {
                r += leaf(i);
            } else {
                r ^= i;
            }
            for (int j = 0; j < (i & 3); j++) {
                r += (j ^ i) % 2 == 0 ? 5 : -1;
            }
        }
        return r;
    }

    /** One path per activation. */
    static int leaf(int i) {
        return (i & 1) == 0 ? i * 3 : i - 7;
    }

    /** Goes down to {@code limit}, throws over {@code over} activations with a handler, and continues there. */
    static int dive(int depth, int limit, int over) throws Back {
        int r = 0;
        for (int i = 0; i < 2; i++) {
            r += (depth + i) % 3 == 0 ? 1 : 2;
        }
        if (depth == limit) {
            throw new Back(over);
        }
        try {
            r += through(depth, limit, over);
        } catch (Back back) {
            if (back.left-- > 0) {
                throw back;
            }
            for (int i = 0; i < 3; i++) {
                r += (i & depth) == 0 ? 7 : 11;
            }
        }
        return r + loops(depth, 3);
    }

    /** Without a handler: an exception goes through it without a word. */
    static int through(int depth, int limit, int over) throws Back {
        int r = 0;
        for (int i = 0; i < depth % 3; i++) {
            r += (i & 1) == 0 ? 1 : 4;
        }
        return r + dive(depth + 1, limit, over);
    }

    static long job(int seed, int rounds) {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += loops(seed + i, 11 + i % 5);
            try {
                sum += dive(0, 5, (seed + i) % 8);
            } catch (Back back) {
                sum += 100;
            }
        }
        return sum;
    }

    /** A job in the middle of a recursion, and in the middle of that something else. */
    static long around(int depth, int seed, Runnable inside) {
        long r = 0;
        for (int i = 0; i < 3; i++) {
            r += ((depth ^ seed) + i) % 2 == 0 ? i : 9;
        }
        if (depth > 0) {
            return r + around(depth - 1, seed, inside) + leaf(depth);
        }
        r += job(seed, 1);
        inside.run();
        return r + job(seed + 1, 1);
    }

    /** Never comes back: its activations are open at the end. */
    static void hold(int depth, Runnable there) {
        for (int i = 0; i < 3; i++) {
            if ((i + depth) % 2 == 0) {
                Aside.nothing();
            }
        }
        if (depth > 0) {
            hold(depth - 1, there);
        } else {
            there.run();
        }
    }

    /** Four daemon threads that have worked, and wait for ever in the middle of a recursion. */
    static void daemons() throws InterruptedException {
        CountDownLatch waiting = new CountDownLatch(4);
        for (int i = 0; i < 4; i++) {
            int seed = i;
            Thread thread = new Thread(() -> {
                job(seed, 50);
                hold(5 + seed, () -> Aside.wait(waiting));
            }, "daemon " + i);
            thread.setDaemon(true);
            thread.start();
        }
        waiting.await();
    }

    static int exit(int depth, int code, boolean halt) {
        for (int i = 0; i < 3; i++) {
            if ((i ^ depth) % 2 == 0) {
                Aside.nothing();
            }
        }
        if (depth > 0) {
            return exit(depth - 1, code, halt);
        }
        System.out.flush();
        if (halt) {
            Runtime.getRuntime().halt(code);
        }
        System.exit(code);
        return 0;
    }

    static int fail(int depth) {
        for (int i = 0; i < 3; i++) {
            if ((i ^ depth) % 2 == 0) {
                Aside.nothing();
            }
        }
        if (depth == 0) {
            throw new IllegalStateException("on purpose");
        }
        return fail(depth - 1) + 1;
    }

    /** Obeys commands, in a recursion. */
    static int level(int depth) throws Back {
        int r = 0;
        while (true) {
            String command = Aside.next();
            if (command.equals("work")) {
                r += job(3, 4);
            } else if (command.equals("down")) {
                try {
                    r += level(depth + 1);
                } catch (Back back) {
                    if (--back.left > 0) {
                        throw back;
                    }
                    r++;
                }
            } else if (command.equals("up")) {
                return r;
            } else {
                throw new Back(Integer.parseInt(command));
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "threads": // THREADS ROUNDS: THREADS at once
                System.out.println(Aside.all(Integer.parseInt(arguments[1]), Integer.MAX_VALUE, false,
                        seed -> job(seed, Integer.parseInt(arguments[2]))));
                break;
            case "short": // THREADS, a few at a time
                System.out.println(Aside.all(Integer.parseInt(arguments[1]), 20, false, seed -> job(seed, 1)));
                break;
            case "virtual": // THREADS virtual ones that leave their carriers on their way; prints memory, too
                System.out.println(Aside.all(Integer.parseInt(arguments[1]), 1000, true,
                        seed -> around(seed % 5, seed, () -> Aside.leave(seed))));
                System.out.println(Aside.half + " " + Aside.resident());
                break;
            case "daemon":
                daemons();
                System.out.println(job(9, 20));
                break;
            case "exit":
                daemons();
                Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println(job(5, 20)), "hook"));
                exit(6, 7, false);
                break;
            case "halt":
                daemons();
                exit(6, 9, true);
                break;
            case "uncaught":
                daemons();
                Thread thread = new Thread(() -> fail(7), "other");
                thread.start();
                thread.join();
                fail(3);
                break;
            case "thrown": // TIMES: throws into code without probes, with none below (a thread's own run method is such code)
                int times = Integer.parseInt(arguments[1]);
                Thread thrower = new Thread(new Aside.Catcher(() -> fail(2), times));
                thrower.start();
                thrower.join();
                break;
            default: // obey
                level(0);
                System.out.println("over");
        }
    }
}

/** Code without probes: it does other things in every run. */
final class Aside {
    static volatile int nothing;
    static long half;
    private static SynchronousQueue<CountDownLatch> jobs;
    private static final BufferedReader INPUT = new BufferedReader(new InputStreamReader(System.in));

    private Aside() {
    }

    interface Body {
        long run(int seed);
    }

    /** Runs a body again and again, which throws. */
    static final class Catcher implements Runnable {
        private final Runnable body;
        private final int times;

        Catcher(Runnable body, int times) {
            this.body = body;
            this.times = times;
        }

        @Override
        public void run() {
            int caught = 0;
            for (int i = 0; i < times; i++) {
                try {
                    body.run();
                } catch (IllegalStateException e) {
                    caught++;
                }
            }
            System.out.println(caught);
        }
    }

    static void nothing() {
        nothing = 1;
    }

    /** Says that it is ready for a command, and waits for one. What a virtual thread is to do it sees to itself. */
    static String next() {
        try {
            while (true) {
                System.out.println("ready");
                String command = INPUT.readLine();
                if (!command.equals("virtual")) {
                    return command;
                }
                workInVirtualThread();
            }
        } catch (IOException | ReflectiveOperationException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void wait(CountDownLatch latch) {
        latch.countDown();
        while (true) {
            LockSupport.park();
        }
    }

    /** A virtual thread continues elsewhere, or later. */
    static void leave(int seed) {
        try {
            if (seed % 3 == 0) {
                Thread.sleep(1);
            } else {
                Thread.yield();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs that many threads, some at a time; the sum of what they return. */
    static long all(int number, int atATime, boolean virtual, Body body) throws Exception {
        AtomicLong sum = new AtomicLong();
        List<Thread> running = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            int seed = i;
            Runnable run = () -> sum.addAndGet(body.run(seed));
            Thread thread;
            if (virtual) {
                thread = startVirtual(run);
            } else {
                thread = new Thread(run);
                thread.start();
            }
            running.add(thread);
            if (running.size() >= atATime || i == number - 1) {
                for (Thread t : running) {
                    t.join();
                }
                running.clear();
            }
            if (i == number / 2) {
                half = resident();
            }
        }
        return sum.get();
    }

    static Thread startVirtual(Runnable run) throws ReflectiveOperationException {
        // Not there on JDK 17.
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, run);
    }

    /** A job in a virtual thread, always the same one. */
    static void workInVirtualThread() throws ReflectiveOperationException, InterruptedException {
        if (jobs == null) {
            jobs = new SynchronousQueue<>();
            startVirtual(() -> {
                try {
                    while (true) {
                        CountDownLatch done = jobs.take();
                        Streams.job(3, 4);
                        done.countDown();
                    }
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        CountDownLatch done = new CountDownLatch(1);
        jobs.put(done);
        done.await();
    }

    static long resident() throws IOException {
        System.gc();
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IllegalStateException("no VmRSS");
    }
}
