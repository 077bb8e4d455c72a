package trodden.build;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Classes instrumented in place, and put back. */
public final class Folders {
    private final Path classes;
    private final Path original;
    private final Path probed;

    /**
     * @param classes where the program is loaded from
     * @param work where the originals are kept meanwhile
     */
    public Folders(Path classes, Path work) {
        this.classes = classes;
        this.original = work.resolve("original-classes");
        this.probed = work.resolve("probed-classes");
    }

    /** The originals, wherever they are now. */
    public Path originals() {
        return Files.isDirectory(original) ? original : classes;
    }

    /** Makes instrumented classes of those in a folder. */
    public interface Instrument {
        void run(Path from, Path to) throws IOException;
    }

    /**
     * Replaces the classes by instrumented ones. Those that are instrumented already, from a build that did
     * not put them back, are not taken for originals.
     */
    public void instrument(Instrument instrument) throws IOException {
        if (Files.isDirectory(original)) {
            List<Path> here = files(classes);
            for (Path file : here) {
                if (!same(classes.resolve(file), probed.resolve(file))) {
                    copy(classes.resolve(file), original.resolve(file));
                }
            }
            for (Path file : files(original)) {
                if (!here.contains(file)) {
                    Files.delete(original.resolve(file));
                }
            }
        } else {
            for (Path file : files(classes)) {
                copy(classes.resolve(file), original.resolve(file));
            }
            Files.createDirectories(original);
        }
        instrument.run(original, probed);
        replace(probed);
    }

    /** Puts the originals back; false if there are none. */
    public boolean restore() throws IOException {
        if (!Files.isDirectory(original)) {
            return false;
        }
        replace(original);
        delete(original);
        delete(probed);
        return true;
    }

    /** Makes the classes those of another folder. */
    private void replace(Path by) throws IOException {
        List<Path> wanted = files(by);
        for (Path file : files(classes)) {
            if (!wanted.contains(file)) {
                Files.delete(classes.resolve(file));
                Path parent = classes.resolve(file).getParent();
                while (!parent.equals(classes) && isEmpty(parent)) {
                    Files.delete(parent);
                    parent = parent.getParent();
                }
            }
        }
        for (Path file : wanted) {
            if (!same(by.resolve(file), classes.resolve(file))) {
                copy(by.resolve(file), classes.resolve(file));
            }
        }
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (Stream<Path> inside = Files.list(folder)) {
            return !inside.findAny().isPresent();
        }
    }

    private static boolean same(Path a, Path b) throws IOException {
        return Files.isRegularFile(b) && Arrays.equals(Files.readAllBytes(a), Files.readAllBytes(b));
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to.getParent());
        Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).map(folder::relativize).collect(Collectors.toList());
        }
    }

    /** Deletes a folder, if it is there. */
    public static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        List<Path> all = new ArrayList<>();
        try (Stream<Path> walk = Files.walk(folder)) {
            walk.sorted(Comparator.reverseOrder()).forEach(all::add);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        for (Path path : all) {
            Files.delete(path);
        }
    }
}
