/** An optional field that is missing is found out by an exception, whose stack trace is never read. */
public class ExceptionFlow {
    static final class Missing extends Exception {
        Missing(String name) {
            super(name);
        }
    }

    static final class Fields {
        private final String[] names = {"id", "name", "price", "stock"};

        int read(String name) throws Missing {
            for (int i = 0; i < names.length; i++) {
                if (names[i].equals(name)) {
                    return i;
                }
            }
            throw new Missing(name); // cause: throw
        }

        int readOr(String name, int other) {
            try {
                return read(name);
            } catch (Missing missing) {
                return other;
            }
        }

        /** Values are nested in practice, so the stack is some frames deep. */
        int nested(String name, int depth) {
            return depth == 0 ? readOr(name, -1) : nested(name, depth - 1) + 1;
        }
    }

    public static void main(String[] args) {
        String[] asked = new String[20];
        for (int i = 0; i < 20; i++) {
            asked[i] = i % 2 == 0 ? "price" : "stock";
        }
        asked[0] = "discount";
        Fields fields = new Fields();
        Background background = new Background();
        Truth truth = new Truth();
        int rounds = Truth.rounds(args, 250_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 20);
            long before = Truth.now();
            for (int j = 1; j < 20; j++) {
                sum += fields.nested(asked[j], 24);
            }
            truth.add(0, 19, before);
            before = Truth.now();
            sum += fields.nested(asked[0], 24);
            truth.add(1, 1, before);
            truth.leave(sum);
        }
        truth.print();
    }
}
