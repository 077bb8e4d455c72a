import java.util.concurrent.CyclicBarrier;
import java.util.function.IntUnaryOperator;

/**
 * What runs for the first time where that is hard to see. Lines say whether they run: "ran", "not", or "late" for what
 * runs after an attach, too.
 */
public class First {
    static int sum;
    static Object[] full;

    public static void main(String[] args) throws Exception {
        before(2); // ran
        if (args.length > 0) {
            System.out.println("ready");
            System.in.read();
        }
        compiled(1_000); // ran
        for (int i = 0; i < 300; i++) { // ran
            compiled(20_000); // ran
        }
        compiled(20_001); // ran
        System.out.println(overflow(0) > 0); // ran
        finallyAtTheEnd(); // ran
        System.out.println(handled); // ran
        heap(); // ran
        racing(); // ran
        types(); // ran
        System.out.println(initialised()); // ran
        System.out.println("done");
        if (args.length > 0) {
            System.in.read();
        }
        daemon(); // ran
        try {
            sum += 1; // ran
            System.exit(3); // ran
        } finally {
            sum += 2;
        }
    }

    static int before(int n) {
        return n + 1; // ran
    }

    /** Compiled long before it does its rare things, in a loop without calls. */
    static int compiled(int n) {
        int s = 0; // late
        for (int i = 0; i < n; i++) { // late
            s ^= i; // late
            if (i == 20_000) { // late
                s += 7; // late
            }
            if (i < 0) { // late
                s += 9; // not
            }
        }
        sum += s; // late
        return s; // late
    }

    /** Its handler runs for the first time where no stack is left. */
    static int overflow(int n) {
        try {
            return overflow(n + 1) + 1; // late
        } catch (StackOverflowError e) {
            sum = 5; // late
            return n; // late
        }
    }

    static boolean handled;

    /** So does code in finally, at every depth, hundreds of times. */
    static void finallyAtTheEnd() {
        for (int i = 0; i < 200; i++) { // late
            try {
                down(i % 100); // late
            } catch (StackOverflowError e) {
                handled = true; // late
            }
        }
    }

    static int down(int n) {
        try {
            return n % 2 == 0 ? down(n + 2) : down(n + 2) + 1; // late
        } finally {
            sum++; // late
        }
    }

    /** No object can be made here. */
    static void heap() {
        try {
            while (true) {
                full = new Object[] {full, new byte[100_000]}; // late
            }
        } catch (OutOfMemoryError e) {
            sum += 3; // late
        }
        try {
            while (true) {
                full = new Object[] {full}; // late
            }
        } catch (OutOfMemoryError e) {
            sum += inFullHeap(3); // late
        }
        full = null; // late
    }

    static int inFullHeap(int n) {
        int s = 0; // late
        while (n > 0) { // late
            s += n--; // late
        }
        return s > 100 ? 1 : 2; // late
    }

    /** Many threads do the same for the first time, at once. */
    static void racing() throws Exception {
        Thread[] threads = new Thread[8]; // late
        CyclicBarrier barrier = new CyclicBarrier(threads.length); // late
        for (int i = 0; i < threads.length; i++) { // late
            int n = i; // late
            threads[i] = new Thread(() -> { // late
                try {
                    barrier.await(); // late
                } catch (Exception e) {
                    throw new IllegalStateException(e); // not
                }
                FirstRace.run(n); // late
            });
            threads[i].start(); // late
        }
        for (Thread thread : threads) { // late
            thread.join(); // late
        }
    }

    interface FirstShape {
        default int area() {
            return 2 * side(); // late
        }

        int side();

        static FirstShape of(int n) {
            return () -> n; // late
        }

        default int unused() {
            return 1; // not
        }
    }

    static void types() {
        sum += FirstShape.of(3).area(); // late
        IntUnaryOperator twice = x -> x > 0 ? 2 * x : x; // late
        sum += twice.applyAsInt(2); // late
        sum += new FirstChild(1).value; // late
    }

    static int initialised() {
        try {
            return FirstBroken.value; // late
        } catch (ExceptionInInitializerError e) {
            return 11; // late
        }
    }

    /** In progress when the JVM ends. */
    static void daemon() throws Exception {
        Thread thread = new Thread(() -> {
            while (true) {
                sum += 4; // ran
                FirstRace.pause(); // ran
            }
        });
        thread.setDaemon(true);
        thread.start();
        Thread.sleep(200);
    }
}

class FirstRace {
    static int total = 0; // late

    static void run(int n) {
        switch (n) { // late
            case 0: total += 1; break; // late
            case 1: total += 2; break; // late
            case 2: total += 3; break; // late
            case 3: total += 4; break; // late
            default: total += 5; break; // late
            case 77: total += 6; // not
        }
    }

    static void pause() {
        try {
            Thread.sleep(5); // ran
        } catch (InterruptedException e) {
            total += 7; // not
        }
    }
}

/** The two classes initialise each other. */
class FirstParent {
    static int seen = FirstChild.count; // late
    final int value;

    FirstParent(int n) {
        value = n > 0 ? n : -n; // late
    }
}

class FirstChild extends FirstParent {
    static int count = FirstParent.seen + 1; // late

    FirstChild(int n) {
        super(n > 0 ? n + 1 : n); // late
        count++; // late
    }
}

class FirstBroken {
    static int value = value(); // late

    static int value() {
        if (First.sum != 123_456_789) { // late
            throw new IllegalStateException(); // late
        }
        return 1; // not
    }
}
