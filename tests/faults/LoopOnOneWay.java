import java.util.Arrays;

/** A table that is not sorted is read from its start, in a loop that only this way leads to, with another one after both. */
public class LoopOnOneWay {
    static final class Table {
        private final int[] keys;
        private final boolean sorted;

        Table(int[] keys, boolean sorted) {
            this.keys = keys;
            this.sorted = sorted;
        }

        int find(int key) {
            int found = -1;
            if (sorted) { // cause: no, time
                found = Arrays.binarySearch(keys, key);
            } else {
                for (int i = 0; i < keys.length; i++) {
                    if (keys[i] == key) {
                        found = i;
                        break;
                    }
                }
            }
            int bits = 0;
            while (key != 0) {
                bits += key & 1;
                key >>>= 1;
            }
            return found + bits;
        }
    }

    public static void main(String[] args) {
        Table[] tables = new Table[30];
        for (int i = 0; i < 30; i++) {
            int[] keys = new int[12000];
            for (int j = 0; j < keys.length; j++) {
                keys[j] = j * 4;
            }
            if (i == 0) {
                keys[0] = 5;
            }
            tables[i] = new Table(keys, i > 0);
        }
        Background background = new Background();
        Truth truth = new Truth();
        int rounds = Truth.rounds(args, 300_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 6);
            long before = Truth.now();
            for (int j = 1; j < 30; j++) {
                sum += tables[j].find((i * 31 + j) % 48000) & 7;
            }
            truth.add(0, 29, before);
            before = Truth.now();
            sum += tables[0].find((i * 31) % 48000) & 7;
            truth.add(1, 1, before);
            truth.leave(sum);
        }
        truth.print();
    }
}
