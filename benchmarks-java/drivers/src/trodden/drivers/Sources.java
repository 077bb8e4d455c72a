package trodden.drivers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipFile;

/** Helpers around source jars and folders of output. */
final class Sources {
    private Sources() {}

    /** The texts in an archive whose names are wanted, by name. */
    static Map<String, String> read(Path archive, Predicate<String> wanted) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        try (ZipFile zip = new ZipFile(archive.toFile())) {
            for (var entry : zip.stream().filter(e -> wanted.test(e.getName())).toList()) {
                texts.put(
                        entry.getName(), new String(zip.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        return texts;
    }

    /** Writes texts below a folder. */
    static void unpack(Map<String, String> texts, Path folder) throws IOException {
        for (var text : texts.entrySet()) {
            Path file = folder.resolve(text.getKey()).normalize();
            Driver.require(file.startsWith(folder), "entry outside the folder: " + text.getKey());
            Files.createDirectories(file.getParent());
            Files.writeString(file, text.getValue());
        }
    }

    /** A folder that is removed when the JVM ends. */
    static Path temporaryFolder() throws IOException {
        Path folder = Files.createTempDirectory("trodden-bench");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                clear(folder);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }));
        return folder;
    }

    /** Removes a folder with all that is in it. */
    static void clear(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** Names and bytes of the class files below a folder, in order of their names; returns how many. */
    static int addClasses(Path folder, CRC32 sum) throws IOException {
        int count = 0;
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".class")).sorted().toList()) {
                sum.update(folder.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
                sum.update(Files.readAllBytes(file));
                count++;
            }
        }
        return count;
    }
}
