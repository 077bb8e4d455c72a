package org.testng.internal;

import java.lang.reflect.Method;

/** Stands for TestNG's, to compile against: it is not in the jar. */
public class ConstructorOrMethod {
    public Method getMethod() {
        return null;
    }
}
