package trodden.kernels;

/** A small program with a fixed seed whose result is known. */
public interface Kernel {
    /** The name used on the command line and in reports. */
    String name();

    /** Does the work once and returns a checksum of its result. */
    long run();

    /**
     * The checksum that {@link #run} must return: a known value, or one computed in another way.
     * Called once, after the last iteration, so that it disturbs no measurement.
     */
    long expected();
}
