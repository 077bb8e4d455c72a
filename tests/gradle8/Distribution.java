import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Makes a folder that Gradle's classes take for their distribution: java Distribution.java JARS OUT. All classes are in one jar
 * (gradle-api of dev.gradleplugins), which takes the place of one module; the other modules, and the libraries that are inside that jar,
 * are jars without classes.
 */
public final class Distribution {
    private static final String VERSION = "8.11.1";
    private static final String WHOLE = "gradle-base-services";
    private static final String LIST = "-classpath.properties";

    public static void main(String[] args) throws IOException {
        Path jars = Path.of(args[0]);
        Path lib = Path.of(args[1], "lib");
        Files.createDirectories(lib.resolve("plugins"));
        Path whole = lib.resolve(WHOLE + "-" + VERSION + ".jar");
        Files.copy(jars.resolve("gradle-api-" + VERSION + ".jar"), whole);
        TreeMap<String, String> modules = new TreeMap<>();
        Set<String> libraries = new TreeSet<>();
        Set<String> wanted = new TreeSet<>();
        try (FileSystem inside = FileSystems.newFileSystem(whole)) {
            Path root = inside.getPath("/");
            try (Stream<Path> all = Files.list(root)) {
                for (Path file : all.filter(f -> f.toString().endsWith(LIST)).collect(Collectors.toList())) {
                    String name = file.getFileName().toString();
                    modules.put(name.substring(0, name.length() - LIST.length()), Files.readString(file));
                    Properties list = new Properties();
                    try (InputStream in = Files.newInputStream(file)) {
                        list.load(in);
                    }
                    libraries.addAll(names(list.getProperty("runtime")));
                    wanted.addAll(names(list.getProperty("projects")));
                }
            }
            testsWithTheirOwnLibrary(inside.getPath("/org/gradle/api/internal/tasks/testing"));
        }
        wanted.removeAll(modules.keySet());
        wanted.forEach(name -> modules.put(name, "runtime=\nprojects=\n"));
        modules.put("gradle-gradle-cli", "runtime=\nprojects=" + String.join(",", modules.keySet()) + "\n");
        modules.remove(WHOLE);
        for (String name : modules.keySet()) {
            jar(lib.resolve(name + "-" + VERSION + ".jar"), name + LIST, modules.get(name));
        }
        for (String name : libraries) {
            if (Files.exists(jars.resolve(name))) {
                Files.copy(jars.resolve(name), lib.resolve(name));
            } else {
                jar(lib.resolve(name), "META-INF/empty", "");
            }
        }
    }

    private static List<String> names(String list) {
        return list == null || list.isEmpty() ? List.of() : Arrays.asList(list.split(","));
    }

    private static void jar(Path file, String entry, String text) throws IOException {
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(file))) {
            out.putNextEntry(new ZipEntry(entry));
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    /** In that jar JUnit has another name, so that the classes that run tests would not know the tests' annotations. */
    private static void testsWithTheirOwnLibrary(Path folder) throws IOException {
        List<Path> classes = new ArrayList<>();
        try (Stream<Path> all = Files.walk(folder)) {
            all.filter(f -> f.toString().endsWith(".class")).forEach(classes::add);
        }
        for (Path file : classes) {
            byte[] before = Files.readAllBytes(file);
            byte[] after = renamed(before);
            if (!Arrays.equals(before, after)) {
                Files.write(file, after);
            }
        }
    }

    private static byte[] renamed(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new java.io.ByteArrayInputStream(bytes));
        ByteArrayOutputStream bytesOut = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytesOut);
        out.write(in.readNBytes(8));
        int count = in.readUnsignedShort();
        out.writeShort(count);
        for (int i = 1; i < count; i++) {
            int tag = in.readUnsignedByte();
            out.writeByte(tag);
            switch (tag) {
                case 1:
                    String text = in.readUTF();
                    for (String library : new String[] {"org/junit", "junit/framework", "org/hamcrest", "org/opentest4j"}) {
                        text = text.replace("org/gradle/internal/impldep/" + library, library);
                        String dotted = library.replace('/', '.');
                        text = text.replace("org.gradle.internal.impldep." + dotted, dotted);
                    }
                    out.writeUTF(text);
                    break;
                case 5:
                case 6:
                    out.write(in.readNBytes(8));
                    i++;
                    break;
                case 7:
                case 8:
                case 16:
                case 19:
                case 20:
                    out.write(in.readNBytes(2));
                    break;
                case 15:
                    out.write(in.readNBytes(3));
                    break;
                default:
                    out.write(in.readNBytes(4));
            }
        }
        out.write(in.readAllBytes());
        return bytesOut.toByteArray();
    }
}
