import java.util.ArrayList;
import java.util.List;

/** Work of the ordinary kind that each program does between its requests: some tenths of its time, with hot loops and branches of its own. */
final class Background {
    private static final String TEXT = "GET /orders/4711?expand=lines,customer&limit=20 HTTP/1.1 accept=application/json; q=0.8";
    private final int[] heap = new int[256];
    private final List<String> names = new ArrayList<>();
    private int seed = 17;

    long steps(int round, int count) {
        long sum = 0;
        for (int i = 0; i < count; i += 6) {
            sum += tokens(TEXT, round + i);
            sum += sorted(40 + round % 24);
            sum += format(round);
        }
        return sum;
    }

    private int next() {
        seed = seed * 1103515245 + 12345;
        return seed >>> 8;
    }

    private int tokens(String text, int round) {
        int tokens = 0;
        int i = 0;
        while (i < text.length()) {
            char c = text.charAt(i);
            if (Character.isLetter(c)) {
                while (i < text.length() && Character.isLetterOrDigit(text.charAt(i))) {
                    i++;
                }
                tokens++;
            } else if (Character.isDigit(c)) {
                int value = 0;
                while (i < text.length() && Character.isDigit(text.charAt(i))) {
                    value = value * 10 + (text.charAt(i) - '0');
                    i++;
                }
                tokens += value % 7 == round % 7 ? 2 : 1;
            } else {
                i++;
            }
        }
        return tokens;
    }

    private long sorted(int count) {
        for (int i = 0; i < count; i++) {
            int value = next();
            int at = i;
            while (at > 0 && heap[at - 1] > value) {
                heap[at] = heap[at - 1];
                at--;
            }
            heap[at] = value;
        }
        return heap[count / 2];
    }

    private int format(int round) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < 12; i++) {
            if (i > 0) {
                out.append(',');
            }
            out.append(round + i);
        }
        if (names.size() < 64) {
            names.add(out.toString());
        }
        return out.length() + names.get(round % names.size()).length();
    }
}
