import java.util.Map;
import java.util.TreeMap;

/** Requests that are traced are described in full before a logger that is off throws the text away. */
public class LogGuard {
    static final class Log {
        private final boolean on = false;
        private long dropped;

        void debug(String text) {
            if (on) {
                System.out.println(text);
            } else {
                dropped += text.length();
            }
        }
    }

    static final class Handler {
        private final Log log = new Log();
        private final Map<String, Integer> headers = new TreeMap<>();

        Handler() {
            for (int i = 0; i < 40; i++) {
                headers.put("x-header-" + i, i * 31);
            }
        }

        int handle(int request, boolean traced) {
            int status = 200;
            if (request % 101 == 0) {
                status = 404;
            }
            if (traced) { // cause: yes, time
                log.debug(describe(request));
            }
            return status + (check(request) & 1);
        }

        private int check(int request) {
            int sum = 0;
            for (int i = 0; i < 50; i++) {
                sum += request >>> (i & 15);
            }
            return sum;
        }

        private String describe(int request) {
            StringBuilder text = new StringBuilder("request ").append(request);
            for (Map.Entry<String, Integer> header : headers.entrySet()) {
                text.append(header.getKey()).append('=').append(header.getValue()).append("; ");
            }
            return text.toString();
        }
    }

    public static void main(String[] args) {
        Handler handler = new Handler();
        Background background = new Background();
        Truth truth = new Truth();
        boolean[] traced = new boolean[30];
        traced[0] = true;
        int rounds = Truth.rounds(args, 220_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 30);
            long before = Truth.now();
            for (int j = 1; j < 30; j++) {
                sum += handler.handle(i + j, traced[j]);
            }
            truth.add(0, 29, before);
            before = Truth.now();
            sum += handler.handle(i, traced[0]);
            truth.add(1, 1, before);
            truth.leave(sum);
        }
        truth.print();
    }
}
