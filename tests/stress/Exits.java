/** Argument: how to end: normal, exit, halt, uncaught, daemon (a daemon thread still throwing at the end). */
public final class Exits {
    static int work(int n) {
        int r = 0;
        for (int i = 0; i < n; i++) {
            r += i % 2 == 0 ? 1 : 3;
        }
        return r;
    }

    static void thrower(int n) {
        if (n > 0) {
            throw new IllegalStateException();
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println(work(100));
        switch (arguments[0]) {
            case "normal":
                return;
            case "exit":
                System.exit(7);
                return;
            case "halt":
                System.out.flush();
                Runtime.getRuntime().halt(9);
                return;
            case "uncaught":
                throw new IllegalStateException("on purpose");
            default:
                for (int i = 0; i < 4; i++) {
                    Thread daemon = new Thread(() -> {
                        while (true) {
                            try {
                                thrower(1);
                            } catch (IllegalStateException expected) {
                                work(50);
                            }
                        }
                    });
                    daemon.setDaemon(true);
                    daemon.start();
                }
                Thread.sleep(200);
        }
    }
}
