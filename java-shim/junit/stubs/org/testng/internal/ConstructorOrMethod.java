package org.testng.internal;

import java.lang.reflect.Method;

/** A stub of TestNG's, to compile against: it is not in the jar. */
public class ConstructorOrMethod {
    public Method getMethod() {
        return null;
    }
}
