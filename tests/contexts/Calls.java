import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/**
 * Every way to call and to return that there is. What each thread calls, from where, is the same in every run.
 *
 * <p>What is called {@code Other…} has no probes.
 */
public final class Calls {
    static final class Thrown extends RuntimeException {
        Thrown() {
            super(null, null, false, false);
        }
    }

    // ---- plain -----------------------------------------------------------------------------------------------------

    static int leaf(int i) {
        return i + 1;
    }

    static int branch(int i) {
        if ((i & 1) == 0) {
            return leaf(i);
        }
        return leaf(i) + leaf(leaf(i));
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    // ---- exceptions ------------------------------------------------------------------------------------------------

    static void fail(int depth) {
        if (depth == 0) {
            throw new Thrown();
        }
        fail(depth - 1);
    }

    static int caught(int depth) {
        try {
            fail(depth);
        } catch (Thrown e) {
            return leaf(depth);
        } finally {
            leaf(1);
        }
        return 0;
    }

    static int implicit(int[] array, Object text) {
        int n = 0;
        try {
            n = array[leaf(7)];
        } catch (ArrayIndexOutOfBoundsException e) {
            n = leaf(n);
        }
        try {
            n += ((String) text).length();
        } catch (ClassCastException e) {
            n = leaf(n);
        }
        synchronized (array) {
            try {
                n /= leaf(-1);
            } catch (ArithmeticException e) {
                n = leaf(n);
            }
        }
        return n;
    }

    // ---- code without probes that calls back -----------------------------------------------------------------------

    static int callbacks() {
        List<Integer> numbers = new ArrayList<>(Arrays.asList(5, 2, 9, 1, 7));
        numbers.sort(new Comparator<Integer>() {
            @Override
            public int compare(Integer a, Integer b) {
                return leaf(a) - leaf(b);
            }
        });
        int sum = 0;
        for (int n : numbers) {
            sum += OtherCaller.twice(x -> leaf(x), n);
        }
        TreeMap<Key, Integer> tree = new TreeMap<>();
        for (int i = 0; i < 6; i++) {
            tree.merge(new Key(i % 3), i, Integer::sum);
        }
        String text = "a" + new Key(3) + new Key(4);
        return sum + tree.size() + text.length();
    }

    static final class Key implements Comparable<Key> {
        final int value;

        Key(int value) {
            this.value = value;
        }

        @Override
        public int compareTo(Key other) {
            return Integer.compare(leaf(value), leaf(other.value));
        }

        @Override
        public String toString() {
            return Integer.toString(leaf(value));
        }
    }

    /** The other side catches what is thrown, and calls again: the activations that have ended must not be seen as its callers. */
    static int swallowed() {
        return OtherCaller.swallow(() -> {
            fail(3);
            return 1;
        }, () -> leaf(2));
    }

    // ---- constructors ----------------------------------------------------------------------------------------------

    static class Shape {
        final int size;

        Shape(int size) {
            this.size = leaf(size);
            if (size == 13) {
                throw new Thrown();
            }
        }
    }

    static final class Square extends Shape {
        Square(int size) {
            super(size > 10 ? leaf(size) : new Shape(size).size);
            leaf(3);
        }

        Square(int size, boolean fails) {
            this(fails ? failing() : size);
        }
    }

    static int failing() {
        throw new Thrown();
    }

    static final class Derived extends OtherBase {
        Derived(int n) {
            super(branch(n));
            leaf(n);
        }

        @Override
        void called() {
            leaf(9);
        }
    }

    static int constructed() {
        int sum = new Square(4).size + new Square(11).size + new Square(2, false).size;
        try {
            sum += new Square(5, true).size;
        } catch (Thrown e) {
            sum += leaf(0);
        }
        try {
            sum += new Square(12).size;
        } catch (Thrown e) {
            sum += leaf(0);
        }
        new Derived(3);
        return sum;
    }

    /** Constructors that throw before, in and after {@code super()}, under code that catches and calls again. */
    static int swallowedConstructors() {
        return OtherCaller.swallow(() -> new Square(5, true).size, () -> leaf(1))
            + OtherCaller.swallow(() -> new Square(12).size, () -> leaf(1))
            + OtherCaller.swallow(() -> new Shape(13).size, () -> leaf(1));
    }

    static int reflected() throws Exception {
        Constructor<Square> constructor = Square.class.getDeclaredConstructor(int.class, boolean.class);
        int sum = 0;
        for (int i = 0; i < 30; i++) {
            sum += (int) Calls.class.getDeclaredMethod("branch", int.class).invoke(null, i);
            try {
                constructor.newInstance(i, i % 3 == 0);
            } catch (InvocationTargetException e) {
                sum += leaf(i);
            }
        }
        return sum;
    }

    // ---- initialisers ----------------------------------------------------------------------------------------------

    static final class First {
        static final int VALUE = make();

        static int make() {
            return leaf(1) + Second.value();
        }
    }

    static final class Second {
        static int base = leaf(5);

        static int value() {
            return leaf(base);
        }
    }

    static final class Broken {
        static final int VALUE = failing();
    }

    static int initialised() {
        int sum = leaf(0) + First.VALUE + Second.value();
        try {
            sum += Broken.VALUE;
        } catch (LinkageError e) {
            sum += leaf(1);
        }
        try {
            sum += Broken.VALUE;
        } catch (LinkageError e) {
            sum += leaf(1);
        }
        return sum;
    }

    // ---- interfaces, varargs, switches, locks ----------------------------------------------------------------------

    interface Greeter {
        default int greet(int n) {
            return leaf(n) + code();
        }

        int code();

        static int most(int... all) {
            int most = 0;
            for (int n : all) {
                most = Math.max(most, leaf(n));
            }
            return most;
        }
    }

    enum Kind implements Greeter {
        A {
            @Override
            public int code() {
                return leaf(1);
            }
        },
        B {
            @Override
            public int code() {
                return branch(1);
            }
        };

        public abstract int code();
    }

    static synchronized int locked(Kind kind) {
        switch (kind) {
            case A:
                return kind.greet(1);
            default:
                return kind.greet(2) + Greeter.most(1, 2, 3);
        }
    }

    // ---- threads ---------------------------------------------------------------------------------------------------

    static void threads(int n) throws InterruptedException {
        Thread[] all = new Thread[n];
        for (int i = 0; i < n; i++) {
            int own = i;
            all[i] = new Thread(() -> work(own % 3));
            all[i].start();
        }
        for (Thread thread : all) {
            thread.join();
        }
    }

    static void work(int seed) {
        for (int i = 0; i < 20; i++) {
            branch(i + seed);
            caught(i % 4);
            Thread.yield();
        }
    }

    static void virtual(int n) throws Exception {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int own = i;
            Runnable job = () -> sleeper(own % 3);
            all.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, job));
        }
        for (Thread thread : all) {
            thread.join();
        }
    }

    static void sleeper(int seed) {
        work(seed);
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new Thrown();
        }
        work(seed);
    }

    // ---- native code that calls back (contexts/native.c) ----------------------------------------------------------------

    interface Job {
        int run(int n);
    }

    /** Runs the job twice; what it throws is forgotten, and the job run once more. */
    static native int nativeTwice(Job job, int n);

    /** Runs the job, and throws on what it throws. */
    static native int nativeOnce(Job job, int n);

    static int throughNative(int n) {
        int sum = nativeTwice(x -> leaf(x), n) + nativeTwice(x -> caught(x), 2);
        // The activations of fail() have ended by the time native code calls again.
        sum += nativeTwice(x -> {
            fail(x);
            return 1;
        }, 3);
        sum += nativeOnce(x -> nativeOnce(y -> branch(y), x) + nativeTwice(y -> leaf(y), x), n);
        try {
            nativeOnce(x -> {
                fail(x);
                return 1;
            }, 2);
        } catch (Thrown e) {
            sum += leaf(n);
        }
        return sum + branch(n);
    }

    // ---- paths that lead to calls --------------------------------------------------------------------------------------

    /** Four paths lead to the call, as often as numbers are divisible by two, by three, by both and by none. */
    static int along(int i) {
        int n = 0;
        if (i % 2 == 0) {
            n++;
        }
        if (i % 3 == 0) {
            n += 2;
        }
        return leaf(n);
    }

    /** The call is the same while code without probes calls back, and so is the path to it. */
    static int alongTwice(int i) {
        int n = 0;
        if (i % 5 == 0) {
            n++;
        }
        return OtherCaller.twice(x -> leaf(x), n);
    }

    static int alongAll(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += along(i) + alongTwice(i);
            // What a callee called last is not what its caller calls.
            sum += OtherCaller.twice(x -> x % 7 == 0 ? Integer.bitCount(leaf(x)) : Integer.bitCount(x), i);
        }
        return sum;
    }

    // ---- what contexts weigh -------------------------------------------------------------------------------------------

    static volatile Object last;

    static void makes(int n) {
        for (int i = 0; i < n; i++) {
            last = new byte[1000];
        }
    }

    static void makesMore(int n) {
        makes(n);
        makes(n);
    }

    static void naps(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new Thrown();
        }
    }

    static void napsTwice(int millis) {
        naps(millis);
        leaf(1);
        naps(millis);
    }

    // ---- depth -----------------------------------------------------------------------------------------------------

    static int deep(int n) {
        return n == 0 ? 0 : 1 + deep(n - 1);
    }

    static int overflow(int n) {
        return overflow(n + 1) + 1;
    }

    static void inThread(Supplier<Integer> job, long stack) throws InterruptedException {
        Thread thread = new Thread(null, () -> System.out.println(job.get()), "deep", stack);
        thread.start();
        thread.join();
    }

    static int overflows() {
        int n = 0;
        for (int i = 0; i < 3; i++) {
            try {
                overflow(0);
            } catch (StackOverflowError e) {
                n += leaf(i);
            }
        }
        return n + branch(n);
    }

    static int deepThrow(int n) {
        try {
            fail(n);
        } catch (Thrown e) {
            return branch(n);
        }
        return 0;
    }

    // ---- commands from outside -------------------------------------------------------------------------------------

    static void obey(int depth) throws IOException {
        System.out.println("ready");
        for (int command = System.in.read(); command >= 0; command = System.in.read()) {
            switch (command) {
                case 'd':
                    obey(depth + 1);
                    break;
                case 'u':
                    return;
                case 'w':
                    branch(depth);
                    caught(2);
                    break;
                default:
                    continue;
            }
            System.out.println("ready");
        }
    }

    // ---- threads that are in the middle of something when an agent is attached -----------------------------------------

    /** All wait at the bottom; then each level calls before it returns. */
    static void lateDeep(int n) {
        if (n == 0) {
            OtherGate.pass();
        } else {
            lateDeep(n - 1);
        }
        branch(n);
        caught(1);
    }

    static void lateLoop(int n) {
        OtherGate.pass();
        for (int i = 0; i < n; i++) {
            leaf(i);
            if (i % 1000 == 0) {
                branch(i);
            }
        }
    }

    static void lateLoops() {
        lateLoop(20_000);
        caught(2);
        lateDone();
    }

    static void lateDone() {
        leaf(3);
    }

    static void lateFail(int n) {
        if (n > 0) {
            lateFail(n - 1);
        }
        OtherGate.pass();
        throw new Thrown();
    }

    /** An exception ends activations from before. */
    static void lateCatch() {
        try {
            lateFail(3);
        } catch (Thrown e) {
            leaf(2);
        }
        caught(2);
    }

    /** Code without probes calls back. */
    static int lateCallback() {
        int sum = OtherCaller.twice(n -> {
            OtherGate.pass();
            return leaf(n);
        }, 1);
        List<Integer> numbers = new ArrayList<>(Arrays.asList(5, 2, 9, 1, 7));
        numbers.sort((a, b) -> leaf(a) - leaf(b));
        return sum + lateReflected(4);
    }

    static int lateReflected(int n) {
        try {
            return (int) Calls.class.getDeclaredMethod("branch", int.class).invoke(null, n);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    static final class Late {
        static final int VALUE = make();

        static int make() {
            OtherGate.pass();
            return leaf(1) + First.VALUE;
        }
    }

    static int lateInitialiser() {
        return Late.VALUE + branch(2);
    }

    /** Allocations of an activation from before are its own. */
    static void lateMakes(int n) {
        OtherGate.pass();
        // The JVM does not report the first ones: 512 KiB on average, and once in some thousand times more than 4 MB.
        makes(8 * n);
        for (int i = 0; i < n; i++) {
            last = new byte[1000];
        }
        leaf(n);
        for (int i = 0; i < n; i++) {
            last = new byte[1000];
        }
    }

    static void lateNaps(int millis) {
        OtherGate.pass();
        leaf(1);
        OtherGate.sleep(millis);
        leaf(2);
    }

    /** Waits in code without probes, below which nothing has begun. */
    static final class Idle implements Runnable {
        @Override
        public void run() {
            lateDeep(0);
        }
    }

    static void late(boolean goesOn, boolean virtual) throws Exception {
        Runnable[] jobs = {() -> lateDeep(5), Calls::lateLoops, Calls::lateCatch, Calls::lateCallback, Calls::lateInitialiser, new Idle(),
            () -> lateDeep(300), OtherGate::passAndWork, () -> lateMakes(2000), () -> lateNaps(60)};
        OtherGate.close(jobs.length);
        List<Thread> all = new ArrayList<>();
        for (Runnable job : jobs) {
            if (virtual) {
                all.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, job));
            } else {
                all.add(new Thread(job));
                all.get(all.size() - 1).start();
            }
        }
        OtherGate.await();
        System.out.println("ready");
        System.in.read();
        if (!goesOn) {
            System.exit(0);
        }
        OtherGate.open();
        for (Thread thread : all) {
            thread.join();
        }
        work(1);
        threads(2);
    }

    public static void main(String[] arguments) throws Exception {
        int n = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1;
        switch (arguments[0]) {
            case "all":
                for (int i = 0; i < n; i++) {
                    int sum = branch(i) + fib(8) + caught(4) + implicit(new int[] {1}, i) + callbacks() + swallowed()
                        + constructed() + swallowedConstructors() + reflected() + initialised() + locked(Kind.A)
                        + locked(Kind.B);
                    System.out.println(sum);
                }
                threads(4);
                break;
            case "native":
                System.load(System.getProperty("native"));
                for (int i = 0; i < n; i++) {
                    System.out.println(throughNative(i));
                }
                break;
            case "along":
                System.out.println(alongAll(n));
                break;
            case "makes":
                makes(n);
                makesMore(n);
                break;
            case "naps":
                naps(n);
                napsTwice(n);
                break;
            case "virtual":
                virtual(n);
                break;
            case "deep":
                inThread(() -> deep(n), 4L << 30);
                inThread(() -> deepThrow(n), 4L << 30);
                break;
            case "overflow":
                inThread(Calls::overflows, 1 << 20);
                break;
            case "late":
                late(n != 0, arguments.length > 2);
                System.out.println("over");
                break;
            case "obey":
                obey(0);
                System.out.println("over");
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
    }
}

/** Begins when the test says so. */
class OtherStart {
    public static void main(String[] arguments) throws Exception {
        System.out.println("ready");
        System.in.read();
        Calls.main(arguments);
    }
}

class OtherCaller {
    static int twice(IntUnaryOperator f, int n) {
        return f.applyAsInt(n) + f.applyAsInt(n + 1);
    }

    static int swallow(Supplier<Integer> fails, Supplier<Integer> works) {
        int sum = 0;
        for (int i = 0; i < 3; i++) {
            try {
                sum += fails.get();
            } catch (RuntimeException e) {
                sum += works.get();
            }
            sum += works.get();
        }
        return sum;
    }
}

/** Where threads wait for the test. */
class OtherGate {
    private static CountDownLatch arrived;
    private static final CountDownLatch GO = new CountDownLatch(1);
    private static final ThreadLocal<Boolean> PASSED = new ThreadLocal<>();

    static void close(int threads) {
        arrived = new CountDownLatch(threads);
    }

    static void await() throws InterruptedException {
        arrived.await();
    }

    static void open() {
        GO.countDown();
    }

    /** Waits, the first time that a thread calls it. */
    static void pass() {
        if (PASSED.get() == null) {
            PASSED.set(true);
            arrived.countDown();
            try {
                GO.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static void sleep(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void passAndWork() {
        pass();
        Calls.work(2);
    }
}

class OtherBase {
    OtherBase(int n) {
        called();
        called();
    }

    void called() {
    }
}
