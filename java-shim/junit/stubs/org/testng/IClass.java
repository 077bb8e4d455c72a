package org.testng;

/** A stub of TestNG's, to compile against: it is not in the jar. */
public interface IClass {
    String getName();
}
