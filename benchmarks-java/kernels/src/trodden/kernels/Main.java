package trodden.kernels;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs kernels. Usage: {@code Main [--iterations N | --seconds S] [--warmup N] NAME... | all | --list}; with
 * seconds, as many iterations of each as are needed for S seconds of processor time.
 *
 * <p>One line per measured iteration: {@code kernel iteration nanos cpuNanos checksum}, where cpuNanos is the CPU
 * time of the whole process during the iteration (compiler and collector threads too). Warm-up iterations have
 * negative numbers. Exits with 1 if a checksum is wrong.
 */
public final class Main {
    private Main() {}

    static final List<Kernel> KERNELS = List.of(
            new Fft(), new HeapSort(), new MolecularDynamics(), new RayTracer(), new LexerGenerator(), new Lzw(),
            new Database(), new Mandelbrot(), new Sieve(), new MatrixMultiply(), new MonteCarlo(),
            new MaskedConvolution(), new MaskedConvolutionUnrolled(), new TaskTagScanner(), new NestedReturn(),
            new Recursion(), new VirtualDispatch(), new ProducerConsumer(), new ThreadServer());

    public static void main(String[] args) {
        int iterations = 10;
        long most = Long.MAX_VALUE;
        int warmup = 5;
        List<Kernel> chosen = new ArrayList<>();
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--iterations" -> iterations = number(args, ++i);
                case "--seconds" -> {
                    most = TimeUnit.SECONDS.toNanos(number(args, ++i));
                    iterations = Integer.MAX_VALUE;
                }
                case "--warmup" -> warmup = number(args, ++i);
                case "--list" -> KERNELS.forEach(kernel -> System.out.println(kernel.name()));
                case "all" -> chosen.addAll(KERNELS);
                default -> chosen.add(find(args[i]));
            }
        }
        boolean good = true;
        for (Kernel kernel : chosen) {
            good &= measure(kernel, warmup, iterations, most);
        }
        if (!good) {
            System.exit(1);
        }
    }

    private static boolean measure(Kernel kernel, int warmup, int iterations, long most) {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        List<Long> checksums = new ArrayList<>();
        long spent = 0;
        for (int i = -warmup; i < iterations && spent < most; i++) {
            long cpu = system.getProcessCpuTime();
            long start = System.nanoTime();
            long checksum = kernel.run();
            long nanos = System.nanoTime() - start;
            cpu = system.getProcessCpuTime() - cpu;
            spent += i < 0 ? 0 : cpu;
            System.out.println(kernel.name() + " " + i + " " + nanos + " " + cpu + " " + Long.toHexString(checksum));
            checksums.add(checksum);
        }
        long expected = kernel.expected();
        for (long checksum : checksums) {
            if (checksum != expected) {
                System.err.println(kernel.name() + ": checksum " + Long.toHexString(checksum) + ", expected "
                        + Long.toHexString(expected));
                return false;
            }
        }
        return true;
    }

    private static Kernel find(String name) {
        return KERNELS.stream()
                .filter(kernel -> kernel.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no kernel '" + name + "'; --list names them"));
    }

    private static int number(String[] args, int index) {
        if (index >= args.length) {
            throw new IllegalArgumentException(args[index - 1] + " needs a number");
        }
        return Integer.parseInt(args[index]);
    }
}
