// Every conditional branch instruction, jumping and not jumping.
public class Branches {
    static int ints(int x) {
        int r = 0;
        if (x == 0) r += 1; // expect taken=10 not-taken=1
        if (x != 0) r += 2; // expect taken=1 not-taken=10
        if (x < 0) r += 4; // expect taken=6 not-taken=5
        if (x >= 0) r += 8; // expect taken=5 not-taken=6
        if (x > 0) r += 16; // expect taken=6 not-taken=5
        if (x <= 0) r += 32; // expect taken=5 not-taken=6
        return r;
    }

    static int compare(int x, int y) {
        int r = 0;
        if (x == y) r += 1; // expect taken=110 not-taken=11
        if (x != y) r += 2; // expect taken=11 not-taken=110
        if (x < y) r += 4; // expect taken=66 not-taken=55
        if (x >= y) r += 8; // expect taken=55 not-taken=66
        if (x > y) r += 16; // expect taken=66 not-taken=55
        if (x <= y) r += 32; // expect taken=55 not-taken=66
        return r;
    }

    static int references(Object a, Object b) {
        int r = 0;
        if (a == b) r += 1; // expect taken=6 not-taken=3
        if (a != b) r += 2; // expect taken=3 not-taken=6
        if (a == null) r += 4; // expect taken=6 not-taken=3
        if (a != null) r += 8; // expect taken=3 not-taken=6
        return r;
    }

    static int wide(long a, double b, float c) {
        int r = 0;
        if (a > 3L) r++; // expect taken=6 not-taken=4
        if (b < 5.0) r++; // expect taken=5 not-taken=5
        if (c != c) r++; // expect taken=10 not-taken=0
        return r;
    }

    // A single path: line of each decision, and where it ends.
    static String sign(int x) {
        if (x < 0) { // mark neg
            return "-"; // mark minus
        }
        if (x > 0) { // mark pos
            return "+"; // mark plus
        }
        return "0"; // mark zero
        // expect path sign entry neg:not-taken -> return@minus = 5
        // expect path sign entry neg:taken pos:not-taken -> return@plus = 5
        // expect path sign entry neg:taken pos:taken -> return@zero = 1
    }

    static int shortCircuit(boolean a, boolean b, boolean c) {
        return a && b || c ? 1 : 0; // expect taken=4 not-taken=4, taken=2 not-taken=2, taken=3 not-taken=3
    }

    public static void main(String[] args) {
        long sum = 0;
        for (int x = -5; x <= 5; x++) {
            sum = sum * 31 + ints(x);
            for (int y = -5; y <= 5; y++) {
                sum = sum * 31 + compare(x, y);
            }
            System.out.print(sign(x));
        }
        Object[] objects = {null, "a", Branches.class};
        for (Object a : objects) {
            for (Object b : objects) {
                sum = sum * 31 + references(a, b);
            }
        }
        for (int i = 0; i < 10; i++) {
            sum = sum * 31 + wide(i - 2, i, i * 0.5f);
        }
        for (int i = 0; i < 8; i++) {
            sum = sum * 31 + shortCircuit((i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
        }
        System.out.println(" " + sum);
    }
}
