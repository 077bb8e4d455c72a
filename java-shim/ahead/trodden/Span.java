package trodden;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A request, where no method of its own handles it: the time from its beginning to its end. {@code trodden
 * slow} says what slow ones do differently.
 *
 * <pre>{@code
 * try (Span span = Span.begin("checkout")) {
 *     …
 * }
 * }</pre>
 *
 * A span inside of another one, or of a method that {@code --requests} names, is part of that request. Its paths
 * are known if it ends on the thread that it began on. Without Trodden's agent it does nothing.
 */
public final class Span implements AutoCloseable {
    /** The agent's methods; null before it is there. */
    private static volatile Recorder recorder;
    /** How often it was not there. */
    private static int missing;

    private static final ConcurrentHashMap<String, Integer> NUMBERS = new ConcurrentHashMap<>();
    private static final Span NONE = new Span(null, null);

    private static final class Recorder {
        final MethodHandle number;
        final MethodHandle begin;
        final MethodHandle rename;
        final MethodHandle end;

        Recorder() throws ReflectiveOperationException {
            Class<?> requests = Class.forName("java.lang.TroddenRequests", true, null);
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            number = lookup.findStatic(requests, "number", MethodType.methodType(int.class, String.class));
            begin = lookup.findStatic(requests, "begin", MethodType.methodType(Object.class, int.class));
            rename = lookup.findStatic(requests, "rename",
                    MethodType.methodType(void.class, Object.class, int.class));
            end = lookup.findStatic(requests, "end", MethodType.methodType(void.class, Object.class));
        }
    }

    private final Recorder by;
    private Object open;

    private Span(Recorder by, Object open) {
        this.by = by;
        this.open = open;
    }

    /**
     * A request of a kind begins on this thread.
     *
     * @param name the kind: one of few, such as {@code checkout}; more than 1,000 become one
     */
    public static Span begin(String name) {
        Recorder to = recorder;
        if (to == null) {
            to = find();
            if (to == null) {
                return NONE;
            }
        }
        try {
            return new Span(to, (Object) to.begin.invokeExact(number(to, name)));
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static int number(Recorder by, String name) throws Throwable {
        Integer number = NUMBERS.get(name);
        if (number == null) {
            number = (int) by.number.invokeExact(name);
            if (NUMBERS.size() < 1_000) {
                NUMBERS.put(name, number);
            }
        }
        return number;
    }

    /** It gets another name, if that is known only now: to be called before it ends. */
    public void rename(String name) {
        if (open == null) {
            return;
        }
        try {
            by.rename.invokeExact(open, number(by, name));
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** It ends. A second call does nothing. */
    @Override
    public void close() {
        Object ends = open;
        if (ends == null) {
            return;
        }
        open = null;
        try {
            by.end.invokeExact(ends);
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** The agent may come later. To look for it takes microseconds, so it is done after 1, 2, 4, 8, … vain times. */
    private static Recorder find() {
        int times = missing++;
        if ((times & times - 1) != 0) {
            return null;
        }
        try {
            return recorder = new Recorder();
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }
}
