package app;

import lib.Steps;

/** Counts on several threads at once, so that the first probe is hit by many of them. */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws InterruptedException {
        int threads = args.length == 0 ? 4 : Integer.parseInt(args[0]);
        long[] sums = new long[threads];
        Thread[] all = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            int number = t;
            all[t] = new Thread(() -> sums[number] = sum(number));
            all[t].start();
        }
        long total = 0;
        for (int t = 0; t < threads; t++) {
            all[t].join();
            total += sums[t];
        }
        System.out.println(total);
        if (args.length > 1) {
            throw new IllegalStateException(args[1]);
        }
    }

    private static long sum(int number) {
        long sum = 0;
        for (int i = 1; i < 5000; i++) {
            sum += i % 3 == number % 3 ? Steps.collatz(i) : 1;
        }
        return sum;
    }
}
