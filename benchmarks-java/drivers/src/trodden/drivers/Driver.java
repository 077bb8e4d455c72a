package trodden.drivers;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;

/**
 * Runs an application again and again in one JVM. Usage: {@code DRIVER [INPUT...] [--warmup N] [--iterations N |
 * --seconds S]}; with seconds, as many iterations as are needed for S seconds of processor time.
 *
 * <p>Prints the same line as the kernels' {@code Main}: {@code name iteration nanos cpuNanos checksum}. The
 * checksum is of the application's output, so that runs with and without a profiler can be compared; it must
 * be the same in every iteration.
 */
abstract class Driver {
    /** Checksum of an iteration's output. */
    protected final CRC32 output = new CRC32();

    abstract String name();

    /** Reads the inputs once, before the first iteration. */
    abstract void prepare(List<Path> inputs) throws Exception;

    /** One iteration; what it makes goes into {@link #output}. */
    abstract void iterate() throws Exception;

    protected final void add(byte[] bytes) {
        output.update(bytes);
    }

    protected final void add(String text) {
        add(text.getBytes(StandardCharsets.UTF_8));
    }

    protected final void add(long number) {
        for (int shift = 0; shift < 64; shift += 8) {
            output.update((int) (number >>> shift) & 255);
        }
    }

    final void drive(String[] args) throws Exception {
        int warmup = 2;
        int iterations = 3;
        long most = Long.MAX_VALUE;
        List<Path> inputs = new ArrayList<>();
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--warmup" -> warmup = Integer.parseInt(args[++i]);
                case "--iterations" -> iterations = Integer.parseInt(args[++i]);
                case "--seconds" -> {
                    most = TimeUnit.SECONDS.toNanos(Integer.parseInt(args[++i]));
                    iterations = Integer.MAX_VALUE;
                }
                default -> inputs.add(Path.of(args[i]));
            }
        }
        prepare(inputs);
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long first = 0;
        long spent = 0;
        for (int i = -warmup; i < iterations && spent < most; i++) {
            output.reset();
            long cpu = system.getProcessCpuTime();
            long start = System.nanoTime();
            iterate();
            long nanos = System.nanoTime() - start;
            cpu = system.getProcessCpuTime() - cpu;
            spent += i < 0 ? 0 : cpu;
            long checksum = output.getValue();
            System.out.println(name() + " " + i + " " + nanos + " " + cpu + " " + Long.toHexString(checksum));
            if (i == -warmup) {
                first = checksum;
            } else if (checksum != first) {
                throw new IllegalStateException(name() + ": the output changed from one iteration to the next");
            }
        }
        // Some applications leave threads behind that would keep the JVM alive.
        System.exit(0);
    }

    static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalStateException(message);
        }
    }
}
