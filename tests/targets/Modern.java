// target jdk=21
// Pattern switches, record patterns, sealed hierarchies, text blocks, virtual threads.
import java.util.ArrayList;
import java.util.List;

public class Modern {
    sealed interface Shape permits Circle, Square, Pair {}

    record Circle(double radius) implements Shape {}

    record Square(int side) implements Shape {}

    record Pair(Shape left, Shape right) implements Shape {}

    enum Mode {
        FAST,
        SLOW
    }

    static double area(Shape shape) {
        return switch (shape) {
            case Circle(double r) when r > 2 -> 100;
            case Circle c -> 3 * c.radius() * c.radius();
            case Square(int side) -> side * side;
            case Pair(Shape l, Shape r) -> area(l) + area(r);
        };
    }

    static String classify(Object o) {
        return switch (o) {
            case null -> "null";
            case Integer i when i > 10 -> "large"; // expect taken=1 not-taken=1
            case Integer i -> "int";
            case String s -> s.isEmpty() ? "empty" : "text"; // expect taken=1 not-taken=1
            case Mode m when m == Mode.FAST -> "fast"; // expect taken=1 not-taken=1
            case int[] array -> "array";
            default -> "other";
        };
    }

    static String unpack(Object o) {
        if (o instanceof Pair(Square(var a), Square(var b)) && a < b) {
            return "ascending";
        }
        return "none";
    }

    static int work(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) { // expect taken=20 not-taken=1000
            sum += i % 7 == 0 ? 1 : 2; // expect taken=840 not-taken=160
            if (i == 25) Thread.yield(); // expect taken=980 not-taken=20
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        System.out.println(area(new Circle(1)) + area(new Circle(3)) + area(new Pair(new Square(2), new Circle(2))));
        for (Object o : new Object[] {null, 5, 50, "", "x", Mode.FAST, Mode.SLOW, new int[0], 2.0}) {
            System.out.print(classify(o) + " ");
        }
        System.out.println(unpack(new Pair(new Square(1), new Square(2))) + unpack(new Pair(new Square(2), new Square(1))));
        List<Thread> threads = new ArrayList<>();
        int[] sums = new int[20];
        for (int i = 0; i < sums.length; i++) {
            int index = i;
            threads.add(Thread.startVirtualThread(() -> sums[index] = work(50)));
        }
        int total = 0;
        for (int i = 0; i < sums.length; i++) {
            threads.get(i).join();
            total += sums[i];
        }
        System.out.println(total);
    }
}
