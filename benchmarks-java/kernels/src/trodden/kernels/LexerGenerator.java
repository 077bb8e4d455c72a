package trodden.kernels;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a lexer generator does, then what its lexer does: regular expressions to NFA (Thompson), to DFA (subset
 * construction), minimised (Moore), used for a longest-match scan.
 */
final class LexerGenerator implements Kernel {
    private static final int TEXT = 400_000;
    private static final int ROUNDS = 12;
    /** In order of preference when two match the same text. Only what {@link Parser} knows. */
    private static final String[] RULES = {
        "if|else|while|for|return|class|int|void|static|final",
        "[A-Za-z_][A-Za-z0-9_]*",
        "0x[0-9a-fA-F]+|[0-9]+(\\.[0-9]+)?(e(\\+|-)?[0-9]+)?",
        "\"([^\"\\\\\\n]|\\\\[nt\"\\\\])*\"",
        "//[^\\n]*",
        "<=|>=|==|!=|&&|\\|\\||\\+\\+|--|\\+=|-=|<<|>>|>>>",
        "[-+*/%<>=!&|^~?:;,.(){}]|\\[|\\]",
        "[ \\t\\n]+",
    };

    private final String text = text();

    @Override
    public String name() {
        return "lexergen";
    }

    @Override
    public long run() {
        long sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Dfa dfa = Dfa.of(Nfa.of(RULES)).minimise();
            sum = Checks.mix(sum, dfa.scan(text));
        }
        return sum;
    }

    /** The same tokens out of the library's regular expressions, tried rule by rule for the longest match. */
    @Override
    public long expected() {
        List<Matcher> matchers = new ArrayList<>();
        for (String rule : RULES) {
            matchers.add(Pattern.compile(longestFirst(rule)).matcher(text));
        }
        long tokens = 0;
        for (int at = 0; at < text.length(); ) {
            int best = -1;
            int end = at;
            for (int rule = 0; rule < RULES.length; rule++) {
                Matcher matcher = matchers.get(rule).region(at, text.length());
                if (matcher.lookingAt() && matcher.end() > end) {
                    end = matcher.end();
                    best = rule;
                }
            }
            end = Math.max(end, at + 1);
            tokens = Checks.mix(Checks.mix(tokens, best), end - at);
            at = end;
        }
        long sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
            sum = Checks.mix(sum, tokens);
        }
        return sum;
    }

    /** The library takes the first alternative that matches: the long operators must stand first. */
    private static String longestFirst(String rule) {
        return rule.startsWith("<=|") ? ">>>|" + rule : rule;
    }

    /** States 0 .. n-1; each has at most one labelled edge and two empty ones, as Thompson's construction makes them. */
    private static final class Nfa {
        final List<BitSet> label = new ArrayList<>();
        final List<int[]> edges = new ArrayList<>();
        final List<Integer> rule = new ArrayList<>();
        int start;

        static Nfa of(String[] rules) {
            Nfa nfa = new Nfa();
            int[] starts = new int[rules.length];
            for (int i = 0; i < rules.length; i++) {
                int accept = nfa.state(null);
                nfa.rule.set(accept, i);
                starts[i] = new Parser(nfa, rules[i]).parse(accept);
            }
            nfa.start = nfa.state(null, starts);
            return nfa;
        }

        int state(BitSet on, int... to) {
            label.add(on);
            edges.add(to);
            rule.add(-1);
            return label.size() - 1;
        }

        /** All states that empty edges lead to, added in place. */
        void close(BitSet states) {
            int[] stack = new int[label.size()];
            int depth = 0;
            for (int s = states.nextSetBit(0); s >= 0; s = states.nextSetBit(s + 1)) {
                stack[depth++] = s;
            }
            while (depth > 0) {
                int s = stack[--depth];
                if (label.get(s) != null) {
                    continue;
                }
                for (int to : edges.get(s)) {
                    if (!states.get(to)) {
                        states.set(to);
                        stack[depth++] = to;
                    }
                }
            }
        }
    }

    /** Recursive descent over | * + ? ( ) [ ] and backslashes; builds backwards, from the state that follows. */
    private static final class Parser {
        private final Nfa nfa;
        private final String regex;

        Parser(Nfa nfa, String regex) {
            this.nfa = nfa;
            this.regex = regex;
        }

        int parse(int next) {
            return alternatives(0, regex.length(), next);
        }

        private int alternatives(int from, int to, int next) {
            List<Integer> starts = new ArrayList<>();
            int begin = from;
            for (int at = from; at < to; at = atomEnd(at)) {
                if (regex.charAt(at) == '|') {
                    starts.add(sequence(begin, at, next));
                    begin = at + 1;
                }
            }
            starts.add(sequence(begin, to, next));
            if (starts.size() == 1) {
                return starts.get(0);
            }
            return nfa.state(null, starts.stream().mapToInt(Integer::intValue).toArray());
        }

        private int sequence(int from, int to, int next) {
            List<int[]> pieces = new ArrayList<>();
            for (int at = from; at < to; ) {
                int end = atomEnd(at);
                char suffix = end < to ? regex.charAt(end) : 0;
                if (suffix != '*' && suffix != '+' && suffix != '?') {
                    suffix = 0;
                }
                pieces.add(new int[] {at, end, suffix});
                at = suffix == 0 ? end : end + 1;
            }
            int start = next;
            for (int i = pieces.size() - 1; i >= 0; i--) {
                int[] piece = pieces.get(i);
                start = repeated(piece[0], piece[1], (char) piece[2], start);
            }
            return start;
        }

        private int repeated(int from, int to, char suffix, int next) {
            switch (suffix) {
                case '*', '+' -> {
                    int loop = nfa.state(null, next);
                    int body = atom(from, to, loop);
                    nfa.edges.set(loop, new int[] {body, next});
                    return suffix == '*' ? loop : body;
                }
                case '?' -> {
                    return nfa.state(null, atom(from, to, next), next);
                }
                default -> {
                    return atom(from, to, next);
                }
            }
        }

        private int atom(int from, int to, int next) {
            char c = regex.charAt(from);
            if (c == '(') {
                return alternatives(from + 1, to - 1, next);
            }
            BitSet set = new BitSet(128);
            if (c == '[') {
                set(from + 1, to - 1, set);
            } else {
                set.set(c == '\\' ? escaped(regex.charAt(from + 1)) : c);
            }
            return nfa.state(set, next);
        }

        private void set(int from, int to, BitSet set) {
            boolean negated = regex.charAt(from) == '^' && to - from > 1;
            int at = negated ? from + 1 : from;
            while (at < to) {
                char first = regex.charAt(at++);
                if (first == '\\') {
                    first = escaped(regex.charAt(at++));
                }
                char last = first;
                if (at + 1 < to && regex.charAt(at) == '-' && first != '-') {
                    last = regex.charAt(at + 1);
                    at += 2;
                }
                set.set(first, last + 1);
            }
            if (negated) {
                set.flip(0, 128);
            }
        }

        /** Index after the atom (without its suffix) that starts here. */
        private int atomEnd(int at) {
            switch (regex.charAt(at)) {
                case '\\':
                    return at + 2;
                case '[':
                    int end = at + 1;
                    while (regex.charAt(end) != ']') {
                        end += regex.charAt(end) == '\\' ? 2 : 1;
                    }
                    return end + 1;
                case '(':
                    int inner = at + 1;
                    while (regex.charAt(inner) != ')') {
                        inner = atomEnd(inner);
                    }
                    return inner + 1;
                default:
                    return at + 1;
            }
        }

        private static char escaped(char c) {
            return switch (c) {
                case 'n' -> '\n';
                case 't' -> '\t';
                default -> c;
            };
        }
    }

    /** A transition table over ASCII; -1 is the dead state. */
    private static final class Dfa {
        final List<int[]> next;
        final int[] rule;
        final int start;

        private Dfa(List<int[]> next, int[] rule, int start) {
            this.next = next;
            this.rule = rule;
            this.start = start;
        }

        static Dfa of(Nfa nfa) {
            Map<BitSet, Integer> numbers = new HashMap<>();
            List<BitSet> sets = new ArrayList<>();
            List<int[]> next = new ArrayList<>();
            BitSet first = new BitSet();
            first.set(nfa.start);
            nfa.close(first);
            numbers.put(first, 0);
            sets.add(first);
            for (int from = 0; from < sets.size(); from++) {
                int[] row = new int[128];
                for (char c = 0; c < 128; c++) {
                    BitSet to = step(nfa, sets.get(from), c);
                    if (to.isEmpty()) {
                        row[c] = -1;
                        continue;
                    }
                    Integer number = numbers.get(to);
                    if (number == null) {
                        number = sets.size();
                        numbers.put(to, number);
                        sets.add(to);
                    }
                    row[c] = number;
                }
                next.add(row);
            }
            int[] rule = sets.stream().mapToInt(set -> firstRule(nfa, set)).toArray();
            return new Dfa(next, rule, 0);
        }

        private static BitSet step(Nfa nfa, BitSet from, char c) {
            BitSet to = new BitSet();
            for (int s = from.nextSetBit(0); s >= 0; s = from.nextSetBit(s + 1)) {
                BitSet label = nfa.label.get(s);
                if (label != null && label.get(c)) {
                    to.set(nfa.edges.get(s)[0]);
                }
            }
            nfa.close(to);
            return to;
        }

        private static int firstRule(Nfa nfa, BitSet set) {
            int rule = -1;
            for (int s = set.nextSetBit(0); s >= 0; s = set.nextSetBit(s + 1)) {
                int other = nfa.rule.get(s);
                if (other >= 0 && (rule < 0 || other < rule)) {
                    rule = other;
                }
            }
            return rule;
        }

        /** Splits groups of states until all states of a group step into the same groups. */
        Dfa minimise() {
            int states = next.size();
            int[] group = rule.clone();
            int groups = -1;
            while (true) {
                Map<List<Integer>, Integer> numbers = new HashMap<>();
                int[] finer = new int[states];
                for (int s = 0; s < states; s++) {
                    List<Integer> signature = new ArrayList<>(129);
                    signature.add(group[s]);
                    for (int to : next.get(s)) {
                        signature.add(to < 0 ? -2 : group[to]);
                    }
                    Integer number = numbers.putIfAbsent(signature, numbers.size());
                    finer[s] = number == null ? numbers.size() - 1 : number;
                }
                group = finer;
                if (numbers.size() == groups) {
                    return merged(group, groups);
                }
                groups = numbers.size();
            }
        }

        private Dfa merged(int[] group, int groups) {
            int[][] rows = new int[groups][];
            int[] rules = new int[groups];
            for (int s = 0; s < group.length; s++) {
                if (rows[group[s]] == null) {
                    rows[group[s]] =
                            Arrays.stream(next.get(s)).map(to -> to < 0 ? -1 : group[to]).toArray();
                    rules[group[s]] = rule[s];
                }
            }
            return new Dfa(Arrays.asList(rows), rules, group[start]);
        }

        long scan(String text) {
            long tokens = 0;
            int[][] table = next.toArray(new int[0][]);
            for (int at = 0; at < text.length(); ) {
                int state = start;
                int best = -1;
                int end = at + 1;
                for (int i = at; i < text.length(); i++) {
                    state = table[state][text.charAt(i)];
                    if (state < 0) {
                        break;
                    }
                    if (rule[state] >= 0) {
                        best = rule[state];
                        end = i + 1;
                    }
                }
                tokens = Checks.mix(Checks.mix(tokens, best), end - at);
                at = end;
            }
            return tokens;
        }
    }

    private static String text() {
        String[] pieces = {
            "if (", "while (x1 >= 0x1F) {\n", "return total", "+= 3.25e-7", "; // done\n", "\"a\\n\\\"b\" ", "} else ",
            "static final int n_", " == ", "&& flag", "42", " >>> ", "#", "class Foo {\n\t", "[i]", "ifs", "--",
        };
        Rng random = new Rng(17);
        StringBuilder text = new StringBuilder();
        while (text.length() < TEXT) {
            text.append(pieces[random.nextInt(pieces.length)]);
        }
        return text.toString();
    }
}
