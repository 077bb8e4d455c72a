// StackOverflowError: caught far above and in the middle of the recursion; a probe that runs out of stack
// itself, at
// every possible depth, on a thread that has never counted before; and that counting goes on rightly after
// that.
// How deep a stack is, is the JVM's secret, and our probes make frames larger. So what is compared is what
// does not depend
// on it: activations that overflow end no path, whatever their number; those of fixed depth are counted. Only
// for the
// methods named here does the number of paths depend on the depth.
// target uncounted=shrinking,brim,dive
// target unsteady=bottomless
public class Overflow {
    static int calls;

    /** Never returns: its paths never end. */
    static int bottomless(int n) {
        calls++;
        if (n < 0) { // expect taken=0 not-taken=0
            return 0;
        }
        return bottomless(n + 1) + 1;
        // expect total bottomless = 0
    }

    /** Goes down 50 activations, then over the edge, and catches that right there. */
    static int middle(int n) {
        try {
            if (n == 50) { // mark mn  // expect taken=50 not-taken=0
                return bottomless(0);
            }
            return middle(n + 1) + 1; // mark mr
        } catch (StackOverflowError e) { // mark mh
            return n * 1000; // mark mc
        }
        // expect path middle entry mn:taken -> return@mr = 50
        // expect path middle handler@mh -> return@mc = 1
    }

    /** The program's own StackOverflowError, far from the edge: thrown at a fixed depth, rethrown but by every third frame. */
    static int own(int n) {
        if (n == 0) { // mark o0
            throw new StackOverflowError("mine"); // mark ot
        }
        try {
            return own(n - 1); // mark or
        } catch (StackOverflowError e) { // mark oh
            calls++;
            if (n % 3 != 0) { // mark o3
                throw e; // mark oe
            }
            return n; // mark oc
        }
        // For n = 1, 3, 5, 7, 9: frames 1 and 2 rethrow, frame 3 catches, those above it return.
        // expect path own entry o0:not-taken -> throw@ot = 5
        // expect path own entry o0:taken -> return@or = 12
        // expect path own handler@oh o3:not-taken -> throw@oe = 9
        // expect path own handler@oh o3:taken -> return@oc = 4
    }

    /** Fixed depth, no error: 400 activations with a loop each. */
    static int fine(int n) {
        int sum = 0;
        for (int i = 0; i < 3; i++) { // mark fl
            sum += (n ^ i) & 1;
        }
        return n == 0 ? sum : sum + fine(n - 1);
        // expect ends fine header = 3208
        // expect ends fine return = 802
    }

    /** Paths that end before the edge, in a loop, so that probes run in the last activation that fits. */
    static int shrinking(int n) {
        int sum = 0;
        for (int i = 0; i < 2; i++) {
            if ((n + i) % 3 == 0) {
                sum += i;
            }
        }
        return sum + shrinking(n + 1);
    }

    /** Many paths in a few bytes of stack. */
    static int brim(int n) {
        int r = 0;
        for (int i = 0; i < 3; i++) {
            r += (n & 1) == 0 ? i : (n & 2) == 0 ? 2 * i : 3;
        }
        return r;
    }

    static boolean reached;

    /** Goes to the edge; on the way back, every frame tries `brim` until it fits, once and for all. */
    static int dive(int n) {
        int below;
        try {
            below = dive(n + 1);
        } catch (StackOverflowError e) {
            below = -1;
        }
        if (!reached) {
            brim(n); // throws until there is room for it and its probes
            reached = true;
        }
        return below + 1;
    }

    static void onNewThread(Runnable body) throws InterruptedException {
        Throwable[] thrown = new Throwable[1];
        // Platform threads, with little stack, so that thousands of frames are the most.
        Thread thread = new Thread(null, () -> {
            try {
                body.run();
            } catch (Throwable t) {
                thrown[0] = t;
            }
        }, "small", 256 << 10);
        thread.start();
        thread.join();
        if (thrown[0] != null) { // expect taken=20 not-taken=0
            System.out.println("thread ended by " + thrown[0]);
        }
    }

    public static void main(String[] args) throws Exception {
        // A path that goes into bottomless() is abandoned there.
        for (int i = 0; i < 3; i++) { // expect taken=1 not-taken=0
            try {
                bottomless(0);
                System.out.println("never");
            } catch (StackOverflowError e) {
                System.out.println("main caught " + (calls > 500)); // expect taken=0 not-taken=3
            }
        }
        System.out.println(middle(0));
        for (int n = 1; n < 11; n += 2) {
            try {
                System.out.println(own(n));
            } catch (StackOverflowError e) {
                System.out.println(e.getMessage());
            }
        }
        System.out.println(fine(400));
        for (int i = 0; i < 10; i++) {
            reached = false;
            onNewThread(() -> {
                dive(0);
                System.out.println("surfaced " + reached);
            });
            onNewThread(() -> {
                try {
                    shrinking(0);
                } catch (StackOverflowError e) {
                    System.out.println("thread caught");
                }
            });
        }
        System.out.println(fine(400));
    }
}
