import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Loads from one jar (below a root folder, then from its top), then from the other jars of the corpus. */
final class CorpusLoader extends ClassLoader {
    private final ZipFile own;
    private final String root;
    private final Map<String, List<ZipFile>> others;

    CorpusLoader(ZipFile own, String root, Map<String, List<ZipFile>> others) {
        super(ClassLoader.getPlatformClassLoader());
        this.own = own;
        this.root = root;
        this.others = others;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            String entry = name.replace('.', '/') + ".class";
            // The jar's own class goes first even where the platform has one of that name.
            if (!name.startsWith("java.") && (own.getEntry(root + entry) != null || own.getEntry(entry) != null)) {
                return findClass(name);
            }
            return super.loadClass(name, resolve);
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        String entry = name.replace('.', '/') + ".class";
        byte[] bytes = read(own, root + entry);
        if (bytes == null) {
            bytes = read(own, entry);
        }
        if (bytes == null) {
            for (ZipFile other : others.getOrDefault(entry, List.of())) {
                bytes = bytes == null ? read(other, entry) : bytes;
            }
        }
        if (bytes == null) {
            throw new ClassNotFoundException(name);
        }
        return defineClass(name, bytes, 0, bytes.length);
    }

    private static byte[] read(ZipFile zip, String name) throws ClassNotFoundException {
        ZipEntry entry = zip.getEntry(name);
        if (entry == null) {
            return null;
        }
        try (InputStream in = zip.getInputStream(entry)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}
