package made;

import java.io.Closeable;

/** Code that compilers copy, and code that looks like it: `finally` with decisions, handlers written by hand, resources. */
public class MadeFinally {
    static int n;

    static void fail(boolean now) {
        if (now) {
            throw new IllegalStateException();
        }
    }

    static void and(boolean now, boolean a, boolean b) {
        try {
            fail(now);
        } finally {
            if (a && b) n++;
        }
    }

    static void or(boolean now, boolean a, boolean b) {
        try {
            fail(now);
        } finally {
            if (a || b) n++;
        }
    }

    static void nested(boolean now, boolean a, boolean b) {
        try {
            fail(now);
        } finally {
            if (a) { if (b) n++; else n--; }
        }
    }

    static int ways(boolean now, boolean a, boolean b) {
        try {
            if (a) {
                return 1;
            }
            fail(now);
            return 2;
        } catch (IllegalStateException e) {
            n += 2;
        } finally {
            if (a && b) n++; else n += 3;
        }
        return n;
    }

    static void rounds(boolean now, boolean a, boolean b) {
        for (int i = 0; i < 3; i++) {
            try {
                if (i == 1) continue;
                fail(now && i == 2);
            } finally {
                if (a && i > 0 || b) n++;
            }
        }
    }

    static void inner(boolean now, boolean a, boolean b) {
        try {
            try {
                fail(now);
            } finally {
                if (a && b) n++;
            }
        } finally {
            switch (n) {
                case 1: n += 5; break;
                case 2: n += a ? 1 : 2; break;
                default: n--;
            }
        }
    }

    static void byHand(Closeable resource, boolean now) throws Throwable {
        try {
            fail(now);
        } catch (Throwable t) {
            n += 7;
            if (n % 2 == 0) {
                n++;
            }
            try {
                resource.close();
            } catch (Throwable t1) {
                t.addSuppressed(t1);
            }
            throw t;
        }
        resource.close();
    }

    static void checkedByHand(Closeable resource, boolean now) throws Throwable {
        try {
            fail(now);
        } catch (Throwable t) {
            n += 7;
            try {
                if (resource != null && n > 0) {
                    resource.close();
                }
            } catch (Throwable t1) {
                t.addSuppressed(t1);
            }
            throw t;
        }
        if (resource != null) {
            resource.close();
        }
    }

    static Closeable open(boolean now) {
        return () -> fail(now);
    }

    static int one(boolean now) throws Exception {
        try (Closeable c = open(false)) {
            n++;
            fail(now);
        }
        return n;
    }

    static int two(boolean now) throws Exception {
        try (Closeable c = open(false); Closeable d = open(now)) {
            n++;
        }
        return n;
    }

    static int both(boolean now) throws Exception {
        try (Closeable c = open(false)) {
            fail(now);
        } finally {
            if (now && n > 0) n++;
        }
        return n;
    }

    static int leaves(boolean now) throws Exception {
        try (Closeable c = open(false)) {
            return n + 1;
        }
    }

    static int strings(String text) {
        switch (text) {
            case "a":
            case "b":
                return 1;
            case "Aa":
                return 2;
            case "BB":
                return 3;
            default:
                return 4;
        }
    }

    static int asserts(int a) {
        assert a > 0 : "positive";
        assert a < 100 && a != 50;
        return a;
    }

    interface Action {
        void run() throws Throwable;
    }

    static void ignore(Action action) {
        try {
            action.run();
        } catch (Throwable t) {
            n++;
        }
    }

    public static void main(String[] args) {
        for (boolean now : new boolean[] {false, true}) {
            ignore(() -> and(now, true, now));
            ignore(() -> or(now, false, now));
            ignore(() -> nested(now, true, now));
            ignore(() -> ways(now, false, now));
            ignore(() -> ways(now, now, now));
            ignore(() -> rounds(now, true, now));
            ignore(() -> inner(now, true, now));
            for (boolean closing : new boolean[] {false, true}) {
                ignore(() -> byHand(open(closing), now));
                ignore(() -> checkedByHand(closing && now ? null : open(closing), now));
            }
            ignore(() -> one(now));
            ignore(() -> two(now));
            ignore(() -> both(now));
            ignore(() -> leaves(now));
        }
        for (String text : new String[] {"a", "BB", "x"}) {
            n += strings(text);
        }
        n += asserts(3);
        System.out.println(n);
    }
}
