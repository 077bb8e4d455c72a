package made;

/** As `Made`: what compilers make of patterns, in Java 21 and newer. Each runs in part. */
public class MadePatterns {
    sealed interface Shape permits Square, Circle, Group {
    }

    record Square(int side) implements Shape {
    }

    record Circle(int radius) implements Shape {
    }

    record Group(Shape first, Shape second) implements Shape {
    }

    enum Color {
        RED,
        GREEN
    }

    static int patterns(Object o) {
        return switch (o) {
            case String s when s.length() > 3 -> 1;
            case String s -> 2;
            case Integer i -> 3;
            default -> 4;
        };
    }

    static int allOfSealed(Shape shape) {
        return switch (shape) {
            case Square square -> square.side();
            case Circle circle -> 3 * circle.radius();
            case Group group -> 0;
        };
    }

    static int records(Shape shape) {
        return switch (shape) {
            case Square(int side) -> side;
            case Circle(int radius) -> 3 * radius;
            case Group(Square(int side), Circle(int radius)) -> side + radius;
            case Group(Shape first, Shape second) -> 0;
        };
    }

    static int recordOrNot(Object o) {
        if (o instanceof Group(Square(int side), Shape second) && side > 1) {
            return side;
        }
        return 0;
    }

    static int nullToo(String s) {
        return switch (s) {
            case null -> 0;
            case "one" -> 1;
            default -> 2;
        };
    }

    static int statement(Color color) {
        int n = 0;
        switch (color) {
            case RED -> n = 1;
            case GREEN -> n = 2;
            case null -> n = 3;
        }
        return n;
    }

    public static void main(String[] args) {
        int sum = patterns("four") + patterns(4) + patterns("no");
        sum += allOfSealed(new Square(2)) + allOfSealed(new Group(null, null));
        sum += records(new Square(2)) + records(new Group(new Square(1), new Circle(1)));
        sum += recordOrNot(new Group(new Square(2), new Circle(1))) + recordOrNot("no");
        sum += nullToo("one") + nullToo("two");
        sum += statement(Color.RED);
        System.out.println(sum);
    }
}
