package org.junit.platform.engine;

/** Stands for JUnit's, to compile against: it is not in the jar. */
public class TestExecutionResult {
}
