package pairs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads lines of a log, counts them by agent and hour, and sorts what it found. */
public class Logs {
    private final Set<String> blocked = new HashSet<>();
    private final Map<String, int[]> agents = new HashMap<>();
    private final int[] hours = new int[24];
    private long seed = 7;
    private int broken;

    public static void main(String[] args) {
        Logs logs = new Logs();
        for (int i = 0; i < 300; i++) {
            logs.blocked.add("10.0." + i / 20 + "." + i % 20);
        }
        long sum = 0;
        if (args[0].equals("time")) {
            long end = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
            while (System.nanoTime() < end) {
                sum += logs.file(500);
            }
        } else {
            int files = Integer.parseInt(args[1]);
            for (int i = 0; i < files; i++) {
                sum += logs.file(500);
            }
        }
        System.out.println(sum != 0 ? "logs done" : "logs did nothing");
    }

    int file(int lines) {
        List<String[]> kept = new ArrayList<>();
        for (int i = 0; i < lines; i++) {
            String[] fields = fields(line());
            if (fields == null) {
                broken++;
            } else if (!blocked.contains(fields[0])) {
                count(fields);
                kept.add(fields);
            }
        }
        sort(kept);
        return kept.size() + summary().length();
    }

    String line() {
        StringBuilder line = new StringBuilder(80);
        line.append("10.").append(next(2)).append('.').append(next(30)).append('.').append(next(30));
        line.append(' ').append(next(24)).append(':').append(next(60));
        line.append(" GET /page/").append(next(2_000)).append(' ');
        line.append(next(100) < 97 ? 200 : 404).append(" agent-").append(next(400));
        if (next(200) == 0) {
            line.setLength(12);
        }
        return line.toString();
    }

    int next(int below) {
        seed = seed * 6364136223846793005L + 1442695040888963407L;
        return (int) ((seed >>> 33) % below);
    }

    String[] fields(String line) {
        String[] fields = new String[6];
        int count = 0;
        int from = 0;
        while (count < 6) {
            int to = line.indexOf(' ', from);
            if (to < 0) {
                to = line.length();
            }
            fields[count++] = line.substring(from, to);
            from = to + 1;
            if (from > line.length()) {
                break;
            }
        }
        return count == 6 ? fields : null;
    }

    void count(String[] fields) {
        agents.computeIfAbsent(fields[5], name -> new int[2])[status(fields[4])]++;
        hours[hour(fields[1])]++;
    }

    int status(String text) {
        int status = Integer.parseInt(text);
        return status < 400 ? 0 : 1;
    }

    int hour(String time) {
        int hour = 0;
        for (int i = 0; i < time.length() && time.charAt(i) != ':'; i++) {
            hour = hour * 10 + time.charAt(i) - '0';
        }
        return hour;
    }

    void sort(List<String[]> lines) {
        sort(lines, 0, lines.size() - 1);
    }

    void sort(List<String[]> lines, int low, int high) {
        while (low < high) {
            String pivot = lines.get((low + high) >>> 1)[3];
            int i = low;
            int j = high;
            while (i <= j) {
                while (lines.get(i)[3].compareTo(pivot) < 0) {
                    i++;
                }
                while (lines.get(j)[3].compareTo(pivot) > 0) {
                    j--;
                }
                if (i <= j) {
                    String[] line = lines.get(i);
                    lines.set(i++, lines.get(j));
                    lines.set(j--, line);
                }
            }
            sort(lines, low, j);
            low = i;
        }
    }

    String summary() {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, int[]> agent : agents.entrySet()) {
            int[] counts = agent.getValue();
            text.append(agent.getKey()).append(' ').append(counts[0]).append(' ').append(counts[1]).append('\n');
        }
        return text.toString();
    }
}
