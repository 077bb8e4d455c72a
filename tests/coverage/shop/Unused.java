package shop;

/** Never loaded. */
class Unused {
    static int sign(int n) {
        if (n > 0) {
            return 1;
        }
        return n < 0 ? -1 : 0;
    }

    static int one() {
        return 1;
    }
}
