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

    private static synchronized void write() {
        try (PrintStream out = new PrintStream(System.getProperty("trodden.counts"))) {
            PATHS.forEach((key, count) -> out.println("path " + (key >>> 32) + " " + key.intValue() + " " + count));
            SLOTS.forEach((slot, count) -> out.println("slot " + slot + " " + count));
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
