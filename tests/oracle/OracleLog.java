import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/**
 * Where code rewritten by {@link Oracle} reports what it does. One record per event, in program order of each
 * activation; see tests/src/trace.rs for the reader. Deliberately simple: one lock, one log in memory that is
 * written at the end.
 *
 * <p>{@link #record} calls nothing. The JVM looks for room on the stack when a method is entered, so a program
 * that runs out of it loses whole records and never half of one.
 */
public final class OracleLog {
    private static final int CHUNK = 1 << 20;

    private static OutputStream out;
    private static int activations;
    private static byte[][] full = new byte[512][];
    private static int chunks;
    private static byte[] chunk = new byte[CHUNK];
    private static int used;

    private OracleLog() {}

    static synchronized void open(String file) throws IOException {
        out = new FileOutputStream(file);
        Runtime.getRuntime().addShutdownHook(new Thread(OracleLog::close));
    }

    private static synchronized void close() {
        try {
            for (int i = 0; i < chunks; i++) {
                out.write(full[i]);
            }
            out.write(chunk, 0, used);
            out.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        out = null;
    }

    static synchronized void method(int id, String owner, String name, String descriptor) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream record = new DataOutputStream(bytes);
        record.writeByte('M');
        record.writeInt(id);
        record.writeUTF(owner);
        record.writeUTF(name);
        record.writeUTF(descriptor);
        byte[] made = bytes.toByteArray();
        record(made, made.length, 0, 0, 0);
    }

    /** A method was entered: returns the number of this activation. */
    public static synchronized int enter(int method) {
        int activation = ++activations;
        record(null, 'E', activation, method, 0);
        return activation;
    }

    /** A conditional branch at {@code bci} went its way: 1 taken, 0 not taken. */
    public static void branch(int activation, int bci, int taken) {
        record(null, 'B', activation, bci, taken);
    }

    /** A switch at {@code bci} goes to {@code target}. */
    public static void select(int activation, int bci, int target) {
        record(null, 'S', activation, bci, target);
    }

    /** A goto at {@code bci} is about to run. */
    public static void jump(int activation, int bci) {
        record(null, 'G', activation, bci, 0);
    }

    /** Execution is about to run on into the branch target or handler at {@code bci}. */
    public static void fall(int activation, int bci) {
        record(null, 'F', activation, bci, 0);
    }

    /** A return or athrow at {@code bci} is about to run. */
    public static void leave(int activation, int bci) {
        record(null, 'X', activation, bci, 0);
    }

    /** The handler at {@code bci} starts: by an exception, or because it was jumped or run into. */
    public static void handler(int activation, int bci) {
        record(null, 'H', activation, bci, 0);
    }

    /** Appends {@code kind} bytes that were made before, or (without them) one event. Must not call anything. */
    private static synchronized void record(byte[] made, int kind, int activation, int a, int b) {
        if (out == null) {
            return;
        }
        int length = made == null ? 13 : kind;
        if (used + length > CHUNK) {
            // What is left of a chunk stays 0, which the reader skips.
            full[chunks] = chunk;
            chunk = new byte[CHUNK];
            used = 0;
            chunks++;
        }
        byte[] to = chunk;
        int at = used;
        if (made != null) {
            for (int i = 0; i < length; i++) {
                to[at++] = made[i];
            }
        } else {
            to[at++] = (byte) kind;
            for (int shift = 24; shift >= 0; shift -= 8) {
                to[at] = (byte) (activation >>> shift);
                to[at + 4] = (byte) (a >>> shift);
                to[at + 8] = (byte) (b >>> shift);
                at++;
            }
            at += 8;
        }
        used = at;
    }
}
