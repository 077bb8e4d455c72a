package trodden.kernels;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * {@link MaskedConvolution} with the loop that its 10-iteration path profile suggests: eight pixels at a time where
 * all eight go the same way (k-BLPP's figure 7). benchmarks-java/book/k-iteration-paths.md
 * shows how to get there.
 */
final class MaskedConvolutionUnrolled extends MaskedConvolution {
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long WHITE = -1;
    private static final long BLACK = 0;

    @Override
    public String name() {
        return "convolution-unrolled";
    }

    @Override
    void filter(byte[] in, byte[] out) {
        byte[] mask = this.mask;
        int i = 0;
        for (; i <= in.length - 8; i += 8) {
            long eight = (long) LONGS.get(mask, i);
            if (eight == WHITE) {
                LONGS.set(out, i, (long) LONGS.get(in, i));
            } else if (eight == BLACK) {
                out[i] = convolve(in, i);
                out[i + 1] = convolve(in, i + 1);
                out[i + 2] = convolve(in, i + 2);
                out[i + 3] = convolve(in, i + 3);
                out[i + 4] = convolve(in, i + 4);
                out[i + 5] = convolve(in, i + 5);
                out[i + 6] = convolve(in, i + 6);
                out[i + 7] = convolve(in, i + 7);
            } else {
                oneByOne(in, out, i, i + 8);
            }
        }
        oneByOne(in, out, i, in.length);
    }

    private void oneByOne(byte[] in, byte[] out, int from, int to) {
        for (int i = from; i < to; i++) {
            if (mask[i] != 0) {
                out[i] = in[i];
            } else {
                out[i] = convolve(in, i);
            }
        }
    }
}
