import java.io.InputStream;
import java.util.function.IntUnaryOperator;

/** Arguments: COPIES MILLISECONDS. The same class in many loaders, each copy of it hot; prints how many rounds had the right sum. */
public final class Copies {
    /** The class that each loader has a copy of. */
    public static final class Hot implements IntUnaryOperator {
        @Override
        public int applyAsInt(int rounds) {
            int sum = 0;
            for (int i = 0; i < rounds; i++) {
                if ((i & 3) == 0) {
                    sum += i;
                } else if (i % 5 == 0) {
                    sum ^= i;
                }
            }
            return sum;
        }
    }

    /** Defines the class again. */
    private static final class Loader extends ClassLoader {
        IntUnaryOperator copy(String name, byte[] bytes) throws ReflectiveOperationException {
            Class<?> type = defineClass(name, bytes, 0, bytes.length);
            return (IntUnaryOperator) type.getDeclaredConstructor().newInstance();
        }
    }

    public static void main(String[] arguments) throws Exception {
        int copies = Integer.parseInt(arguments[0]);
        long end = System.nanoTime() + Long.parseLong(arguments[1]) * 1_000_000;
        byte[] bytes;
        try (InputStream in = Copies.class.getResourceAsStream("Copies$Hot.class")) {
            bytes = in.readAllBytes();
        }
        IntUnaryOperator[] all = new IntUnaryOperator[copies];
        for (int i = 0; i < copies; i++) {
            all[i] = new Loader().copy("Copies$Hot", bytes);
        }
        int expected = all[0].applyAsInt(1_000);
        long right = 0;
        do {
            for (IntUnaryOperator one : all) {
                if (one.applyAsInt(1_000) != expected) {
                    throw new AssertionError("a wrong sum");
                }
                right++;
            }
        } while (System.nanoTime() < end);
        System.out.println(right);
    }
}
