package trodden.listener;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.Set;

/** The tests in progress; reports to Trodden's agent when one has ended. Without the agent it does nothing. */
final class Progress {
    /** As in {@code profile/src/model/by_test}. */
    private static final String BETWEEN = "(between tests)";
    private static final String TOGETHER = "(tests at the same time)";

    private static final MethodHandle MARK = mark();
    private static final Progress ONE = new Progress();

    /** The class that reports when tests begin: the first one that does. TestNG may run below JUnit's launcher, and is heard once. */
    private Class<?> owner;
    private final Set<Object> running = new HashSet<>();
    /** Have there been several at a time since the last moment without any? Then it is not known what is whose. */
    private boolean together;
    /** The bytes that the thread of the running test had allocated before. */
    private Thread thread;
    private long allocated;

    private Progress() {
    }

    private static MethodHandle mark() {
        try {
            Class<?> trodden = Class.forName("java.lang.Trodden", true, null);
            MethodType type = MethodType.methodType(void.class, String.class, long.class, long.class, String.class);
            return MethodHandles.publicLookup().findStatic(trodden, "test", type);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return null;
        }
    }

    /** A test begins. */
    static void started(Class<?> owner, Object test) {
        if (MARK != null) {
            ONE.start(owner, test);
        }
    }

    /** A test that this owner began has ended; its thread had allocated {@code now} bytes then. */
    static void finished(Class<?> owner, Object test, long now, String name, String maxGrowth) {
        if (MARK != null) {
            ONE.finish(owner, test, now, name, maxGrowth);
        }
    }

    private synchronized void start(Class<?> by, Object test) {
        if (owner == null) {
            owner = by;
        }
        if (owner != by) {
            return;
        }
        if (running.isEmpty()) {
            mark(BETWEEN, -1, null);
        } else {
            together = true;
        }
        running.add(test);
        thread = Thread.currentThread();
        allocated = allocated();
    }

    private synchronized void finish(Class<?> by, Object test, long now, String name, String maxGrowth) {
        if (owner != by || !running.remove(test)) {
            return;
        }
        boolean known = !together && thread == Thread.currentThread() && allocated >= 0 && now >= 0;
        if (together) {
            mark(TOGETHER, -1, null);
        } else {
            mark(name, known ? now - allocated : -1, maxGrowth);
        }
        if (running.isEmpty()) {
            together = false;
        }
    }

    /** Bytes that this thread has allocated so far, or -1. */
    static long allocated() {
        try {
            java.lang.management.ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            if (threads instanceof com.sun.management.ThreadMXBean) {
                long id = Thread.currentThread().getId();
                return ((com.sun.management.ThreadMXBean) threads).getThreadAllocatedBytes(id);
            }
        } catch (RuntimeException | LinkageError e) {
            // This JVM does not know.
        }
        return -1;
    }

    private static void mark(String name, long allocated, String maxGrowth) {
        try {
            MARK.invokeExact(name, 0L, allocated, maxGrowth);
        } catch (Throwable e) {
            // The agent itself reports what it could not do; tests continue.
        }
    }
}
