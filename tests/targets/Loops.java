// Nested, empty, endless-with-break and multi-exit loops; a loop with one path; a loop that starts the method.
public class Loops {
    static int single(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) sum += i; // mark s  // expect taken=2 not-taken=15
        return sum; // mark sr
        // expect path single entry -> header@s = 2
        // expect path single header@s s:not-taken -> header@s = 15
        // expect path single header@s s:taken -> return@sr = 2
    }

    static int nested(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) { // expect taken=1 not-taken=6
            for (int j = 0; j < i; j++) { // expect taken=6 not-taken=15
                if ((i + j) % 2 == 0) { // expect taken=9 not-taken=6
                    sum += j;
                }
            }
        }
        return sum;
    }

    static int empty(int n) {
        int i = 0;
        while (i++ < n) { // expect taken=1 not-taken=12
        }
        for (; ; ) {
            if (i-- <= 0) break; // expect taken=13 not-taken=1
        }
        return i;
    }

    static int doWhile(int n) {
        int i = 0;
        do {
            i += 2;
        } while (i < n); // expect taken=4 not-taken=1
        return i;
    }

    // The first instruction is the header: the path from the entry ends before it began.
    static int headerFirst(int n) {
        do {
            n /= 2; // mark hf
        } while (n > 3); // mark hb  // expect taken=3 not-taken=1
        return n; // mark hr
        // expect path headerFirst entry -> header@hf = 1
        // expect path headerFirst header@hf hb:taken -> header@hf = 3
        // expect path headerFirst header@hf hb:not-taken -> return@hr = 1
    }

    static int search(int[][] table, int key) {
        outer:
        for (int[] row : table) { // expect taken=1 not-taken=9
            for (int value : row) { // expect taken=1 not-taken=20
                if (value > key) continue outer; // expect taken=15 not-taken=5
                if (value == key) return value; // expect taken=12 not-taken=3
            }
        }
        return -1;
    }

    static int collatz(int n) {
        int steps = 0;
        while (n != 1) { // expect taken=1 not-taken=111
            n = n % 2 == 0 ? n / 2 : 3 * n + 1; // expect taken=41 not-taken=70
            steps++;
        }
        return steps;
    }

    static int manyHeaders(int n) {
        int a = 0;
        while (true) {
            a++;
            while (a % 2 == 0) a++; // expect taken=6 not-taken=2
            do {
                a++;
            } while (a % 3 == 0); // expect taken=2 not-taken=6
            if (a > n) return a; // expect taken=5 not-taken=1
        }
    }

    public static void main(String[] args) {
        System.out.println(single(10) + single(5) + " " + nested(6));
        System.out.println(empty(12) + " " + doWhile(9) + " " + headerFirst(50));
        int[][] table = {{1, 4, 9}, {2, 5, 11}, {3, 6, 13}};
        System.out.println(search(table, 1) + search(table, 5) + search(table, 3) + " " + search(table, 10));
        System.out.println(collatz(27) + " " + manyHeaders(14));
    }
}
