package pairs;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/** Parses expressions into trees and evaluates them with many values of their variables. */
public class Calc {
    private static final String[] FORMULAS = {
        "a * (b + 3) - c / 7", "(a + b) * (c + d) % 101", "max(a, b) * 2 + min(c, d)", "a - (b - (c - (d - 5)))",
        "a * a + b * b - 2 * a * b", "abs(a - b) + abs(c - d) * 3", "((a + 1) * 2 + (b + 2) * 3) / (c % 9 + 1)",
    };

    private final String[] names = new String[64];
    private final long[] values = new long[64];
    private long seed = 3;
    private String text;
    private int at;

    interface Node {
        long value(Calc calc);
    }

    record Constant(long value) implements Node {
        @Override
        public long value(Calc calc) {
            return value;
        }
    }

    record Variable(String name) implements Node {
        @Override
        public long value(Calc calc) {
            return calc.variable(name);
        }
    }

    record Operation(char sign, Node left, Node right) implements Node {
        @Override
        public long value(Calc calc) {
            long a = left.value(calc);
            long b = right.value(calc);
            return switch (sign) {
                case '+' -> a + b;
                case '-' -> a - b;
                case '*' -> a * b;
                case '/' -> b == 0 ? 0 : a / b;
                default -> b == 0 ? 0 : a % b;
            };
        }
    }

    record Call(String name, Node[] arguments) implements Node {
        @Override
        public long value(Calc calc) {
            long first = arguments[0].value(calc);
            return switch (name) {
                case "abs" -> Math.abs(first);
                case "max" -> Math.max(first, arguments[1].value(calc));
                default -> Math.min(first, arguments[1].value(calc));
            };
        }
    }

    public static void main(String[] args) {
        Calc calc = new Calc();
        for (int i = 0; i < calc.names.length; i++) {
            calc.names[i] = String.valueOf((char) ('a' + i / 16)) + (i % 16 == 0 ? "" : String.valueOf(i % 16));
        }
        Arrays.sort(calc.names);
        long sum = 0;
        if (args[0].equals("time")) {
            long end = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
            for (int i = 0; System.nanoTime() < end; i++) {
                sum += calc.sheet(i);
            }
        } else {
            int sheets = Integer.parseInt(args[1]);
            for (int i = 0; i < sheets; i++) {
                sum += calc.sheet(i);
            }
        }
        System.out.println(sum != 0 ? "calc done" : "calc did nothing");
    }

    long sheet(int number) {
        Node tree = parse(FORMULAS[number % FORMULAS.length]);
        long sum = 0;
        for (int row = 0; row < 40; row++) {
            fill();
            sum += tree.value(this) + history(row);
        }
        return sum;
    }

    void fill() {
        for (int i = 0; i < values.length; i++) {
            values[i] = next(1_000);
        }
    }

    int next(int below) {
        seed = seed * 6364136223846793005L + 1442695040888963407L;
        return (int) ((seed >>> 33) % below);
    }

    long variable(String name) {
        int low = 0;
        int high = names.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int order = names[middle].compareTo(name);
            if (order == 0) {
                return values[middle];
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        throw new IllegalArgumentException(name);
    }

    long history(int row) {
        Deque<Long> stack = new ArrayDeque<>();
        long sum = 0;
        for (int i = 0; i < 12; i++) {
            stack.push(values[i] + row);
            if (i % 3 == 2) {
                sum += stack.pop() - stack.peek();
            }
        }
        return sum;
    }

    Node parse(String formula) {
        text = formula;
        at = 0;
        return sum();
    }

    Node sum() {
        Node left = product();
        while (peek() == '+' || peek() == '-') {
            char sign = take();
            left = new Operation(sign, left, product());
        }
        return left;
    }

    Node product() {
        Node left = factor();
        while (peek() == '*' || peek() == '/' || peek() == '%') {
            char sign = take();
            left = new Operation(sign, left, factor());
        }
        return left;
    }

    Node factor() {
        char next = peek();
        if (next == '(') {
            take();
            Node inner = sum();
            take();
            return inner;
        }
        if (Character.isDigit(next)) {
            long number = 0;
            while (Character.isDigit(peek())) {
                number = number * 10 + take() - '0';
            }
            return new Constant(number);
        }
        StringBuilder name = new StringBuilder();
        while (Character.isLetter(peek())) {
            name.append(take());
        }
        if (peek() != '(') {
            return new Variable(name.toString());
        }
        take();
        Node[] arguments = new Node[2];
        arguments[0] = sum();
        if (peek() == ',') {
            take();
            arguments[1] = sum();
        }
        take();
        return new Call(name.toString(), arguments);
    }

    char peek() {
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    char take() {
        char next = peek();
        at++;
        return next;
    }
}
