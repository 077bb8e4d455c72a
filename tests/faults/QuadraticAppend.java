/** Rows with a note are joined by a string that is copied for each of them. */
public class QuadraticAppend {
    record Row(String name, int price, String note) {}

    static final class Report {
        int render(Row[] rows) {
            StringBuilder text = new StringBuilder();
            String notes = "";
            for (Row row : rows) {
                text.append(row.name()).append(' ').append(row.price()).append('\n');
                if (row.note() != null) { // cause: yes
                    notes = notes + row.name() + ": " + row.note() + "\n";
                }
            }
            return text.length() + notes.length();
        }
    }

    public static void main(String[] args) {
        Row[][] sheets = new Row[20][];
        for (int i = 0; i < 20; i++) {
            sheets[i] = new Row[120];
            for (int j = 0; j < 120; j++) {
                sheets[i][j] = new Row("article-" + j, i * j, i == 0 ? "to be ordered again at the end of this month, see list " + j : null);
            }
        }
        Report report = new Report();
        Background background = new Background();
        Truth truth = new Truth();
        int rounds = Truth.rounds(args, 14_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 20);
            long before = Truth.now();
            for (int j = 1; j < 20; j++) {
                sum += report.render(sheets[j]);
            }
            truth.add(0, 19, before);
            before = Truth.now();
            sum += report.render(sheets[0]);
            truth.add(1, 1, before);
            truth.leave(sum);
        }
        truth.print();
    }
}
