import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/**
 * Reads each class of a jar with ASM and writes it again, ROUNDS times in one JVM; prints the seconds of each
 * round.
 */
public final class AsmCopy {
    public static void main(String[] args) throws IOException {
        Path in = Path.of(args[0]);
        int rounds = Integer.parseInt(args[1]);
        for (int round = 0; round < rounds; round++) {
            long begin = System.nanoTime();
            byte[] out = copy(in);
            if (args.length > 2) {
                Files.write(Path.of(args[2]), out);
            }
            System.out.printf("%.4f%n", (System.nanoTime() - begin) / 1e9);
        }
    }

    private static byte[] copy(Path in) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipFile zip = new ZipFile(in.toFile()); ZipOutputStream out = new ZipOutputStream(bytes)) {
            for (ZipEntry entry : list(zip)) {
                ZipEntry copy = new ZipEntry(entry.getName());
                copy.setTime(entry.getTime());
                out.putNextEntry(copy);
                byte[] content = read(zip, entry);
                if (entry.getName().endsWith(".class")) {
                    ClassWriter writer = new ClassWriter(0);
                    new ClassReader(content).accept(writer, 0);
                    content = writer.toByteArray();
                }
                out.write(content);
                out.closeEntry();
            }
        }
        return bytes.toByteArray();
    }

    private static byte[] read(ZipFile zip, ZipEntry entry) {
        try (InputStream in = zip.getInputStream(entry)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<ZipEntry> list(ZipFile zip) {
        List<ZipEntry> entries = new ArrayList<>();
        for (Enumeration<? extends ZipEntry> e = zip.entries(); e.hasMoreElements();) {
            entries.add(e.nextElement());
        }
        return entries;
    }
}
