package trodden.kernels;

/**
 * A loop in a loop with a return out of the inner one (the control flow of SPP's figure 1): do groups { while
 * items { if wanted return } } while more.
 */
final class NestedReturn implements Kernel {
    private static final int GROUPS = 64;
    private static final int CALLS = 150_000;

    private final int[][] groups = groups();

    @Override
    public String name() {
        return "nestedreturn";
    }

    @Override
    public long run() {
        Rng random = new Rng(13);
        long sum = 0;
        for (int call = 0; call < CALLS; call++) {
            sum = Checks.mix(sum, find(wanted(random)));
        }
        return sum;
    }

    /** The same answers out of an index made beforehand. */
    @Override
    public long expected() {
        int[] first = new int[1024];
        java.util.Arrays.fill(first, -1);
        for (int group = GROUPS - 1; group >= 0; group--) {
            for (int at = groups[group].length - 1; at >= 0; at--) {
                first[groups[group][at]] = group * 1000 + at;
            }
        }
        Rng random = new Rng(13);
        long sum = 0;
        for (int call = 0; call < CALLS; call++) {
            sum = Checks.mix(sum, first[wanted(random)]);
        }
        return sum;
    }

    private int find(int wanted) {
        int group = 0;
        do {
            int[] items = groups[group];
            int at = 0;
            while (at < items.length) {
                if (items[at] == wanted) {
                    return group * 1000 + at;
                }
                at++;
            }
            group++;
        } while (group < GROUPS);
        return -1;
    }

    private static int wanted(Rng random) {
        return random.nextInt(1024);
    }

    private static int[][] groups() {
        Rng random = new Rng(12);
        int[][] groups = new int[GROUPS][];
        for (int group = 0; group < GROUPS; group++) {
            // Mostly short groups, some empty, so that the inner loop's trip count varies.
            groups[group] = new int[random.nextInt(8) == 0 ? 0 : 4 + random.nextInt(200)];
            for (int at = 0; at < groups[group].length; at++) {
                groups[group][at] = random.nextInt(1000);
            }
        }
        return groups;
    }
}
