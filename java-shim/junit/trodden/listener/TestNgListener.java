package trodden.listener;

import java.lang.reflect.Method;
import org.testng.ITestContext;
import org.testng.ITestListener;
import org.testng.ITestResult;

/** The same for TestNG, which finds it by its service file. Set-up and tear-down of a test run between tests. */
public final class TestNgListener implements ITestListener {
    @Override
    public void onTestStart(ITestResult test) {
        Progress.started(TestNgListener.class, test);
    }

    @Override
    public void onTestSuccess(ITestResult test) {
        finished(test);
    }

    @Override
    public void onTestFailure(ITestResult test) {
        finished(test);
    }

    @Override
    public void onTestSkipped(ITestResult test) {
        finished(test);
    }

    @Override
    public void onTestFailedButWithinSuccessPercentage(ITestResult test) {
        finished(test);
    }

    @Override
    public void onTestFailedWithTimeout(ITestResult test) {
        finished(test);
    }

    @Override
    public void onStart(ITestContext context) {
    }

    @Override
    public void onFinish(ITestContext context) {
    }

    private static void finished(ITestResult test) {
        long now = Progress.allocated();
        Progress.finished(TestNgListener.class, test, now, name(test), null);
    }

    /** As of JUnit's tests: those of several sets of parameters have one name. */
    private static String name(ITestResult test) {
        Method method = test.getMethod().getConstructorOrMethod().getMethod();
        StringBuilder name = new StringBuilder(test.getTestClass().getName());
        name.append('.').append(test.getMethod().getMethodName()).append('(');
        String separator = "";
        for (Class<?> type : method == null ? new Class<?>[0] : method.getParameterTypes()) {
            name.append(separator).append(type.getSimpleName());
            separator = ", ";
        }
        return name.append(')').toString();
    }
}
