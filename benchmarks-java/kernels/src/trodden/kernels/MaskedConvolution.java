package trodden.kernels;

/**
 * A 5x5 filter over the black regions of a mask; white pixels are copied (the program shape of k-BLPP's figure 4).
 * Regions are discs, so both branches come in long runs. {@link MaskedConvolutionUnrolled} makes use of that.
 */
class MaskedConvolution implements Kernel {
    private static final int ROWS = 1200;
    private static final int COLUMNS = 1600;
    private static final int ROUNDS = 20;
    private static final int[] FILTER = {
        1, 4, 6, 4, 1,
        4, 16, 24, 16, 4,
        6, 24, 36, 24, 6,
        4, 16, 24, 16, 4,
        1, 4, 6, 4, 1,
    };
    private static final double FACTOR = 1.0 / 256;
    private static final double BIAS = 0.5;

    private final byte[] image = image();
    final byte[] mask = mask();

    @Override
    public String name() {
        return "convolution";
    }

    @Override
    public long run() {
        byte[] from = image.clone();
        byte[] to = new byte[from.length];
        for (int round = 0; round < ROUNDS; round++) {
            filter(from, to);
            byte[] swap = from;
            from = to;
            to = swap;
        }
        return checksum(from);
    }

    /** The same filter as two one-dimensional binomial passes in integers, which the 5x5 kernel is the product of. */
    @Override
    public long expected() {
        int[] weights = {1, 4, 6, 4, 1};
        byte[] from = image.clone();
        for (int round = 0; round < ROUNDS; round++) {
            int[] across = new int[from.length];
            for (int i = 2; i < from.length - 2; i++) {
                for (int d = -2; d <= 2; d++) {
                    across[i] += weights[d + 2] * (from[i + d] & 255);
                }
            }
            byte[] to = from.clone();
            for (int i = 0; i < from.length; i++) {
                if (mask[i] == 0) {
                    int sum = 0;
                    for (int d = -2; d <= 2; d++) {
                        sum += weights[d + 2] * across[i + d * COLUMNS];
                    }
                    to[i] = (byte) Math.min(255, (sum + 128) / 256);
                }
            }
            from = to;
        }
        return checksum(from);
    }

    void filter(byte[] in, byte[] out) {
        for (int i = 0; i < in.length; i++) {
            if (mask[i] != 0) {
                out[i] = in[i];
            } else {
                out[i] = convolve(in, i);
            }
        }
    }

    static byte convolve(byte[] in, int centre) {
        int sum = 0;
        int weight = 0;
        for (int dy = -2; dy <= 2; dy++) {
            int at = centre + dy * COLUMNS - 2;
            for (int dx = 0; dx < 5; dx++) {
                sum += (in[at + dx] & 255) * FILTER[weight++];
            }
        }
        int value = (int) (sum * FACTOR + BIAS);
        if (value < 0) {
            return 0;
        }
        return (byte) (value > 255 ? 255 : value);
    }

    private static byte[] image() {
        Rng random = new Rng(10);
        byte[] image = new byte[ROWS * COLUMNS];
        for (int i = 0; i < image.length; i++) {
            int x = i % COLUMNS;
            int y = i / COLUMNS;
            image[i] = (byte) ((x * x / 97 + y * 3 + random.nextInt(64)) & 255);
        }
        return image;
    }

    /** White (255) but for seven discs away from the border: about a tenth is black. */
    private static byte[] mask() {
        Rng random = new Rng(11);
        byte[] mask = new byte[ROWS * COLUMNS];
        java.util.Arrays.fill(mask, (byte) 255);
        for (int disc = 0; disc < 7; disc++) {
            int radius = 60 + random.nextInt(60);
            int cx = radius + 2 + random.nextInt(COLUMNS - 2 * radius - 4);
            int cy = radius + 2 + random.nextInt(ROWS - 2 * radius - 4);
            for (int y = cy - radius; y <= cy + radius; y++) {
                for (int x = cx - radius; x <= cx + radius; x++) {
                    if ((x - cx) * (x - cx) + (y - cy) * (y - cy) <= radius * radius) {
                        mask[y * COLUMNS + x] = 0;
                    }
                }
            }
        }
        return mask;
    }

    private static long checksum(byte[] bytes) {
        long sum = 0;
        for (byte b : bytes) {
            sum = Checks.mix(sum, b);
        }
        return sum;
    }
}
