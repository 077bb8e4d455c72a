package trodden.kernels;

import java.util.Arrays;

/** Heap sort of random integers. */
final class HeapSort implements Kernel {
    private static final int SIZE = 1_000_000;

    @Override
    public String name() {
        return "heapsort";
    }

    @Override
    public long run() {
        int[] values = values();
        for (int root = SIZE / 2 - 1; root >= 0; root--) {
            sink(values, root, SIZE);
        }
        for (int end = SIZE - 1; end > 0; end--) {
            int largest = values[0];
            values[0] = values[end];
            values[end] = largest;
            sink(values, 0, end);
        }
        return checksum(values);
    }

    @Override
    public long expected() {
        int[] values = values();
        Arrays.sort(values);
        return checksum(values);
    }

    private static void sink(int[] values, int root, int end) {
        int value = values[root];
        int hole = root;
        while (2 * hole + 1 < end) {
            int child = 2 * hole + 1;
            if (child + 1 < end && values[child + 1] > values[child]) {
                child++;
            }
            if (values[child] <= value) {
                break;
            }
            values[hole] = values[child];
            hole = child;
        }
        values[hole] = value;
    }

    private static int[] values() {
        Rng random = new Rng(2);
        int[] values = new int[SIZE];
        for (int i = 0; i < SIZE; i++) {
            values[i] = (int) random.nextLong();
        }
        return values;
    }

    private static long checksum(int[] values) {
        long sum = 0;
        for (int value : values) {
            sum = Checks.mix(sum, value);
        }
        return sum;
    }
}
