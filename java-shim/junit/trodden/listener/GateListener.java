package trodden.listener;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.Set;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Tells Trodden's agent which test has ended: what was counted since it began is that test's. JUnit's launcher finds
 * it by its service file. Without the agent it does nothing.
 */
public final class GateListener implements TestExecutionListener {
    /** As in {@code profile/src/model/by_test}. */
    private static final String BETWEEN = "(between tests)";
    private static final String TOGETHER = "(tests at the same time)";

    private static final MethodHandle MARK = mark();

    private final Set<String> running = new HashSet<>();
    /** Have there been several at a time since the last moment without any? Then it is not known what is whose. */
    private boolean together;
    /** What the thread of the test that runs had allocated before. */
    private Thread thread;
    private long allocated;

    private static MethodHandle mark() {
        try {
            Class<?> trodden = Class.forName("java.lang.Trodden", true, null);
            MethodType type = MethodType.methodType(void.class, String.class, long.class, long.class, String.class);
            return MethodHandles.publicLookup().findStatic(trodden, "test", type);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return null;
        }
    }

    @Override
    public synchronized void executionStarted(TestIdentifier test) {
        if (MARK == null || !test.isTest()) {
            return;
        }
        if (running.isEmpty()) {
            end(BETWEEN, -1, null);
        } else {
            together = true;
        }
        running.add(test.getUniqueId());
        thread = Thread.currentThread();
        allocated = allocated();
    }

    @Override
    public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (MARK == null || !test.isTest() || !running.remove(test.getUniqueId())) {
            return;
        }
        long now = allocated();
        boolean known = !together && thread == Thread.currentThread() && allocated >= 0 && now >= 0;
        if (together) {
            end(TOGETHER, -1, null);
        } else {
            end(name(test), known ? now - allocated : -1, Limits.of(test.getSource().orElse(null)));
        }
        if (running.isEmpty()) {
            together = false;
        }
    }

    /** Bytes that this thread has allocated so far, or -1. */
    private static long allocated() {
        try {
            java.lang.management.ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            if (threads instanceof com.sun.management.ThreadMXBean) {
                long id = Thread.currentThread().getId();
                return ((com.sun.management.ThreadMXBean) threads).getThreadAllocatedBytes(id);
            }
        } catch (RuntimeException | LinkageError e) {
            // This JVM does not tell.
        }
        return -1;
    }

    private static void end(String name, long allocated, String maxGrowth) {
        try {
            MARK.invokeExact(name, 0L, allocated, maxGrowth);
        } catch (Throwable e) {
            // The agent says itself what it could not do; tests go on.
        }
    }

    /** Invocations of a test with several sets of parameters, or repeated ones, have one name, and are added up. */
    static String name(TestIdentifier test) {
        TestSource source = test.getSource().orElse(null);
        if (!(source instanceof MethodSource)) {
            return test.getDisplayName();
        }
        MethodSource method = (MethodSource) source;
        StringBuilder name = new StringBuilder(method.getClassName());
        name.append('.').append(method.getMethodName()).append('(');
        String parameters = method.getMethodParameterTypes();
        if (parameters != null && !parameters.isEmpty()) {
            String separator = "";
            for (String type : parameters.split(",")) {
                String plain = type.trim();
                name.append(separator).append(plain.substring(plain.lastIndexOf('.') + 1));
                separator = ", ";
            }
        }
        return name.append(')').toString();
    }
}
