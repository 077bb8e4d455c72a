import java.io.BufferedOutputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Copies every class of the running JDK's image into a zip: entries {@code module/package/Name.class}. */
public final class DumpJdk {
    private DumpJdk() {}

    public static void main(String[] arguments) throws Exception {
        FileSystem jrt = FileSystems.getFileSystem(URI.create("jrt:/"));
        Path root = jrt.getPath("/modules");
        List<Path> classes;
        try (Stream<Path> all = Files.walk(root)) {
            classes = all.filter(p -> p.toString().endsWith(".class")).sorted().collect(Collectors.toList());
        }
        try (OutputStream file = new BufferedOutputStream(Files.newOutputStream(Path.of(arguments[0])));
                ZipOutputStream zip = new ZipOutputStream(file)) {
            zip.setLevel(1);
            for (Path path : classes) {
                zip.putNextEntry(new ZipEntry(root.relativize(path).toString()));
                Files.copy(path, zip);
                zip.closeEntry();
            }
        }
    }
}
