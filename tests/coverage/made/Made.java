package made;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntSupplier;

/** One method for each thing that compilers make on their own. Each runs in part. */
public class Made {
    static int sink;

    static int asserts(int n) {
        assert n > 0 && n < 100 : "small";
        return n;
    }

    static int strings(String s) {
        switch (s) {
            case "Aa":
                return 1;
            case "BB":
                return 2;
            case "other":
                sink++;
            default:
                return 3;
        }
    }

    static int stringsAsValue(String s) {
        return switch (s) {
            case "one", "two" -> 1;
            case "three" -> 3;
            default -> 0;
        };
    }

    enum Color {
        RED,
        GREEN,
        BLUE
    }

    enum Operation {
        PLUS("+") {
            @Override
            int apply(int a, int b) {
                return a + b;
            }
        },
        MINUS("-") {
            @Override
            int apply(int a, int b) {
                return a - b;
            }
        };

        final String sign;

        Operation(String sign) {
            this.sign = sign;
        }

        abstract int apply(int a, int b);
    }

    static int enums(Color color) {
        switch (color) {
            case RED:
                return 1;
            case BLUE:
                return 2;
            default:
                return 3;
        }
    }

    static int allOfEnum(Color color) {
        return switch (color) {
            case RED -> 1;
            case GREEN -> 2;
            case BLUE -> 3;
        };
    }

    static int locked(Object lock, int n) {
        synchronized (lock) {
            if (n > 2) {
                sink += n;
            }
        }
        return sink;
    }

    static class Resource implements AutoCloseable {
        final boolean fails;

        Resource(boolean fails) {
            this.fails = fails;
        }

        @Override
        public void close() {
            if (fails) {
                throw new IllegalStateException("close");
            }
        }
    }

    static int resources(int n) {
        try (Resource one = new Resource(false);
                Resource two = n > 0 ? new Resource(false) : null) {
            sink += n;
            if (n == 5) {
                throw new IllegalArgumentException("five");
            }
        }
        return sink;
    }

    static int resourcesAndHandlers(int n) {
        try (Resource one = new Resource(n == 3)) {
            sink += n;
        } catch (IllegalStateException e) {
            sink--;
        } finally {
            sink++;
        }
        return sink;
    }

    static int cleansUp(int n) {
        try {
            if (n == 1) {
                throw new IllegalArgumentException("one");
            }
            sink += n;
        } finally {
            if (sink > 3) {
                sink = 0;
            }
        }
        return sink;
    }

    static int onlyWhenItThrows() {
        try {
            throw new IllegalStateException("always");
        } finally {
            sink += 5;
        }
    }

    record Point(int x, int y) {
        int sum() {
            return x > 0 ? x + y : y;
        }
    }

    record Named(String name) {
        public String name() {
            return name == null ? "" : name;
        }
    }

    static final class Utility {
        private Utility() {
        }

        static int twice(int n) {
            return n > 0 ? 2 * n : 0;
        }
    }

    static final class Busy {
        private Busy() {
            sink++;
        }
    }

    @Retention(RetentionPolicy.CLASS)
    @interface ToolGenerated {
    }

    @ToolGenerated
    static int byTool(int n) {
        return n > 0 ? 1 : 2;
    }

    @ToolGenerated
    static class AllByTool {
        static int of(int n) {
            return n > 0 ? 1 : 2;
        }
    }

    static int lambdas(int n) {
        IntSupplier supplier = () -> n > 3 ? 1 : 2;
        IntSupplier stored = (IntSupplier & java.io.Serializable) () -> n > 4 ? 1 : 2;
        List<String> list = new java.util.ArrayList<>(List.of("b", "a"));
        list.sort(new Comparator<String>() {
            @Override
            public int compare(String a, String b) {
                return a.compareTo(b);
            }
        });
        return supplier.getAsInt() + stored.getAsInt();
    }

    public static void main(String[] args) {
        for (int n = 1; n < 6; n++) {
            int k = n;
            quietly(() -> asserts(k));
            quietly(() -> resources(k - 1));
            quietly(() -> resourcesAndHandlers(k));
            quietly(() -> cleansUp(k));
            quietly(() -> locked(k == 2 ? null : "lock", k));
        }
        quietly(Made::onlyWhenItThrows);
        strings("BB");
        strings("no");
        stringsAsValue("two");
        stringsAsValue("three");
        enums(Color.RED);
        enums(Color.GREEN);
        allOfEnum(Color.GREEN);
        new Point(1, 2).sum();
        new Named("n").name();
        Utility.twice(1);
        byTool(1);
        AllByTool.of(1);
        lambdas(1);
        System.out.println(Operation.PLUS.apply(sink, 1) > 0);
    }

    static void quietly(IntSupplier what) {
        try {
            sink += what.getAsInt();
        } catch (RuntimeException e) {
            sink++;
        }
    }
}
