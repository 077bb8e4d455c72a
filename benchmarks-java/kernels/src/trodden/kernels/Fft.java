package trodden.kernels;

/** Radix-2 fast Fourier transform, there and back, checked against the definition at some frequencies. */
final class Fft implements Kernel {
    private static final int SIZE = 1 << 15;
    private static final int ROUNDS = 40;
    private final double[] cos = new double[SIZE / 2];
    private final double[] sin = new double[SIZE / 2];
    private final double[] inputRe = new double[SIZE];
    private final double[] inputIm = new double[SIZE];

    @Override
    public String name() {
        return "fft";
    }

    @Override
    public long run() {
        prepare();
        double[] re = inputRe.clone();
        double[] im = inputIm.clone();
        long sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
            transform(re, im, false);
            if (round == 0) {
                checkAgainstDefinition(re, im);
            }
            transform(re, im, true);
            for (int i = 0; i < SIZE; i++) {
                Checks.require(Math.abs(re[i] - inputRe[i]) + Math.abs(im[i] - inputIm[i]) < 1e-9, "round trip");
            }
            for (int i = 0; i < SIZE; i += 97) {
                sum = Checks.mix(sum, Math.round((re[i] + im[i]) * 1e6));
            }
        }
        return sum;
    }

    /** The round trip gives the input back, so its checksum is that of the input. */
    @Override
    public long expected() {
        long sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < SIZE; i += 97) {
                sum = Checks.mix(sum, Math.round((inputRe[i] + inputIm[i]) * 1e6));
            }
        }
        return sum;
    }

    private void prepare() {
        Rng random = new Rng(1);
        for (int i = 0; i < SIZE; i++) {
            inputRe[i] = random.nextDouble() - 0.5;
            inputIm[i] = random.nextDouble() - 0.5;
        }
        for (int i = 0; i < SIZE / 2; i++) {
            cos[i] = StrictMath.cos(2 * Math.PI * i / SIZE);
            sin[i] = StrictMath.sin(2 * Math.PI * i / SIZE);
        }
    }

    private void transform(double[] re, double[] im, boolean inverse) {
        reverseBits(re, im);
        double sign = inverse ? 1 : -1;
        for (int half = 1, step = SIZE / 2; half < SIZE; half *= 2, step /= 2) {
            for (int start = 0; start < SIZE; start += 2 * half) {
                for (int k = 0; k < half; k++) {
                    double wr = cos[k * step];
                    double wi = sign * sin[k * step];
                    int upper = start + k;
                    int lower = upper + half;
                    double tr = wr * re[lower] - wi * im[lower];
                    double ti = wr * im[lower] + wi * re[lower];
                    re[lower] = re[upper] - tr;
                    im[lower] = im[upper] - ti;
                    re[upper] += tr;
                    im[upper] += ti;
                }
            }
        }
        if (inverse) {
            for (int i = 0; i < SIZE; i++) {
                re[i] /= SIZE;
                im[i] /= SIZE;
            }
        }
    }

    private static void reverseBits(double[] re, double[] im) {
        int mirrored = 0;
        for (int i = 1; i < SIZE; i++) {
            int bit = SIZE >> 1;
            while ((mirrored & bit) != 0) {
                mirrored ^= bit;
                bit >>= 1;
            }
            mirrored |= bit;
            if (i < mirrored) {
                double swap = re[i];
                re[i] = re[mirrored];
                re[mirrored] = swap;
                swap = im[i];
                im[i] = im[mirrored];
                im[mirrored] = swap;
            }
        }
    }

    private void checkAgainstDefinition(double[] re, double[] im) {
        for (int frequency = 3; frequency < SIZE; frequency += SIZE / 4) {
            double sumRe = 0;
            double sumIm = 0;
            for (int t = 0; t < SIZE; t++) {
                double angle = -2 * Math.PI * ((long) frequency * t % SIZE) / SIZE;
                double c = Math.cos(angle);
                double s = Math.sin(angle);
                sumRe += inputRe[t] * c - inputIm[t] * s;
                sumIm += inputRe[t] * s + inputIm[t] * c;
            }
            Checks.require(Math.abs(sumRe - re[frequency]) + Math.abs(sumIm - im[frequency]) < 1e-6, "spectrum");
        }
    }
}
