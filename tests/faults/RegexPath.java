import java.util.regex.Pattern;

/** A log parser that compiles a pattern for the few lines with quotes. */
public class RegexPath {
    static final class Parser {
        private int bad;

        int parse(String line) {
            int level = level(line);
            if (line.indexOf('"') >= 0) { // cause: yes, time
                line = unquote(line);
            }
            int fields = fields(line);
            if (fields < 2) {
                bad++;
            }
            return fields * 8 + level;
        }

        private int fields(String line) {
            int fields = 0;
            for (int i = 0; i < line.length(); i++) {
                if (line.charAt(i) == ' ') {
                    fields++;
                }
            }
            return fields;
        }

        private int level(String line) {
            if (line.startsWith("INFO")) {
                return 1;
            }
            return line.startsWith("WARN") ? 2 : 3;
        }

        private String unquote(String line) {
            return Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(line).replaceAll("<$1>");
        }
    }

    public static void main(String[] args) {
        String[] lines = new String[50];
        for (int i = 0; i < 50; i++) {
            lines[i] = (i % 9 == 0 ? "WARN" : "INFO") + " server-" + i + " request took " + i * 13 + " ms for user " + i % 7;
        }
        lines[0] += " agent=\"Mozilla/5.0 (X11; Linux) says \\\"hello\\\" to all\"";
        Parser parser = new Parser();
        Background background = new Background();
        Truth truth = new Truth();
        int rounds = Truth.rounds(args, 150_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 50);
            long before = Truth.now();
            for (int j = 1; j < 50; j++) {
                sum += parser.parse(lines[j]);
            }
            truth.add(0, 49, before);
            before = Truth.now();
            sum += parser.parse(lines[0]);
            truth.add(1, 1, before);
            truth.leave(sum);
        }
        truth.print();
    }
}
