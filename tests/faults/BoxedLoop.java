import java.util.ArrayList;
import java.util.List;

/** Sums of weighted series are boxed, the other ones are not. */
public class BoxedLoop {
    static final class Series {
        final int[] values;
        final boolean weighted;

        Series(int[] values, boolean weighted) {
            this.values = values;
            this.weighted = weighted;
        }
    }

    static final class Statistics {
        long total(Series series) {
            if (series.weighted) { // cause: yes, time
                return boxed(series.values);
            }
            return plain(series.values);
        }

        private long plain(int[] values) {
            long sum = 0;
            for (int value : values) {
                if (value > 0) {
                    sum += value;
                }
            }
            return sum;
        }

        private long boxed(int[] values) {
            List<Long> parts = new ArrayList<>();
            Long sum = 0L;
            for (int value : values) {
                sum += value * 3L;
                parts.add(sum);
            }
            for (Long part : parts) {
                sum += part % 5;
            }
            return sum;
        }
    }

    public static void main(String[] args) {
        Series[] all = new Series[25];
        for (int i = 0; i < 25; i++) {
            int[] values = new int[400];
            for (int j = 0; j < values.length; j++) {
                values[j] = (i * 7919 + j * 104729) % 2000 - 300;
            }
            all[i] = new Series(values, i == 0);
        }
        Statistics statistics = new Statistics();
        Background background = new Background();
        Truth truth = new Truth();
        int rounds = Truth.rounds(args, 120_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 25);
            long before = Truth.now();
            for (int j = 1; j < 25; j++) {
                sum += statistics.total(all[j]);
            }
            truth.add(0, 24, before);
            before = Truth.now();
            sum += statistics.total(all[0]);
            truth.add(1, 1, before);
            truth.leave(sum);
        }
        truth.print();
    }
}
