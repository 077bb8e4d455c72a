/** A journal that grows by a constant, and is copied each time: the copy is a stub of the JVM's, called in compiled code. */
public class GrowingArray {
    record Event(long time, int actor, String action) {}

    static final class Journal {
        private byte[] bytes = new byte[240];
        private int used;

        void append(byte[] record, int length) {
            if (used + length > bytes.length) { // cause: yes
                byte[] larger = new byte[bytes.length + 512];
                System.arraycopy(bytes, 0, larger, 0, used);
                bytes = larger;
            }
            for (int i = 0; i < length; i++) {
                bytes[used + i] = record[i];
            }
            used += length;
        }

        boolean isLong() {
            return used > 120_000;
        }
    }

    private static final String[] ACTIONS = {"view", "edit", "grant"};

    private static Event next(int i) {
        return new Event(i * 3L, i % 1000, ACTIONS[i % 3]);
    }

    private static int encode(Event event, byte[] record) {
        int at = 0;
        for (int i = 0; i < event.action().length(); i++) {
            record[at++] = (byte) event.action().charAt(i);
        }
        for (long rest = event.time() + event.actor(); rest > 0; rest >>>= 7) {
            record[at++] = (byte) (rest & 127);
        }
        return at;
    }

    public static void main(String[] args) {
        Background background = new Background();
        Truth truth = new Truth();
        byte[] record = new byte[600];
        Journal journal = new Journal();
        int rounds = Truth.rounds(args, 150_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 6);
            for (int j = 0; j < 29; j++) {
                sum += encode(next(i * 29 + j), record);
            }
            if (journal.isLong()) {
                journal = new Journal();
            }
            // The journal has room for these, and not for the last one.
            long before = Truth.now();
            for (int j = 1; j < 30; j++) {
                journal.append(record, 8);
            }
            truth.add(0, 29, before);
            before = Truth.now();
            journal.append(record, 280);
            truth.add(1, 1, before);
            truth.leave(sum);
        }
        truth.print();
    }
}
