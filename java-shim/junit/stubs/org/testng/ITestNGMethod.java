package org.testng;

import org.testng.internal.ConstructorOrMethod;

/** A stub of TestNG's, to compile against: it is not in the jar. */
public interface ITestNGMethod {
    String getMethodName();

    ConstructorOrMethod getConstructorOrMethod();
}
