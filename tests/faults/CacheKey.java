import java.util.HashMap;
import java.util.Map;

/** A cache of tax tables whose key keeps the case of a region that the table does not have: one region in 40 misses each time. */
public class CacheKey {
    record Key(String region, int year) {}

    static final class Tables {
        private final Map<Key, int[]> tables = new HashMap<>();
        private int stored;

        int[] lookup(String region, int year) {
            int[] table = tables.get(new Key(region, year));
            if (table != null) { // cause: no, time
                return table;
            }
            table = load(region, year);
            tables.put(new Key(region.toLowerCase(), year), table);
            stored++;
            return table;
        }

        private int[] load(String region, int year) {
            int[] table = new int[3000];
            int rate = region.length() * 31 + year;
            for (int i = 0; i < table.length; i++) {
                rate = rate * 1103515245 + 12345;
                table[i] = (rate >>> 16) % 100;
            }
            return table;
        }
    }

    private final Tables tables = new Tables();

    int price(int[] table, int amount) {
        int tax = 0;
        for (int i = 0; i < 60; i++) {
            tax += table[(amount + i * 7) % table.length];
        }
        return amount + tax;
    }

    public static void main(String[] args) {
        CacheKey shop = new CacheKey();
        Background background = new Background();
        Truth truth = new Truth();
        String[] regions = new String[40];
        for (int i = 0; i < 40; i++) {
            regions[i] = i == 0 ? "Bavaria" : "region-" + i;
        }
        int rounds = Truth.rounds(args, 100_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 40);
            long before = Truth.now();
            int[] table = null;
            for (int j = 1; j < 40; j++) {
                table = shop.tables.lookup(regions[j], 2026);
            }
            truth.add(0, 39, before);
            before = Truth.now();
            int[] missed = shop.tables.lookup(regions[0], 2026);
            truth.add(1, 1, before);
            sum += shop.price(table, i % 9000) + shop.price(missed, i % 9000);
            truth.leave(sum);
        }
        truth.print();
    }
}
