package trodden.gradle;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import org.gradle.api.Action;
import org.gradle.api.GradleException;
import org.gradle.api.Task;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.testing.Test;
import org.gradle.api.tasks.testing.TestFilter;
import trodden.build.ChangedTests;
import trodden.build.Tools;

/**
 * With {@code -Ptrodden.tests=changed}: a task of type Test leaves out the tests that a change does not concern. Where it is not known which
 * these are, all run, and the log says why.
 */
final class SelectTests implements Action<Task> {
    private final Provider<Settings> settings;
    private final File root;
    private final File profiles;
    private final String base;

    private SelectTests(Provider<Settings> settings, File root, File profiles, String base) {
        this.settings = settings;
        this.root = root;
        this.profiles = profiles;
        this.base = base;
    }

    /** Prepares a task, if the build asked for it. What is left out is known only when the task works: its result is never taken for another one's. */
    static void prepare(Test test, Provider<Settings> settings, String tests, String base, String place) {
        try {
            if (!ChangedTests.wanted(tests)) {
                return;
            }
        } catch (IOException e) {
            throw new GradleException("Trodden: " + e.getMessage(), e);
        }
        File root = test.getProject().getRootDir();
        File profiles = test.getProject().getRootProject().file(place == null ? ChangedTests.PLACE : place);
        test.getInputs().property("trodden.tests", tests);
        test.getOutputs().upToDateWhen(task -> false);
        test.getOutputs().cacheIf(task -> false);
        test.doFirst(new SelectTests(settings, root, profiles, base));
    }

    @Override
    public void execute(Task task) {
        Settings now = settings.get();
        if (now.skip) {
            return;
        }
        try {
            Method exclude = exclude();
            if (exclude == null) {
                task.getLogger().lifecycle("All tests run: this Gradle cannot leave tests out (5.0 can)");
                return;
            }
            Map<String, Set<String>> left = ChangedTests.leftOut(Tools.find(now.program, now.library), task.getLogger()::lifecycle,
                    root.toPath(), profiles.toPath(), base);
            TestFilter filter = ((Test) task).getFilter();
            int methods = 0;
            for (Map.Entry<String, Set<String>> each : left.entrySet()) {
                for (String method : each.getValue()) {
                    exclude.invoke(filter, each.getKey() + "." + method);
                    methods++;
                }
            }
            if (methods > 0) {
                filter.setFailOnNoMatchingTests(false);
                task.getLogger().lifecycle("Left out: " + methods + " test methods");
            }
        } catch (IOException | IllegalAccessException | InvocationTargetException e) {
            throw new GradleException("Trodden: " + e.getMessage(), e);
        }
    }

    private static Method exclude() {
        try {
            return TestFilter.class.getMethod("excludeTestsMatching", String.class);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
