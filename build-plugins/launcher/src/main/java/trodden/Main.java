package trodden;

import java.io.IOException;
import java.util.Arrays;
import trodden.build.Tools;

/** The command line: runs the program with the same arguments, input and output, and ends as it does. */
public final class Main {
    private Main() {}

    /**
     * @param arguments those of {@code trodden}
     * @throws InterruptedException never: nothing interrupts the main thread
     */
    public static void main(String[] arguments) throws InterruptedException {
        Process program;
        try {
            program = Tools.find(null, null).command(Arrays.asList(arguments)).inheritIO().start();
        } catch (IOException e) {
            System.err.println("trodden: " + e.getMessage());
            System.exit(2);
            return;
        }
        // Where this JVM is told to end, the program is too, and what it then writes is waited for.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            program.destroy();
            try {
                program.waitFor();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        System.exit(program.waitFor());
    }
}
