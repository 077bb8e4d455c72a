// try, catch, finally; implicit and explicit throws; exceptions across frames, caught in loops and in handlers.
public class Exceptions {
    static int implicit(int[] a, int i) {
        try {
            if (i == 2) { // mark i2  // expect taken=2 not-taken=1
                return -2; // mark im2
            }
            return a[i]; // mark ia
        } catch (ArrayIndexOutOfBoundsException e) { // mark ih
            return -1; // mark im1
        }
        // The path to a[i] is abandoned when the array is too short: it never reaches its end.
        // expect path implicit entry i2:not-taken -> return@im2 = 1
        // expect path implicit entry i2:taken -> return@ia = 2
        // expect path implicit handler@ih -> return@im1 = 2
    }

    static int explicit(int x) {
        try {
            if (x > 2) { // mark x2
                throw new IllegalStateException("x" + x); // mark xt
            }
            return x; // mark xr
        } catch (IllegalStateException e) { // mark xh
            return -x; // mark xm
        }
        // expect path explicit entry x2:not-taken -> throw@xt = 2
        // expect path explicit entry x2:taken -> return@xr = 3
        // expect path explicit handler@xh -> return@xm = 2
    }

    static int log;

    static int withFinally(int x) {
        try {
            log++;
            if (x == 1) throw new RuntimeException(); // expect taken=2 not-taken=1
            if (x == 2) return 20; // expect taken=1 not-taken=1
            log += deep(x);
        } finally {
            log *= 2;
            if (log > 1000) log = 1;
        }
        return x;
    }

    static int deep(int n) {
        if (n > 4) { // expect taken=1 not-taken=2
            throw new IllegalArgumentException("too deep");
        }
        return n == 0 ? 0 : 1 + deep(n + 1); // expect taken=0 not-taken=1
    }

    static int inLoop(String[] numbers) {
        int sum = 0;
        for (String number : numbers) { // expect taken=1 not-taken=3
            try {
                sum += Integer.parseInt(number);
            } catch (NumberFormatException e) {
                if (number == null) { // expect taken=1 not-taken=1
                    continue;
                }
                sum += 100;
            } finally {
                sum++;
            }
        }
        return sum;
    }

    static int rethrow(int x) {
        try {
            try {
                if (x == 0) throw new RuntimeException("zero"); // expect taken=1 not-taken=1
                return 10 / (x - 1);
            } catch (ArithmeticException e) {
                throw new RuntimeException("one", e);
            }
        } catch (RuntimeException e) {
            return e.getMessage().equals("one") ? 1 : 0; // expect taken=1 not-taken=1
        }
    }

    static int everywhere(int x) {
        int r = 0;
        for (int i = 0; i < 4; i++) { // expect taken=3 not-taken=12
            try {
                try {
                    if (i == x) throw new IllegalStateException(); // expect taken=9 not-taken=3
                    r += i;
                } catch (IllegalArgumentException e) {
                    r = -1;
                } finally {
                    r += 10;
                }
            } catch (IllegalStateException e) {
                r += x % 2 == 0 ? 100 : 200; // expect taken=1 not-taken=2
            }
        }
        return r;
    }

    static class Resource implements AutoCloseable {
        private final boolean failing;

        Resource(boolean failing) {
            this.failing = failing;
        }

        @Override
        public void close() {
            log++;
            if (failing) { // expect taken=1 not-taken=1
                throw new IllegalStateException("close");
            }
        }
    }

    static String resources(boolean failing) {
        try (Resource r = new Resource(failing)) {
            if (log < 0) return r.toString(); // expect taken=2 not-taken=0
            throw new RuntimeException("body");
        } catch (RuntimeException e) {
            return e.getMessage() + e.getSuppressed().length;
        }
    }

    static int nulls(Object o) {
        try {
            synchronized (o) {
                return o.hashCode() == 0 ? 1 : 2; // expect taken=0 not-taken=1
            }
        } catch (NullPointerException e) {
            return 3;
        }
    }

    public static void main(String[] args) {
        int[] a = {7, 8};
        System.out.println(implicit(a, 0) + implicit(a, 1) + implicit(a, 2) + implicit(a, 3) + implicit(a, 9));
        for (int x = 0; x < 5; x++) System.out.print(explicit(x) + " ");
        System.out.println();
        for (int x = 0; x < 4; x++) {
            try {
                System.out.print(withFinally(x) + " ");
            } catch (IllegalArgumentException e) {
                System.out.print(e.getMessage() + " ");
            } catch (RuntimeException e) {
                System.out.print("runtime ");
            }
        }
        try {
            deep(1);
        } catch (IllegalArgumentException e) {
            System.out.println(log);
        }
        System.out.println(inLoop(new String[] {"1", "x", null, "4", "5"}));
        System.out.println(rethrow(0) + " " + rethrow(1) + " " + rethrow(3));
        System.out.println(everywhere(0) + " " + everywhere(1) + " " + everywhere(2));
        System.out.println(resources(false) + " " + resources(true) + " " + nulls(null) + nulls(new Object() {
            @Override
            public int hashCode() {
                return 0;
            }
        }));
        throw new IllegalStateException("uncaught, on purpose");
    }
}
