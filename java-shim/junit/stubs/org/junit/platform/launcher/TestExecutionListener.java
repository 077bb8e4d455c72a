package org.junit.platform.launcher;

import org.junit.platform.engine.TestExecutionResult;

/** A stub of JUnit's, to compile against: it is not in the jar. */
public interface TestExecutionListener {
    default void executionStarted(TestIdentifier test) {
    }

    default void executionFinished(TestIdentifier test, TestExecutionResult result) {
    }
}
