package org.junit.platform.engine;

/** A stub of JUnit's, to compile against: it is not in the jar. */
public interface TestSource {
}
