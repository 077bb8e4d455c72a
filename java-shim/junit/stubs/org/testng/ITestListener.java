package org.testng;

/** A stub of TestNG's, to compile against: it is not in the jar. */
public interface ITestListener extends ITestNGListener {
    default void onTestStart(ITestResult test) {
    }

    default void onTestSuccess(ITestResult test) {
    }

    default void onTestFailure(ITestResult test) {
    }

    default void onTestSkipped(ITestResult test) {
    }

    default void onTestFailedButWithinSuccessPercentage(ITestResult test) {
    }

    default void onTestFailedWithTimeout(ITestResult test) {
    }

    default void onStart(ITestContext context) {
    }

    default void onFinish(ITestContext context) {
    }
}
