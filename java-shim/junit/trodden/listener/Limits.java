package trodden.listener;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.MethodSource;

/**
 * How much more work a test may do, by its own {@code @Gate}, or that of its class, a class that it extends,
 * or one around it. The annotation is known by its name: it is the program's, and may come from another
 * loader.
 */
final class Limits {
    private static final String GATE = "trodden.junit.Gate";

    private Limits() {
    }

    /** The text of the annotation, or null. */
    static String of(TestSource source) {
        if (!(source instanceof MethodSource)) {
            return null;
        }
        MethodSource test = (MethodSource) source;
        try {
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            Class<?> owner = Class.forName(test.getClassName(), false, loader);
            for (Class<?> c = owner; c != null; c = c.getSuperclass()) {
                for (Method method : c.getDeclaredMethods()) {
                    if (method.getName().equals(test.getMethodName()) && parameters(method).equals(plain(test))) {
                        String words = of(method);
                        return words != null ? words : ofClass(owner);
                    }
                }
            }
            return ofClass(owner);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return null;
        }
    }

    private static String ofClass(Class<?> owner) throws ReflectiveOperationException {
        for (Class<?> around = owner; around != null; around = around.getEnclosingClass()) {
            for (Class<?> c = around; c != null; c = c.getSuperclass()) {
                String words = of(c);
                if (words != null) {
                    return words;
                }
            }
        }
        return null;
    }

    private static String of(AnnotatedElement element) throws ReflectiveOperationException {
        for (Annotation annotation : element.getDeclaredAnnotations()) {
            if (annotation.annotationType().getName().equals(GATE)) {
                Method value = annotation.annotationType().getMethod("maxGrowth");
                return (String) valueOf(annotation, value);
            }
        }
        return null;
    }

    /** Not by the method itself: the annotation may be in a module that does not export it. */
    private static Object valueOf(Annotation annotation, Method value) throws ReflectiveOperationException {
        try {
            return Proxy.getInvocationHandler(annotation).invoke(annotation, value, null);
        } catch (ReflectiveOperationException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new ReflectiveOperationException(e);
        }
    }

    private static String parameters(Method method) {
        StringBuilder types = new StringBuilder();
        for (Class<?> type : method.getParameterTypes()) {
            types.append(types.length() > 0 ? "," : "").append(type.getName());
        }
        return types.toString();
    }

    private static String plain(MethodSource test) {
        String types = test.getMethodParameterTypes();
        return types == null ? "" : types.replace(" ", "");
    }
}
