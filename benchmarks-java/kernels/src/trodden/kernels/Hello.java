package trodden.kernels;

/** The smallest program, for measuring what the agent adds to a JVM's start. */
public final class Hello {
    private Hello() {}

    public static void main(String[] args) {
        System.out.println("Hello");
    }
}
