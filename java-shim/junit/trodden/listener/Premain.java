package trodden.listener;

/** Makes a Java agent of the jar, which puts it on the class path of every JVM of a build; that is all it is for. */
public final class Premain {
    private Premain() {
    }

    /** An empty agent: only the class path matters. */
    public static void premain(String argument) {
    }
}
