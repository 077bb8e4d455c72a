package trodden.listener;

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Reports to Trodden's agent which test has ended: what was counted since it began is that test's. JUnit's launcher finds
 * it by its service file. Without the agent it does nothing.
 */
public final class GateListener implements TestExecutionListener {
    @Override
    public void executionStarted(TestIdentifier test) {
        if (test.isTest()) {
            Progress.started(GateListener.class, test.getUniqueId());
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.isTest()) {
            long now = Progress.allocated();
            String maxGrowth = Limits.of(test.getSource().orElse(null));
            Progress.finished(GateListener.class, test.getUniqueId(), now, name(test), maxGrowth);
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
                name.append(separator).append(simple(type.trim()));
                separator = ", ";
            }
        }
        return name.append(')').toString();
    }

    /** `String[]` for `[Ljava.lang.String;`: arrays have the names that the JVM has for them. */
    private static String simple(String type) {
        int dimensions = type.lastIndexOf('[') + 1;
        StringBuilder name = new StringBuilder();
        if (dimensions == 0) {
            name.append(type.substring(type.lastIndexOf('.') + 1));
        } else if (type.endsWith(";")) {
            String element = type.substring(dimensions + 1, type.length() - 1);
            name.append(element.substring(element.lastIndexOf('.') + 1));
        } else {
            int primitive = "BCDFIJSZ".indexOf(type.charAt(dimensions));
            String[] names = {"byte", "char", "double", "float", "int", "long", "short", "boolean"};
            name.append(primitive < 0 ? type.substring(dimensions) : names[primitive]);
        }
        for (int i = 0; i < dimensions; i++) {
            name.append("[]");
        }
        return name.toString();
    }
}
