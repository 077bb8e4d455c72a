import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Methods that are too large for a probe in front of each call, or for any. The test writes the statement of a line
 * {@code //@ N STATEMENT} N times.
 */
public final class CallsLarge {
    static final class Thrown extends RuntimeException {
        Thrown() {
            super(null, null, false, false);
        }
    }

    static int leaf(int i) {
        return i + 1;
    }

    static int fails(int i) {
        if (i % 3 == 0) {
            throw new Thrown();
        }
        return leaf(i);
    }

    static class Base {
        static int value;

        Base(int i) {
            leaf(i);
            if (i % 2 == 0) {
                throw new Thrown();
            }
        }
    }

    /** Dies in {@code super(…)}, where no handler of ours can be. */
    static final class Dying extends Base {
        Dying(int i) {
            super(fails(i));
            leaf(i);
        }
    }

    static int reflected(int i) throws ReflectiveOperationException {
        return Dying.class.getDeclaredConstructor(int.class).newInstance(i) == null ? 0 : leaf(i);
    }

    // ---- without call sites ----------------------------------------------------------------------------------------

    static int siteless(int n) {
        int sum = n;
        try {
            sum += fails(n);
        } catch (Thrown e) {
            sum += leaf(1);
        } finally {
            sum += leaf(2);
        }
        for (int i = 0; i < 4; i++) {
            try {
                sum += new Dying(n + i) == null ? 0 : leaf(i);
            } catch (Thrown e) {
                sum += leaf(3);
                sum += leaf(4);
            }
            try {
                sum += (int) Dying.class.getDeclaredConstructor(int.class).newInstance(n + i).value;
            } catch (InvocationTargetException e) {
                sum += leaf(5);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
            try {
                sum += reflected(n + i);
            } catch (InvocationTargetException e) {
                sum += leaf(6);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }
        List<Integer> numbers = new ArrayList<>(Arrays.asList(5, 2, 9, 1, 7));
        numbers.sort((a, b) -> leaf(a) - leaf(b));
        sum += Optional.of(n).map(CallsLarge::leaf).get() + numbers.get(0);
        try {
            synchronized (numbers) {
                sum += n > 0 ? siteless(n - 1) : leaf(n);
            }
        } catch (Thrown e) {
            sum += leaf(7);
        }
        //@ 700 sum = leaf(sum);
        if (n % 2 == 1) {
            throw new Thrown();
        }
        return sum;
    }

    /** Larger than 8,000 bytes without probes. */
    static int huge(int n) {
        int sum = n;
        try {
            sum += fails(n);
        } catch (Thrown e) {
            sum += leaf(1);
        }
        //@ 10000 sum = leaf(sum);
        return sum + fails(n);
    }

    static final class Wide extends Base {
        Wide(int i) {
            super(fails(i));
            //@ 500 value = leaf(value);
            if (i % 5 == 0) {
                throw new Thrown();
            }
        }
    }

    static final class Looping {
        static int value;

        static {
            for (int i = 1; i < 5; i++) {
                try {
                    value = leaf(value) + new Dying(i).hashCode() * 0;
                } catch (Thrown e) {
                    value += leaf(i);
                }
            }
            //@ 500 value = leaf(value);
        }
    }

    static final class Broken {
        static int value;

        static {
            for (int i = 1; i < 3; i++) {
                value = leaf(value);
            }
            //@ 500 value = leaf(value);
            fails(3);
        }
    }

    // ---- with call sites: no loop, so its size does not matter -----------------------------------------------------

    static final class Straight {
        static int value = Looping.value;

        static {
            try {
                value += fails(3);
            } catch (Thrown e) {
                value += leaf(1);
            }
            //@ 500 value = leaf(value);
        }
    }

    // ---- left alone ------------------------------------------------------------------------------------------------

    static int alone(int n) {
        int sum = n;
        //@ 1597 sum = leaf(sum);
        return sum;
    }

    static int tooLarge(int n) {
        int sum = n;
        //@ 13105 sum = leaf(sum);
        return sum;
    }

    // ----------------------------------------------------------------------------------------------------------------

    static int all(int n) {
        int sum = leaf(n);
        try {
            sum += siteless(n % 4);
        } catch (Thrown e) {
            sum += leaf(1);
        }
        for (int i = 0; i < 6; i++) {
            try {
                sum += new Wide(i) == null ? 0 : leaf(i);
            } catch (Thrown e) {
                sum += leaf(2);
            }
        }
        try {
            sum += huge(n);
        } catch (Thrown e) {
            sum += leaf(3);
        }
        try {
            sum += Straight.value + Broken.value;
        } catch (LinkageError e) {
            sum += leaf(4);
        }
        return sum + alone(n) + tooLarge(n);
    }

    public static void main(String[] arguments) throws InterruptedException {
        int n = Integer.parseInt(arguments[0]);
        for (int i = 0; i < n; i++) {
            System.out.println(all(i));
        }
        Thread thread = new Thread(() -> System.out.println(all(3)));
        thread.start();
        thread.join();
    }
}
