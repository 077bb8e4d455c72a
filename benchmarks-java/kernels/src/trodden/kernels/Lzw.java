package trodden.kernels;

import java.util.Arrays;

/** LZW compression with 16-bit codes and back again; the text must survive. */
final class Lzw implements Kernel {
    private static final int LENGTH = 4_000_000;
    private static final int CODES = 1 << 16;
    private static final int TABLE = 1 << 18;

    private final byte[] text = text();

    @Override
    public String name() {
        return "compress";
    }

    @Override
    public long run() {
        char[] codes = new char[LENGTH];
        int written = compress(text, codes);
        Checks.require(written < LENGTH / 2, "the text did not shrink");
        byte[] restored = new byte[LENGTH];
        int length = expand(codes, written, restored);
        Checks.require(length == LENGTH, "the text changed its length");
        return checksum(restored);
    }

    @Override
    public long expected() {
        return checksum(text());
    }

    /** Open addressing on (prefix code, byte). A full dictionary is used on as it is. */
    private static int compress(byte[] in, char[] out) {
        int[] keys = new int[TABLE];
        Arrays.fill(keys, -1);
        char[] values = new char[TABLE];
        int next = 256;
        int prefix = in[0] & 255;
        int written = 0;
        for (int i = 1; i < in.length; i++) {
            int key = prefix << 8 | in[i] & 255;
            int slot = key * 0x9E3779B1 >>> 14;
            while (keys[slot] != key && keys[slot] != -1) {
                slot = slot + 1 & TABLE - 1;
            }
            if (keys[slot] == key) {
                prefix = values[slot];
                continue;
            }
            out[written++] = (char) prefix;
            if (next < CODES) {
                keys[slot] = key;
                values[slot] = (char) next++;
            }
            prefix = in[i] & 255;
        }
        out[written++] = (char) prefix;
        return written;
    }

    private static int expand(char[] in, int count, byte[] out) {
        char[] prefixOf = new char[CODES];
        byte[] lastOf = new byte[CODES];
        byte[] stack = new byte[LENGTH];
        int next = 256;
        int previous = in[0];
        out[0] = (byte) previous;
        int length = 1;
        byte first = out[0];
        for (int i = 1; i < count; i++) {
            int code = in[i];
            int depth = 0;
            if (code >= next) {
                stack[depth++] = first;
                code = previous;
            }
            while (code >= 256) {
                stack[depth++] = lastOf[code];
                code = prefixOf[code];
            }
            first = (byte) code;
            out[length++] = first;
            while (depth > 0) {
                out[length++] = stack[--depth];
            }
            if (next < CODES) {
                prefixOf[next] = (char) previous;
                lastOf[next++] = first;
            }
            previous = in[i];
        }
        return length;
    }

    /** Words of a made-up language, the short ones more often. */
    private static byte[] text() {
        Rng random = new Rng(5);
        byte[][] words = new byte[2000][];
        for (int i = 0; i < words.length; i++) {
            words[i] = new byte[2 + i / 250 + random.nextInt(3)];
            for (int j = 0; j < words[i].length; j++) {
                words[i][j] = (byte) ('a' + random.nextInt(26));
            }
        }
        byte[] text = new byte[LENGTH];
        for (int at = 0; at < LENGTH; ) {
            int bound = 1 + random.nextInt(words.length);
            for (byte letter : words[random.nextInt(bound)]) {
                if (at < LENGTH) {
                    text[at++] = letter;
                }
            }
            if (at < LENGTH) {
                text[at++] = (byte) ' ';
            }
        }
        return text;
    }

    private static long checksum(byte[] bytes) {
        long sum = 0;
        for (byte b : bytes) {
            sum = Checks.mix(sum, b);
        }
        return sum;
    }
}
