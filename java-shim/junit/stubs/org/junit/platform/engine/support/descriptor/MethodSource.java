package org.junit.platform.engine.support.descriptor;

import org.junit.platform.engine.TestSource;

/** A stub of JUnit's, to compile against: it is not in the jar. */
public final class MethodSource implements TestSource {
    public String getClassName() {
        return null;
    }

    public String getMethodName() {
        return null;
    }

    public String getMethodParameterTypes() {
        return null;
    }
}
