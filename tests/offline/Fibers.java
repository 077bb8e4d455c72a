/** Only {@code Work} is instrumented, so the first probe is hit by a virtual thread, and by several at once. */
public final class Fibers {
    static final class Work {
        static int thirds(int n) {
            int thirds = 0;
            for (int i = 0; i < n; i++) {
                if (i % 3 == 0) {
                    thirds++;
                }
            }
            return thirds;
        }
    }

    private Fibers() {}

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[50];
        int[] found = new int[threads.length];
        for (int t = 0; t < threads.length; t++) {
            int number = t;
            threads[t] = Thread.ofVirtual().start(() -> found[number] = Work.thirds(1000));
        }
        int sum = 0;
        for (int t = 0; t < threads.length; t++) {
            threads[t].join();
            sum += found[t];
        }
        System.out.println(sum);
    }
}
