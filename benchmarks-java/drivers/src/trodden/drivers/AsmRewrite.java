package trodden.drivers;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/**
 * Reads and writes classes with ASM. Usage: {@code AsmRewrite LIST PASSES}; LIST is a file of (length,
 * bytes). Prints the nanoseconds of each pass over all classes.
 */
final class AsmRewrite {
    private AsmRewrite() {}

    public static void main(String[] args) throws IOException {
        List<byte[]> classes = read(Path.of(args[0]));
        int passes = Integer.parseInt(args[1]);
        long written = 0;
        for (int pass = 0; pass < passes; pass++) {
            long start = System.nanoTime();
            for (byte[] bytes : classes) {
                ClassWriter writer = new ClassWriter(0);
                new ClassReader(bytes).accept(writer, 0);
                written += writer.toByteArray().length;
            }
            System.out.println(System.nanoTime() - start);
        }
        if (written == 0) {
            throw new IllegalStateException("ASM wrote nothing");
        }
    }

    private static List<byte[]> read(Path list) throws IOException {
        List<byte[]> classes = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(list), 1 << 20))) {
            long left = Files.size(list);
            while (left > 0) {
                byte[] bytes = in.readNBytes(in.readInt());
                classes.add(bytes);
                left -= 4 + bytes.length;
            }
        }
        return classes;
    }
}
