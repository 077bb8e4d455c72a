package java.lang;

/**
 * The stub that {@code trodden.Runtime} is compiled against; never packed. The real one is in {@code
 * java-shim/src}.
 */
public final class TroddenAhead {
    public static native long register(String unit, String options, String maps, String location, byte[] map);
}
