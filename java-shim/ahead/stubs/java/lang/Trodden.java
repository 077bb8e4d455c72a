package java.lang;

/**
 * The stub that {@code trodden.Runtime} is compiled against; never packed. The real one is in {@code
 * java-shim/src}.
 */
public final class Trodden {
    public static native void pathEnd(int method, int path);

    public static native long counters(int offset);

    public static native void count(long counters, int slot);

    public static native void count(int offset, int slot);

    public static native void countHashed(int method, int path);

    public static native void cut(int method, int register, int block);

    public static native void covered(int probe);
}
