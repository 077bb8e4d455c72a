package trodden.kernels;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Looks for task tags (TODO, FIXME, XXX) in comments, character by character. In a run of text the loop's
 * iterations alternate in a fixed pattern (the behaviour of k-BLPP's figure 9): a letter that begins no tag,
 * letters within a word, the gap after it.
 */
final class TaskTagScanner implements Kernel {
    private static final int LENGTH = 600_000;
    private static final int ROUNDS = 100;
    private static final char[][] TAGS = {"TODO".toCharArray(), "FIXME".toCharArray(), "XXX".toCharArray()};

    private final char[] text = text();

    @Override
    public String name() {
        return "tasktags";
    }

    @Override
    public long run() {
        long sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
            sum = Checks.mix(sum, scan(text, round));
        }
        return sum;
    }

    @Override
    public long expected() {
        Pattern tags = Pattern.compile("(?<![A-Za-z])(TODO|FIXME|XXX)(?![A-Za-z])([^\\n]*)");
        long sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
            long found = 0;
            Matcher matcher = tags.matcher(new String(text, round, text.length - round));
            int from = 0;
            while (matcher.find(from)) {
                int tag = "TFX".indexOf(matcher.group(1).charAt(0));
                found = Checks.mix(Checks.mix(found, round + matcher.start()), tag);
                found = Checks.mix(found, matcher.group(2).strip().length());
                from = matcher.end();
            }
            sum = Checks.mix(sum, found);
        }
        return sum;
    }

    /** A checksum over place, kind and message length of each tag from {@code start} on. */
    private static long scan(char[] source, int start) {
        long found = 0;
        boolean inWord = false;
        int i = start;
        while (i < source.length) {
            char c = source[i];
            if (!isLetter(c)) {
                inWord = false;
                i++;
                continue;
            }
            if (inWord) {
                i++;
                continue;
            }
            inWord = true;
            int tag = tagAt(source, i);
            if (tag < 0) {
                i++;
                continue;
            }
            int from = i + TAGS[tag].length;
            int to = from;
            while (to < source.length && source[to] != '\n') {
                to++;
            }
            found = Checks.mix(Checks.mix(found, i), tag);
            found = Checks.mix(found, trimmedLength(source, from, to));
            inWord = false;
            i = to;
        }
        return found;
    }

    private static int tagAt(char[] source, int at) {
        next:
        for (int tag = 0; tag < TAGS.length; tag++) {
            char[] letters = TAGS[tag];
            int end = at + letters.length;
            if (end > source.length || end < source.length && isLetter(source[end])) {
                continue;
            }
            for (int i = 0; i < letters.length; i++) {
                if (source[at + i] != letters[i]) {
                    continue next;
                }
            }
            return tag;
        }
        return -1;
    }

    private static int trimmedLength(char[] source, int from, int to) {
        while (from < to && source[from] == ' ') {
            from++;
        }
        while (to > from && source[to - 1] == ' ') {
            to--;
        }
        return to - from;
    }

    private static boolean isLetter(char c) {
        return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z';
    }

    private static char[] text() {
        Rng random = new Rng(16);
        StringBuilder text = new StringBuilder();
        while (text.length() < LENGTH) {
            switch (random.nextInt(40)) {
                case 0 -> text.append("TODO check this ");
                case 1 -> text.append("FIXME: overflows \n");
                case 2 -> text.append("XXX\n");
                case 3 -> text.append("TODOS and XXXL are none \n");
                case 4, 5 -> text.append("// \n");
                default -> text.append("word ");
            }
        }
        text.setLength(LENGTH);
        return text.toString().toCharArray();
    }
}
