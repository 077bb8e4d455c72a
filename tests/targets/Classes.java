// Constructors that branch before super(), static initialisers, synchronized, lambdas, default methods, recursion.
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

public class Classes {
    static class Base {
        final int value;

        Base(int value) {
            this.value = value;
        }
    }

    static class Derived extends Base {
        final String name;

        Derived(int x, String name) {
            super(x > 3 ? x * 2 : name == null ? -1 : name.length()); // expect taken=4 not-taken=2, taken=2 not-taken=2
            this.name = name == null ? "none" : name; // expect taken=4 not-taken=2
        }

        Derived(boolean flag) {
            this(flag ? 5 : 1, flag ? "flag" : null); // expect taken=1 not-taken=1, taken=1 not-taken=1
        }
    }

    static class Static {
        static final int[] TABLE = new int[10];
        static final int ODD;

        static {
            int odd = 0;
            for (int i = 0; i < TABLE.length; i++) { // expect taken=1 not-taken=10
                TABLE[i] = i * i;
                if (i % 2 != 0) odd++; // expect taken=5 not-taken=5
            }
            ODD = odd;
        }
    }

    // A superclass's initialiser that runs code of its subclass before that one's own initialiser.
    static class Parent {
        static final int FROM_CHILD = Child.compute(4);
    }

    static class Child extends Parent {
        static int compute(int n) {
            int r = 0;
            while (n > 0) r += n--; // expect taken=1 not-taken=4
            return r;
        }
    }

    interface Shape {
        int sides();

        default String describe() {
            return sides() < 3 ? "round" : helper(sides()); // expect taken=2 not-taken=1
        }

        private String helper(int n) {
            return n == 4 ? "four" : "many"; // expect taken=1 not-taken=1
        }

        static boolean regular(int n) {
            return n > 2 && n < 100; // expect taken=1 not-taken=2, taken=1 not-taken=1
        }
    }

    private int count;

    synchronized int sync(int n) {
        if (n % 2 == 0) count += n; // expect taken=5 not-taken=5
        return count;
    }

    int block(int n) {
        synchronized (this) {
            for (int i = 0; i < n; i++) { // expect taken=1 not-taken=7
                if (i == 5) count++; // expect taken=6 not-taken=1
            }
        }
        return count;
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2); // expect taken=88 not-taken=89
    }

    static boolean even(int n) {
        return n == 0 || odd(n - 1); // expect taken=1 not-taken=5, taken=0 not-taken=5
    }

    static boolean odd(int n) {
        return n != 0 && even(n - 1); // expect taken=0 not-taken=5, taken=0 not-taken=5
    }

    static int lambdas(List<Integer> list) {
        IntPredicate small = i -> i < 4; // expect taken=4 not-taken=4
        IntFunction<String> word = i -> {
            String s = "";
            for (int k = 0; k < i; k++) s += k; // expect taken=4 not-taken=6
            return s;
        };
        int sum = 0;
        for (int i : list) { // expect taken=1 not-taken=8
            if (small.test(i)) sum += word.apply(i).length(); // expect taken=4 not-taken=4
        }
        Runnable captured = () -> {
            if (list.isEmpty()) throw new IllegalStateException(); // expect taken=1 not-taken=0
        };
        captured.run();
        return sum;
    }

    static int polymorphic(Object o) {
        if (o instanceof Integer) return 1; // expect taken=2 not-taken=1
        if (o instanceof String s && s.length() > 1) return 2; // expect taken=0 not-taken=2, taken=1 not-taken=1
        return 3;
    }

    static long varied(long a, double b, int c, long d, double e) {
        long r = a;
        if (b > 1.5) { // expect taken=4 not-taken=2
            long extra = d * 2;
            double more = e + b;
            r += more > 4.0 ? extra : c; // expect taken=0 not-taken=2
        }
        return r + (c > 2 ? d : (long) e); // expect taken=3 not-taken=3
    }

    public static void main(String[] args) {
        StringBuilder out = new StringBuilder();
        out.append(new Derived(1, "abc").value).append(new Derived(2, null).name).append(new Derived(9, "x").value);
        out.append(new Derived(3, "four").value).append(new Derived(true).value).append(new Derived(false).name);
        out.append(' ').append(Static.ODD).append(' ').append(Parent.FROM_CHILD).append(' ').append(Child.FROM_CHILD);
        Shape square = () -> 4;
        Shape circle = () -> 0;
        Shape star = () -> 10;
        out.append(square.describe()).append(circle.describe()).append(star.describe());
        out.append(Shape.regular(2)).append(Shape.regular(4)).append(Shape.regular(400));
        Classes c = new Classes();
        for (int i = 0; i < 10; i++) out.append(' ').append(c.sync(i));
        out.append(' ').append(c.block(7)).append(' ').append(fib(10)).append(even(10));
        List<Integer> list = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5, 6, 7));
        out.append(lambdas(list)).append(polymorphic(1)).append(polymorphic("ab")).append(polymorphic("a"));
        for (int i = 0; i < 6; i++) out.append(' ').append(varied(i, i * 0.5, i, i * 100L, i));
        System.out.println(out);
    }
}
