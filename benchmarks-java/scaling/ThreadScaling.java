package trodden.kernels;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The same work in any number of threads. Usage: {@code ThreadScaling KERNEL THREADS RUNS [--warmup N] [--iterations N]}.
 *
 * <p>An iteration is RUNS runs of the kernel, which the threads take from a common counter, each with an instance of
 * its own. Prints a line per iteration as {@link Main} does; the checksum is the sum over all runs.
 */
public final class ThreadScaling {
    private ThreadScaling() {}

    public static void main(String[] args) throws Exception {
        String name = args[0];
        int threads = Integer.parseInt(args[1]);
        int runs = Integer.parseInt(args[2]);
        int warmup = 1;
        int iterations = 1;
        for (int i = 3; i + 1 < args.length; i += 2) {
            switch (args[i]) {
                case "--warmup" -> warmup = Integer.parseInt(args[i + 1]);
                case "--iterations" -> iterations = Integer.parseInt(args[i + 1]);
                default -> throw new IllegalArgumentException(args[i]);
            }
        }
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int i = 0; i < warmup + iterations; i++) {
            long cpu = system.getProcessCpuTime();
            long start = System.nanoTime();
            long checksum = iteration(name, threads, runs);
            long nanos = System.nanoTime() - start;
            cpu = system.getProcessCpuTime() - cpu;
            System.out.println(name + " " + (i - warmup) + " " + nanos + " " + cpu + " " + Long.toHexString(checksum));
        }
    }

    private static long iteration(String name, int threads, int runs) throws Exception {
        AtomicInteger left = new AtomicInteger(runs);
        AtomicLong sum = new AtomicLong();
        AtomicLong wrong = new AtomicLong();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Kernel kernel = instance(name);
            Thread thread = new Thread(() -> {
                long first = 0;
                boolean any = false;
                while (left.getAndDecrement() > 0) {
                    long checksum = kernel.run();
                    if (any && checksum != first) {
                        wrong.incrementAndGet();
                    }
                    first = checksum;
                    any = true;
                    sum.addAndGet(checksum);
                }
            });
            all.add(thread);
            thread.start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        if (wrong.get() != 0 || sum.get() != runs * instance(name).expected()) {
            System.err.println(name + ": a checksum is wrong");
            System.exit(1);
        }
        return sum.get();
    }

    private static Kernel instance(String name) throws ReflectiveOperationException {
        for (Kernel kernel : Main.KERNELS) {
            if (kernel.name().equals(name)) {
                return kernel.getClass().getDeclaredConstructor().newInstance();
            }
        }
        throw new IllegalArgumentException("no kernel '" + name + "'");
    }
}
