import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

// target
/**
 * Paths that are cut off: by exceptions of all kinds, and by the end of the JVM in the middle of a recursion, while another thread
 * waits. Every count is compared with the oracle's.
 */
class Cuts {
    static int sink;

    static class Failure extends RuntimeException {
        Failure(String message) {
            super(message, null, false, false);
        }
    }

    static int divide(int a, int b) {
        int sign = a < 0 ? -1 : 1;
        int result = a / b;
        if (result > 10) {
            sink++;
        }
        return sign * result;
    }

    static void check(int n) {
        if (n % 3 == 0) {
            throw new Failure("three");
        }
        if (n % 5 == 0) {
            throw new IllegalStateException("five");
        }
    }

    static int caught(int n) {
        int seen = 0;
        for (int i = 0; i < n; i++) {
            try {
                seen += i % 2 == 0 ? 1 : 2;
                check(i);
                seen += 3;
            } catch (Failure e) {
                seen += 10;
                if (seen % 7 == 0) {
                    seen++;
                }
            } finally {
                sink += seen;
            }
        }
        return seen;
    }

    static int nested(int n, int[] a) {
        int r = 0;
        try {
            try {
                r += a[n];
                if (n > 2) {
                    r += divide(r, n - 4);
                }
                check(n);
            } catch (ArithmeticException e) {
                r = 7;
                check(15);
                r = 8;
            }
        } catch (ArrayIndexOutOfBoundsException e) {
            r = -1;
        } finally {
            if (r > 3) {
                sink++;
            }
            sink += divide(8, r == -1 ? 0 : 1);
        }
        return r;
    }

    static synchronized int locked(Object o, int n) {
        synchronized (o) {
            if (n > 2) {
                return o.toString().charAt(n);
            }
            return n;
        }
    }

    static int straight(String s) {
        return s.length() + s.charAt(2);
    }

    static void rethrows(int n) throws Exception {
        try {
            check(n);
            sink++;
        } catch (Failure e) {
            throw new Exception(e);
        }
    }

    static class Made {
        final int value;

        Made(int n) {
            this.value = n > 3 ? divide(100, n - 5) : n;
            check(n);
        }

        Made(String s) {
            this(s.length() > 2 ? 2 : 8 - s.length());
        }
    }

    static class Broken {
        static int value = sink >= 0 ? divide(1, sink - sink) : 3;
    }

    static int deep(int n) {
        if (n == 0) { // expect taken=0 not-taken=40
            throw new Failure("bottom");
        }
        int r = deep(n - 1);
        return r + 1;
    }

    static int switches(int n, Object o) {
        switch (n) {
            case 0:
                return o.hashCode() == 0 ? 1 : 2;
            case 1:
                sink++;
            case 2:
                return ((String) o).length();
            case 3:
                return new int[n - 4].length;
            default:
                throw new Failure("default");
        }
    }

    static void quietly(Runnable run) {
        try {
            run.run();
        } catch (Throwable e) {
            sink++;
        }
    }

    static int exit(int n, List<String> list) {
        int r = 0;
        for (String s : list) {
            r += s.length();
            if (r > 5 && n == 0) { // expect taken=11 not-taken=20, taken=20 not-taken=0
                System.exit(3);
            }
        }
        if (n > 0) {
            r += exit(n - 1, list);
        }
        return r;
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 40; i++) {
            int n = i;
            quietly(() -> sink += divide(n, n % 4));
            quietly(() -> sink += caught(n));
            quietly(() -> sink += nested(n % 7, new int[] {1, 2, 3, 4, 5}));
            quietly(() -> sink += locked(n % 5 == 0 ? null : "abcd", n % 7));
            quietly(() -> sink += straight("abcde".substring(0, n % 5)));
            quietly(() -> {
                try {
                    rethrows(n);
                } catch (Exception e) {
                    sink--;
                }
            });
            quietly(() -> sink += new Made(n % 9).value);
            quietly(() -> sink += new Made(n % 2 == 0 ? "abc" : "a").value);
            quietly(() -> sink += Broken.value);
            quietly(() -> sink += deep(n));
            quietly(() -> sink += switches(n % 5, n % 3 == 0 ? (Object) "x" : n % 3 == 1 ? null : 5));
        }
        Thread dies = new Thread(() -> sink += divide(5, 0));
        dies.setUncaughtExceptionHandler((t, e) -> sink++);
        dies.start();
        dies.join();
        List<String> list = new ArrayList<>(List.of("abc", "def", "ghi"));
        Object never = new Object();
        CountDownLatch entered = new CountDownLatch(1);
        Thread daemon = new Thread(() -> {
            int rounds = 0;
            for (String s : list) {
                rounds += s.length();
                if (rounds > 4) {
                    synchronized (never) {
                        entered.countDown();
                        try {
                            never.wait();
                        } catch (InterruptedException e) {
                            sink++;
                        }
                    }
                }
            }
        });
        daemon.setDaemon(true);
        daemon.start();
        // The thread that gets the monitor after that finds the other waiting: no loop, whose turns would depend on time.
        entered.await();
        synchronized (never) {
            sink++;
        }
        System.out.println(sink > 0);
        sink += exit(args.length + 10, list);
        System.out.println("never");
    }
}
