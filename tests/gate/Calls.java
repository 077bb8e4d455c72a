/** Calls of code of its own, of the JDK's, and some that may be either by what the instruction names. */
public class Calls {
    interface Shape {
        int area(int side);
    }

    static final class Square implements Shape {
        public int area(int side) {
            return side * side;
        }

        @Override
        public String toString() {
            return "square";
        }
    }

    static int own(int i) {
        return i + 1;
    }

    public static void main(String[] args) {
        Shape shape = new Square();
        StringBuilder text = new StringBuilder();
        int sum = 0;
        for (int i = 0; i < 100; i++) {
            sum += shape.area(own(i));
            if (i % 2 == 0) {
                text.append(i);
            }
        }
        System.out.println(text.length() + text.toString().length() + sum);
    }
}
