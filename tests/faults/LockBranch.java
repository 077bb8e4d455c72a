import java.util.concurrent.locks.ReentrantLock;

/** Shared counters are brought up to date under a lock that also checks the whole table; own ones are not. */
public class LockBranch {
    static final class Counters {
        private final ReentrantLock lock = new ReentrantLock();
        private final long[] shared = new long[2048];
        private final long[] own = new long[64];

        long add(int key, boolean isShared) {
            int slot = key & 63;
            own[slot] += key;
            if (own[slot] < 0) {
                own[slot] = 0;
            }
            if (isShared) { // cause: yes, time
                lock.lock();
                try {
                    shared[key & 2047] += key;
                    return balance();
                } finally {
                    lock.unlock();
                }
            }
            return own[slot];
        }

        private long balance() {
            long sum = 0;
            for (long value : shared) {
                sum += value % 97;
            }
            return sum;
        }
    }

    public static void main(String[] args) {
        Counters counters = new Counters();
        Background background = new Background();
        Truth truth = new Truth();
        boolean[] isShared = new boolean[40];
        isShared[0] = true;
        int rounds = Truth.rounds(args, 250_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 40);
            long before = Truth.now();
            for (int j = 1; j < 40; j++) {
                sum += counters.add(i + j, isShared[j]) & 7;
            }
            truth.add(0, 39, before);
            before = Truth.now();
            sum += counters.add(i, isShared[0]) & 7;
            truth.add(1, 1, before);
            truth.leave(sum);
        }
        truth.print();
    }
}
