package trodden.build;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Program and agent from the artifact trodden-natives, where it is among the plugin's own: unpacked into a
 * folder that only this user can read, once for each version, and checked each time by the sums that came
 * with them.
 *
 * <p>Builds may do this at the same time: each file is written under a name of its own and then renamed.
 */
final class Natives {
    static final String PROGRAM = "trodden";
    static final String LIBRARY = "libtrodden.so";

    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");
    /** The file that this JVM has unpacked and checked. */
    private static Path checked;

    private Natives() {}

    /** This machine's platform, as the jars' classifiers have it. */
    static String platform() {
        String os = System.getProperty("os.name", "").toLowerCase(Locale.ROOT).replace(' ', '-');
        String machine = System.getProperty("os.arch", "");
        switch (machine) {
            case "amd64":
                machine = "x86_64";
                break;
            case "arm64":
                machine = "aarch64";
                break;
            default:
        }
        return os + "-" + machine;
    }

    private static InputStream open(String name) {
        return Natives.class.getResourceAsStream("/META-INF/trodden/" + platform() + "/" + name);
    }

    /** The sums of the files that are there for this platform; empty if there are none. */
    static Map<String, String> sums() throws IOException {
        Map<String, String> sums = new LinkedHashMap<>();
        InputStream file = open("SHA256SUMS");
        if (file == null) {
            return sums;
        }
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] parts = line.trim().split("\\s+");
                if (parts.length == 2) {
                    sums.put(parts[1], parts[0]);
                }
            }
        }
        return sums;
    }

    /** The folder with both; null if the artifact is not there, or not for this platform. */
    static synchronized Path folder() throws IOException {
        Map<String, String> sums = sums();
        if (sums.isEmpty()) {
            return null;
        }
        if (checked != null && Files.isExecutable(checked.resolve(PROGRAM))) {
            return checked;
        }
        StringBuilder problems = new StringBuilder();
        for (Path cache : caches()) {
            try {
                Path folder = unpack(cache, sums);
                if (Files.isExecutable(folder.resolve(PROGRAM))) {
                    checked = folder;
                    return folder;
                }
                problems.append("; programs cannot be run from ").append(cache).append(" (mounted noexec?)");
            } catch (IOException e) {
                problems.append("; ").append(e.getMessage() == null ? e : e.getClass().getSimpleName() + " " + e.getMessage());
            }
        }
        throw new IOException("cannot unpack the program trodden" + problems
                + ". Name a folder for it by the variable TRODDEN_CACHE, or a program by the property trodden.program");
    }

    /** Folders that it may be unpacked into: the one asked for, else this user's cache, else one for temporary files. */
    private static List<Path> caches() {
        List<Path> caches = new ArrayList<>();
        String asked = System.getenv("TRODDEN_CACHE");
        if (asked != null && !asked.isEmpty()) {
            caches.add(Paths.get(asked).toAbsolutePath());
            return caches;
        }
        String shared = System.getenv("XDG_CACHE_HOME");
        if (shared != null && Paths.get(shared).isAbsolute()) {
            caches.add(Paths.get(shared, "trodden"));
        } else {
            String home = System.getProperty("user.home", "");
            if (Paths.get(home).isAbsolute() && Files.isDirectory(Paths.get(home))) {
                caches.add(Paths.get(home, ".cache", "trodden"));
            }
        }
        String user = System.getProperty("user.name", "user").replaceAll("[^A-Za-z0-9._-]", "_");
        caches.add(Paths.get(System.getProperty("java.io.tmpdir"), "trodden-" + user).toAbsolutePath());
        return caches;
    }

    private static Path unpack(Path cache, Map<String, String> sums) throws IOException {
        own(cache);
        // Other bytes have another folder, so that versions live side by side.
        Path folder = cache.resolve("natives-" + sha256(sums.toString().getBytes(StandardCharsets.UTF_8)).substring(0, 16));
        own(folder);
        for (Map.Entry<String, String> sum : sums.entrySet()) {
            Path file = folder.resolve(sum.getKey());
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || !sha256(file).equals(sum.getValue())) {
                write(sum.getKey(), sum.getValue(), file);
            }
        }
        return folder;
    }

    /** Makes a folder that is this user's alone, or makes sure that it is. */
    private static void own(Path folder) throws IOException {
        Files.createDirectories(folder.getParent());
        try {
            Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(PRIVATE));
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException(folder + " is no folder", e);
            }
        }
        Path probe = Files.createTempFile(folder, "owner", ".part");
        try {
            if (!Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).equals(Files.getOwner(probe))) {
                throw new IOException(folder + " belongs to another user");
            }
        } finally {
            Files.deleteIfExists(probe);
        }
        if (!Files.getPosixFilePermissions(folder).equals(PRIVATE)) {
            Files.setPosixFilePermissions(folder, PRIVATE);
        }
    }

    private static void write(String name, String sum, Path file) throws IOException {
        Path part = Files.createTempFile(file.getParent(), name, ".part");
        try {
            try (InputStream in = open(name); OutputStream out = Files.newOutputStream(part)) {
                if (in == null) {
                    throw new IOException("the artifact trodden-natives lacks " + name);
                }
                byte[] buffer = new byte[1 << 16];
                for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                    out.write(buffer, 0, read);
                }
            }
            if (!sha256(part).equals(sum)) {
                throw new IOException(name + " in the artifact trodden-natives has not the sum that it should have");
            }
            Files.setPosixFilePermissions(part, PRIVATE);
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each JVM has SHA-256", e);
        }
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            text.append(Character.forDigit((b >> 4) & 15, 16)).append(Character.forDigit(b & 15, 16));
        }
        return text.toString();
    }

    private static String sha256(byte[] bytes) {
        return hex(digest().digest(bytes));
    }

    /** The sum of a file's bytes. */
    static String sha256(Path file) throws IOException {
        MessageDigest digest = digest();
        byte[] buffer = new byte[1 << 16];
        try (InputStream in = Files.newInputStream(file)) {
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                digest.update(buffer, 0, read);
            }
        }
        return hex(digest.digest());
    }
}
