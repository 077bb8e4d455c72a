package trodden;

import java.io.PrintStream;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the probes of code call that {@code trodden instrument} wrote. For tests: every call is counted, slowly and
 * under one lock, and the counts are written at the end to the file that the property {@code trodden.counts} names:
 * lines {@code path METHOD PATH COUNT} and {@code slot NUMBER COUNT}.
 */
public final class Runtime {
    private static final Map<Long, Long> PATHS = new TreeMap<>();
    private static final Map<Long, Long> SLOTS = new TreeMap<>();

    static {
        java.lang.Runtime.getRuntime().addShutdownHook(new Thread(Runtime::write));
    }

    private Runtime() {}

    /** Probe {@code yieldpoint}: a path has ended. */
    public static synchronized void pathEnd(int method, int path) {
        PATHS.merge((long) method << 32 | path, 1L, Long::sum);
    }

    /** Probe {@code counters}: where a class's slots begin, in whatever unit {@link #count(long, int)} understands. */
    public static long counters(int offset) {
        return offset;
    }

    /** Probe {@code counters}: a path has ended, in a method that knows where its class's slots begin. */
    public static synchronized void count(long counters, int slot) {
        SLOTS.merge(counters + slot, 1L, Long::sum);
    }

    /** Probe {@code counters}: a path has ended, in a method that does not. */
    public static void count(int offset, int slot) {
        count(counters(offset), slot);
    }

    /** Probe {@code counters}: a path of a method with too many for slots has ended. */
    public static void countHashed(int method, int path) {
        pathEnd(method, path);
    }

    private static synchronized void write() {
        try (PrintStream out = new PrintStream(System.getProperty("trodden.counts"))) {
            PATHS.forEach((key, count) -> out.println("path " + (key >>> 32) + " " + key.intValue() + " " + count));
            SLOTS.forEach((slot, count) -> out.println("slot " + slot + " " + count));
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
