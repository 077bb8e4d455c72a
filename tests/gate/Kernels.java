import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;

/** Loops of several kinds, long enough for the compilers: sorting, a sieve, words, a parser, lambdas, a big switch. */
public class Kernels {
    static void quicksort(int[] a, int from, int to) {
        while (from < to) {
            int pivot = a[(from + to) >>> 1];
            int i = from;
            int j = to;
            while (i <= j) {
                while (a[i] < pivot) {
                    i++;
                }
                while (a[j] > pivot) {
                    j--;
                }
                if (i <= j) {
                    int t = a[i];
                    a[i++] = a[j];
                    a[j--] = t;
                }
            }
            if (j - from < to - i) {
                quicksort(a, from, j);
                from = i;
            } else {
                quicksort(a, i, to);
                to = j;
            }
        }
    }

    static int sieve(int n) {
        boolean[] composite = new boolean[n + 1];
        int primes = 0;
        for (int i = 2; i <= n; i++) {
            if (!composite[i]) {
                primes++;
                for (long j = (long) i * i; j <= n; j += i) {
                    composite[(int) j] = true;
                }
            }
        }
        return primes;
    }

    static Map<String, Integer> words(String text) {
        Map<String, Integer> counts = new TreeMap<>();
        StringBuilder word = new StringBuilder();
        for (char c : (text + " ").toCharArray()) {
            if (Character.isLetter(c)) {
                word.append(Character.toLowerCase(c));
            } else if (word.length() > 0) {
                counts.merge(word.toString(), 1, Integer::sum);
                word.setLength(0);
            }
        }
        return counts;
    }

    static int evaluate(String postfix) {
        ArrayDeque<Integer> stack = new ArrayDeque<>();
        for (String token : postfix.split(" ")) {
            switch (token) {
                case "+" -> stack.push(stack.pop() + stack.pop());
                case "*" -> stack.push(stack.pop() * stack.pop());
                case "-" -> stack.push(-(stack.pop() - stack.pop()));
                case "dup" -> stack.push(stack.peek());
                default -> stack.push(Integer.parseInt(token));
            }
        }
        return stack.pop();
    }

    static int collatz(int n) {
        int steps = 0;
        for (long x = n; x != 1; steps++) {
            x = (x & 1) == 0 ? x >> 1 : 3 * x + 1;
        }
        return steps;
    }

    public static void main(String[] args) {
        int[] numbers = new int[50_000];
        int seed = 42;
        for (int i = 0; i < numbers.length; i++) {
            seed = seed * 1_103_515_245 + 12_345;
            numbers[i] = seed >>> 8;
        }
        quicksort(numbers, 0, numbers.length - 1);
        int sum = Arrays.stream(numbers, 0, 100).map(n -> n % 7 == 0 ? n : -n).sum();
        sum += sieve(200_000);
        sum += words("The path that is trodden is the path that one finds; and so on, on and on. ".repeat(200)).size();
        for (int i = 0; i < 2_000; i++) {
            sum += evaluate("3 4 + dup * " + i + " -");
        }
        IntUnaryOperator longest = limit -> {
            int best = 0;
            for (int n = 1; n < limit; n++) {
                best = Math.max(best, collatz(n));
            }
            return best;
        };
        sum += longest.applyAsInt(30_000);
        Map<Integer, Integer> squares = new HashMap<>();
        for (int i = 0; i < 5_000; i++) {
            squares.computeIfAbsent(i % 500, key -> key * key);
        }
        System.out.println(sum + squares.size());
    }
}
