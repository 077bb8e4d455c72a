package java.lang;

/**
 * The agent's side for code that was instrumented ahead of the run ({@code java-shim/ahead}). Defined last,
 * so that a program that finds it finds all of the shim.
 */
public final class TroddenAhead {
    private TroddenAhead() {
    }

    /**
     * An output of {@code trodden instrument} is in use. Starts profiling if that is not done yet. {@code
     * options} and {@code maps} are the user's, {@code location} is where the output was loaded from, {@code
     * map} the path map if it is packed with it. Returns where its slots (upper half) and its methods begin,
     * -1 if it is not to be counted.
     */
    public static native long register(String unit, String options, String maps, String location, byte[] map);
}
