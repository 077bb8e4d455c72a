import java.util.Arrays;

/** A table is searched by halves as long as it is sorted; one insertion in front, and it is read from the start for ever. */
public class FastPath {
    static final class Table {
        private final int[] keys;
        private boolean sorted;

        Table(int[] keys) {
            this.keys = keys;
            this.sorted = true;
            for (int i = 1; i < keys.length; i++) {
                if (keys[i - 1] > keys[i]) {
                    sorted = false;
                }
            }
        }

        int find(int key) {
            if (sorted) { // cause: no, time
                return Arrays.binarySearch(keys, key);
            }
            return scan(key);
        }

        private int scan(int key) {
            for (int i = 0; i < keys.length; i++) {
                if (keys[i] == key) {
                    return i;
                }
            }
            return -1;
        }
    }

    public static void main(String[] args) {
        Table[] tables = new Table[30];
        for (int i = 0; i < 30; i++) {
            int[] keys = new int[3000];
            for (int j = 0; j < keys.length; j++) {
                keys[j] = j * 4;
            }
            if (i == 0) {
                keys[0] = 5;
            }
            tables[i] = new Table(keys);
        }
        Background background = new Background();
        Truth truth = new Truth();
        int rounds = Truth.rounds(args, 600_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 6);
            long before = Truth.now();
            for (int j = 1; j < 30; j++) {
                sum += tables[j].find((i * 31 + j) % 12000) & 7;
            }
            truth.add(0, 29, before);
            before = Truth.now();
            sum += tables[0].find((i * 31) % 12000) & 7;
            truth.add(1, 1, before);
            truth.leave(sum);
        }
        truth.print();
    }
}
