package trodden.gradle;

import org.gradle.api.GradleException;
import org.gradle.api.tasks.JavaExec;

/** Copies what one JavaExec runs to another, in Gradle versions before and after 6.4, which names the main class otherwise. */
final class Launch {
    private Launch() {}

    static void copy(JavaExec from, JavaExec to) {
        to.setClasspath(from.getClasspath());
        to.setArgs(from.getArgs());
        to.setJvmArgs(from.getJvmArgs());
        to.systemProperties(from.getSystemProperties());
        try {
            Object property;
            try {
                property = JavaExec.class.getMethod("getMainClass").invoke(from);
            } catch (NoSuchMethodException e) {
                JavaExec.class.getMethod("setMain", String.class)
                        .invoke(to, JavaExec.class.getMethod("getMain").invoke(from));
                return;
            }
            Object target = JavaExec.class.getMethod("getMainClass").invoke(to);
            Class<?> provider = Class.forName("org.gradle.api.provider.Provider");
            target.getClass().getMethod("set", provider).invoke(target, property);
        } catch (ReflectiveOperationException e) {
            throw new GradleException("Trodden: cannot find the main class of " + from, e);
        }
    }
}
