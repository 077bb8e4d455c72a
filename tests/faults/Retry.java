import java.util.zip.CRC32;

/** A message whose length is a multiple of 32 fails its check, and is packed again eight times before it is given up. */
public class Retry {
    static final class Sender {
        private final byte[] buffer = new byte[512];

        int send(int number, int length) {
            int attempt = 0;
            while (true) {
                long sum = pack(number, length, attempt);
                if (accepted(length, attempt)) { // cause: no
                    return (int) sum;
                }
                attempt++;
            }
        }

        private boolean accepted(int length, int attempt) {
            return length % 32 != 0 || attempt == 40;
        }

        private long pack(int number, int length, int attempt) {
            for (int i = 0; i < length; i++) {
                buffer[i] = (byte) (number * i + attempt);
            }
            CRC32 crc = new CRC32();
            crc.update(buffer, 0, length);
            for (int i = 0; i < length; i += 2) {
                if (buffer[i] < 0) {
                    buffer[i] = (byte) -buffer[i];
                }
            }
            return crc.getValue();
        }
    }

    public static void main(String[] args) {
        Sender sender = new Sender();
        Background background = new Background();
        Truth truth = new Truth();
        int[] lengths = new int[30];
        for (int i = 0; i < 30; i++) {
            lengths[i] = i == 0 ? 320 : 300 + i % 19;
        }
        int rounds = Truth.rounds(args, 70_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 30);
            long before = Truth.now();
            for (int j = 1; j < 30; j++) {
                sum += sender.send(i + j, lengths[j]) & 7;
            }
            truth.add(0, 29, before);
            before = Truth.now();
            sum += sender.send(i, lengths[0]) & 7;
            truth.add(1, 1, before);
            truth.leave(sum);
        }
        truth.print();
    }
}
