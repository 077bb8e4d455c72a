import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import trodden.PathFeedback;

/** Checks {@link PathFeedback} on work whose paths are known. Prints what is wrong, or how much was right. */
public class Feedback {
    /** Only this class has probes. */
    static class Work {
        /** 32 paths. */
        static int few(int mask) {
            int sum = 0;
            if ((mask & 1) != 0) {
                sum += 1;
            }
            if ((mask & 2) != 0) {
                sum += 2;
            }
            if ((mask & 4) != 0) {
                sum += 3;
            }
            if ((mask & 8) != 0) {
                sum += 4;
            }
            if ((mask & 16) != 0) {
                sum += 5;
            }
            return sum;
        }

        /** 16,384 paths: counted by hash. */
        static int many(int mask) {
            int sum = 0;
            if ((mask & 1) != 0) {
                sum += 1;
            }
            if ((mask & 2) != 0) {
                sum += 2;
            }
            if ((mask & 4) != 0) {
                sum += 3;
            }
            if ((mask & 8) != 0) {
                sum += 4;
            }
            if ((mask & 16) != 0) {
                sum += 5;
            }
            if ((mask & 32) != 0) {
                sum += 6;
            }
            if ((mask & 64) != 0) {
                sum += 7;
            }
            if ((mask & 128) != 0) {
                sum += 8;
            }
            if ((mask & 256) != 0) {
                sum += 9;
            }
            if ((mask & 512) != 0) {
                sum += 10;
            }
            if ((mask & 1024) != 0) {
                sum += 11;
            }
            if ((mask & 2048) != 0) {
                sum += 12;
            }
            if ((mask & 4096) != 0) {
                sum += 13;
            }
            if ((mask & 8192) != 0) {
                sum += 14;
            }
            return sum;
        }

        /** An exception leaves it in the middle, for one value of its argument. */
        static int divide(int by) {
            int more = by < 3 ? 1 : 2;
            int result = 12 / by;
            return result > 3 ? result + more : result;
        }

        /** {@code number} turns of a loop, one of two ways. */
        static int turns(int number, boolean odd) {
            int sum = 0;
            for (int i = 0; i < number; i++) {
                sum += odd ? 1 : 2;
            }
            return sum;
        }
    }

    static final PathFeedback PATHS = new PathFeedback(1 << 20);
    static int right;

    static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
        right++;
    }

    static long[] of(Runnable work) {
        check(PATHS.begin(), "begins");
        try {
            work.run();
        } catch (ArithmeticException e) {
            // As wanted.
        }
        check(PATHS.end(), "ends");
        long[] bits = PATHS.bitmap();
        int[] seen = {0, -1};
        PATHS.forEach(bit -> {
            check(bit > seen[1] && (bits[bit >> 6] & 1L << bit) != 0, "bit " + bit);
            seen[0]++;
            seen[1] = bit;
        });
        check(seen[0] == PATHS.count(), "number of bits");
        return bits;
    }

    static void distinguishes(int numbers, java.util.function.IntConsumer work) {
        int before = PATHS.countOfAll();
        Set<String> all = new HashSet<>();
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < numbers; i++) {
                int mask = i * 7 % numbers;
                long[] bits = of(() -> work.accept(mask));
                check(PATHS.count() == 1, "one path, not " + PATHS.count());
                check(PATHS.hasNew() == (round == 0), "new at first only");
                all.add(Arrays.toString(bits));
            }
        }
        check(all.size() == numbers && PATHS.countOfAll() == before + numbers, all.size() + " of " + numbers);
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("off")) {
            check(!PATHS.begin() & !PATHS.end() & PATHS.count() == 0 & !PATHS.hasNew(), "off");
            System.out.println("off");
            return;
        }
        Work.few(0);
        distinguishes(32, Work::few);
        distinguishes(300, Work::many);
        check(Arrays.equals(of(() -> Work.few(3)), of(() -> Work.few(3))), "the same again");
        check(of(() -> { })[0] == 0 && PATHS.count() == 0 && !PATHS.hasNew(), "nothing");

        // Two paths end, or three; how often does not matter.
        long[] twice = of(() -> Work.turns(2, true));
        check(Arrays.equals(twice, of(() -> Work.turns(200, true))), "more turns");
        check(!Arrays.equals(twice, of(() -> Work.turns(2, false))), "the other way");

        if (args.length > 0 && args[0].equals("cuts")) {
            long[] whole = of(() -> Work.divide(2));
            long[] cut = of(() -> Work.divide(0));
            check(PATHS.count() == 1 && PATHS.hasNew(), "cut by an exception: " + PATHS.count());
            check(!Arrays.equals(whole, cut) && Arrays.equals(cut, of(() -> Work.divide(0))), "cut paths");
            check(!PATHS.hasNew(), "the same cut again");
        }

        // Of another thread nothing is seen, nor does it see anything of this one.
        PathFeedback other = new PathFeedback(64);
        PATHS.begin();
        Thread thread = new Thread(() -> {
            other.begin();
            Work.few(31);
            check(other.end() && other.count() == 1, "another thread");
        });
        thread.start();
        thread.join();
        Work.few(1);
        PATHS.end();
        check(PATHS.count() == 1, "only of this thread");
        check(Arrays.equals(PATHS.bitmap(), of(() -> Work.few(1))), "only its own");

        // Virtual threads have no counts of their own.
        if (Runtime.version().feature() >= 21) {
            boolean[] known = {true};
            Thread virtual = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> {
                known[0] = other.begin() | other.end();
            });
            virtual.join();
            check(!known[0] && other.count() == 0, "a virtual thread");
        }

        for (int bits : new int[] {0, 32, 100, -64, 1 << 27}) {
            try {
                new PathFeedback(bits);
                check(false, bits + " bits");
            } catch (IllegalArgumentException e) {
                check(e.getMessage().startsWith(bits + " bits: it has to be a power of two"), e.getMessage());
            }
        }
        System.out.println("right: " + right);
    }
}
