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
