/**
 * Arguments: MILLISECONDS THREADS. Overflows its stack through synchronized methods, over and over, and catches that: at the
 * top, deep inside, past blocks that run at the end, and beside exceptions that pass many frames.
 */
public final class Overflows {
    interface Step {
        int go(Overflows on, int n);
    }

    static final class Plain implements Step {
        @Override
        public synchronized int go(Overflows on, int n) {
            return on.down(n + 1) + 1;
        }
    }

    static final class Final implements Step {
        @Override
        public synchronized int go(Overflows on, int n) {
            try {
                return on.down(n + 1) + 2;
            } finally {
                on.passed++;
            }
        }
    }

    static final class Block implements Step {
        @Override
        public int go(Overflows on, int n) {
            synchronized (on) {
                return on.down(n + 1) ^ 3;
            }
        }
    }

    private final Step[] steps = {new Plain(), new Final(), new Block()};
    private int passed;
    /** Stacks that overflowed, or exceptions that passed many frames. */
    private int caught;
    private long sum;

    synchronized int down(int n) {
        int k = n * 31 % 7;
        if (k < 0) {
            throw new IllegalStateException();
        }
        return steps[k % steps.length].go(this, n);
    }

    synchronized int guarded(int n) {
        try {
            return n > 2000 ? down(n) : guarded(n + 1) + 1;
        } catch (StackOverflowError e) {
            passed++;
            return n;
        }
    }

    static synchronized int even(int n) {
        return n % 2 == 0 ? even(n + 1) + 1 : new Overflows().odd(n + 1);
    }

    synchronized int odd(int n) {
        return even(n + 1) * 3;
    }

    int thrower(int n) {
        if (n == 0) {
            throw new IllegalArgumentException();
        }
        return thrower(n - 1) + 1;
    }

    private void rounds(int first, long end) {
        for (int round = first; System.currentTimeMillis() < end; round++) {
            try {
                sum += switch (round % 4) {
                    case 0 -> down(1);
                    case 1 -> guarded(1);
                    case 2 -> even(1);
                    default -> thrower(50);
                };
            } catch (StackOverflowError | IllegalArgumentException e) {
                passed++;
                caught++;
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        long end = System.currentTimeMillis() + Integer.parseInt(arguments[0]);
        Thread[] all = new Thread[Integer.parseInt(arguments[1])];
        Overflows[] of = new Overflows[all.length];
        int caught = 0;
        for (int i = 0; i < all.length; i++) {
            int first = i;
            of[i] = new Overflows();
            all[i] = new Thread(() -> of[first].rounds(first, end));
            all[i].start();
        }
        for (int i = 0; i < all.length; i++) {
            all[i].join();
            caught += of[i].caught;
        }
        System.out.println("caught " + caught);
    }
}
