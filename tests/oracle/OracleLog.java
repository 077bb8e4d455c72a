import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Where code rewritten by {@link Oracle} reports what it does. One record per event, in program order of each
 * activation; see tests/src/trace.rs for the reader. Deliberately simple: one lock, one stream.
 */
public final class OracleLog {
    private static DataOutputStream out;
    private static int activations;

    private OracleLog() {}

    static synchronized void open(String file) throws IOException {
        out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(file), 1 << 16));
        Runtime.getRuntime().addShutdownHook(new Thread(OracleLog::close));
    }

    private static synchronized void close() {
        try {
            out.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        out = null;
    }

    static synchronized void method(int id, String owner, String name, String descriptor) throws IOException {
        out.writeByte('M');
        out.writeInt(id);
        out.writeUTF(owner);
        out.writeUTF(name);
        out.writeUTF(descriptor);
    }

    /** A method was entered: returns the number of this activation. */
    public static synchronized int enter(int method) {
        int activation = ++activations;
        event('E', activation, method, 0);
        return activation;
    }

    /** A conditional branch at {@code bci} went its way: 1 taken, 0 not taken. */
    public static void branch(int activation, int bci, int taken) {
        event('B', activation, bci, taken);
    }

    /** A switch at {@code bci} goes to {@code target}. */
    public static void select(int activation, int bci, int target) {
        event('S', activation, bci, target);
    }

    /** A goto at {@code bci} is about to run. */
    public static void jump(int activation, int bci) {
        event('G', activation, bci, 0);
    }

    /** Execution is about to run on into the branch target or handler at {@code bci}. */
    public static void fall(int activation, int bci) {
        event('F', activation, bci, 0);
    }

    /** A return or athrow at {@code bci} is about to run. */
    public static void leave(int activation, int bci) {
        event('X', activation, bci, 0);
    }

    /** The handler at {@code bci} starts: by an exception, or because it was jumped or run into. */
    public static void handler(int activation, int bci) {
        event('H', activation, bci, 0);
    }

    private static synchronized void event(char kind, int activation, int a, int b) {
        if (out == null) {
            return;
        }
        try {
            out.writeByte(kind);
            out.writeInt(activation);
            out.writeInt(a);
            out.writeInt(b);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
