import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Paths that do not come to their end: exceptions through several calls, `finally` in all its copies, and System.exit in the middle of both. */
public class Ends {
    static int closed;

    static final class Resource implements AutoCloseable {
        final int number;

        Resource(int number) {
            if (number % 7 == 6) {
                throw new IllegalArgumentException("no " + number);
            }
            this.number = number;
        }

        @Override
        public void close() {
            closed++;
            if (number % 5 == 4) {
                throw new IllegalStateException("cannot close " + number);
            }
        }
    }

    /** Constructors whose calls of others throw: of `super`, of `this`, through several of them, before a loop of its own, and in an argument. */
    static class Base {
        final int size;

        Base(int size) {
            if (size % 3 == 0) {
                throw new IllegalArgumentException("size " + size);
            }
            this.size = size;
        }

        Base(String size) {
            this(Integer.parseInt(size));
        }
    }

    static class Derived extends Base {
        int sum;

        Derived(int size) {
            super(size + 1);
            for (int i = 0; i < size; i++) {
                sum += i % 2 == 0 ? i : 1;
            }
        }

        Derived(String size) {
            this(size, 1);
        }

        Derived(String size, int times) {
            super(size);
            sum = times;
        }
    }

    static int made(int n) {
        try {
            int sum = new Derived(n).sum;
            return sum + new Derived(n % 4 == 0 ? "x" : "" + n).size;
        } catch (NumberFormatException e) {
            return 1;
        } catch (IllegalArgumentException e) {
            return 2;
        }
    }

    static int use(int n) {
        try (Resource outer = new Resource(n); Resource inner = new Resource(n + 1)) {
            return 100 / (outer.number % 3) + inner.number;
        } catch (ArithmeticException e) {
            return -e.getSuppressed().length;
        } finally {
            closed += n % 2 == 0 ? 1 : 2;
        }
    }

    static int deep(int n, List<Integer> list) {
        try {
            if (n == 0) {
                Iterator<Integer> all = list.iterator();
                while (all.hasNext()) {
                    if (all.next() > 2) {
                        list.remove(0);
                    }
                }
            }
            return deep(n - 1, list) + 1;
        } finally {
            for (int i = 0; i < n % 4; i++) {
                closed++;
            }
        }
    }

    static void leave(int n) {
        try {
            for (int i = 0;; i++) {
                if (i * i > n) {
                    System.exit(closed > 0 ? 0 : 1);
                }
                closed += i;
            }
        } finally {
            closed = -1;
        }
    }

    public static void main(String[] args) {
        for (int n = 0; n < 60; n++) {
            try {
                closed += use(n);
            } catch (IllegalArgumentException | IllegalStateException e) {
                closed += e.getMessage().length();
            }
            closed += made(n);
            try {
                deep(n % 9, new ArrayList<>(List.of(1, 2, 3, 4, 5)));
            } catch (RuntimeException e) {
                closed++;
            }
        }
        System.out.println(closed);
        leave(500);
    }
}
