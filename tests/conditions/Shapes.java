import java.util.List;

public class Shapes {
    sealed interface Shape permits Circle, Square, Pair {}
    record Circle(int r) implements Shape {}
    record Square(int side) implements Shape {}
    record Pair(Shape a, Shape b) implements Shape {}
    sealed interface Figure permits Disc, Box {}
    record Disc(int r) implements Figure {}
    record Box(int w, long h) implements Figure {}
    enum Color { RED, GREEN, BLUE }

    static int area(Shape s) {
        return switch (s) {
            case Circle c when c.r() > 3 -> 100;
            case Circle c -> c.r();
            case Square q -> q.side();
            case Pair(Circle a, Circle b) -> 1;
            case Pair(Shape a, Square b) when b.side() > 1 -> 2;
            case Pair p -> 3;
        };
    }

    static String kind(Object o) {
        return switch (o) {
            case null -> "null";
            case Integer i when i > 10 && i < 20 -> "teen";
            case Integer i when i == 0 || i == 1 -> "bit";
            case Integer i -> "int";
            case String s when s.isEmpty() -> "empty";
            case Color c when c == Color.RED -> "red";
            case Color c -> "color";
            case int[] a -> "ints";
            default -> "other";
        };
    }

    static int color(Color c) {
        return switch (c) {
            case RED -> 1;
            case GREEN -> 2;
            case BLUE -> 3;
        };
    }

    static int mixed(Object o) {
        return switch (o) {
            case Color.RED -> 1;
            case Color.GREEN -> 2;
            case String s when s.length() > 2 -> 3;
            case null, default -> 4;
        };
    }

    static int strings(String s) {
        return switch (s) {
            case "a", "b" -> 1;
            case String t when t.startsWith("c") -> 2;
            case String t -> 3;
        };
    }

    // Parts that are numbers fit always.
    static long size(Figure f) {
        return switch (f) {
            case Disc(int r) when r > 1 -> r;
            case Disc d -> 0;
            case Box(int w, long h) when w == h -> w;
            case Box(int w, long h) -> w * h;
        };
    }

    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < 50; i++) {
            for (Shape s : List.of(new Circle(i % 6), new Square(i), new Pair(new Circle(1), new Circle(2)), new Pair(new Square(1), new Square(i)), new Pair(new Square(1), new Circle(3))))
                sum += area(s);
            for (Object o : new Object[] {null, i, "", "y", Color.BLUE, Color.RED, new int[0], 1.5})
                sum += kind(o).length() + mixed(o);
            for (Figure f : List.of(new Disc(i % 3), new Box(i % 2, 1), new Box(1, 1)))
                sum += (int) size(f);
            for (Color c : Color.values()) sum += color(c);
            for (String s : List.of("a", "b", "cc", "d")) sum += strings(s);
        }
        System.out.println(sum);
    }
}
