// More paths than dense counters hold (4,096), and more than 2^31, where cut points come in.
public class ManyPaths {
    static int hashed(int x) {
        int r = 0;
        if ((x & 1) != 0) r += 1; // expect taken=50 not-taken=50
        if ((x & 2) != 0) r += 2; // expect taken=50 not-taken=50
        if ((x & 4) != 0) r += 4; // expect taken=52 not-taken=48
        if ((x & 8) != 0) r += 8;
        if ((x & 16) != 0) r += 16;
        if ((x & 32) != 0) r += 32;
        if ((x & 64) != 0) r += 64; // expect taken=64 not-taken=36
        if (x % 3 == 0) r *= 3;
        if (x % 5 == 0) r *= 5;
        if (x % 7 == 0) r *= 7;
        if (x % 11 == 0) r *= 11;
        if (x % 13 == 0) r *= 13;
        if (x % 17 == 0) r *= 17;
        if (x % 19 == 0) r *= 19;
        return r;
    }
    // expect total hashed = 100
    // expect distinct hashed = 100

    static long cut(long x) {
        long r = 1;
        if ((x & 1L) != 0) r += 1; if ((x & 2L) != 0) r *= 3; if ((x & 4L) != 0) r += 5; if ((x & 8L) != 0) r *= 7;
        if ((x & 16L) != 0) r += 2; if ((x & 32L) != 0) r *= 3; if ((x & 64L) != 0) r += 5; if ((x & 128L) != 0) r *= 7;
        x >>= 3;
        if ((x & 1L) != 0) r += 3; if ((x & 2L) != 0) r *= 3; if ((x & 4L) != 0) r += 5; if ((x & 8L) != 0) r *= 7;
        if ((x & 16L) != 0) r += 4; if ((x & 32L) != 0) r *= 3; if ((x & 64L) != 0) r += 5; if ((x & 128L) != 0) r *= 7;
        x >>= 1;
        if ((x & 1L) != 0) r += 5; if ((x & 2L) != 0) r *= 3; if ((x & 4L) != 0) r += 5; if ((x & 8L) != 0) r *= 7;
        if ((x & 16L) != 0) r += 6; if ((x & 32L) != 0) r *= 3; if ((x & 64L) != 0) r += 5; if ((x & 128L) != 0) r *= 7;
        x >>= 2;
        if ((x & 1L) != 0) r += 7; if ((x & 2L) != 0) r *= 3; if ((x & 4L) != 0) r += 5; if ((x & 8L) != 0) r *= 7;
        if ((x & 16L) != 0) r += 8; if ((x & 32L) != 0) r *= 3; if ((x & 64L) != 0) r += 5; if ((x & 128L) != 0) r *= 7;
        x >>= 1;
        if ((x & 1L) != 0) r += 9; if ((x & 2L) != 0) r *= 3; if ((x & 4L) != 0) r += 5; if ((x & 8L) != 0) r *= 7;
        if ((x & 16L) != 0) r += 9; if ((x & 32L) != 0) r *= 3; if ((x & 64L) != 0) r += 5; if ((x & 128L) != 0) r *= 7;
        return r; // mark end
    }
    // Every activation ends at least one path at a cut point besides the one at its return.
    // expect ends cut cut >= 500
    // expect ends cut return = 500

    public static void main(String[] args) {
        long sum = 0;
        for (int i = 0; i < 100; i++) sum = sum * 31 + hashed(i);
        for (int i = 0; i < 500; i++) sum = sum * 31 + cut(i * 2654435761L);
        System.out.println(sum);
    }
}
