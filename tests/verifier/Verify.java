import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Asks HotSpot's verifier about rewritten classes without running any of their code.
 *
 * <p>The original class is loaded (not initialised), and the rewritten bytes are offered to
 * {@code Instrumentation.redefineClasses} together with {@link Poison}, which always fails. HotSpot parses and
 * verifies the definitions one after the other before it applies any of them, so "Poison has a bad version"
 * means that all before it were accepted, and nothing is ever redefined: not even java.lang.String comes to
 * harm. Run with {@code -Xverify:all}, so that classes of the boot loader are verified too. A class that is
 * refused is offered again in its original form: refused as well, it is counted apart (missing dependencies).
 *
 * <p>Protocol, tab-separated lines on standard input: {@code verify CONTAINER REWRITTEN} with CONTAINER the word
 * {@code jdk} or a jar of the corpus, and REWRITTEN a zip with the same entry names. Answers: {@code rejected
 * ENTRY MESSAGE}, {@code original ENTRY MESSAGE}, and last {@code done ACCEPTED}. Arguments: the corpus' jars.
 */
public final class Verify {
    private static final int BATCH = 64;
    private static Instrumentation instrumentation;

    private final Map<String, List<ZipFile>> corpus = new HashMap<>();
    private final Map<String, ZipFile> jars = new HashMap<>();
    private final PrintStream out;
    private final ClassDefinition poison;
    private int accepted;

    private Verify(PrintStream out) throws IOException {
        this.out = out;
        try (InputStream in = Verify.class.getResourceAsStream("Poison.class")) {
            byte[] bytes = in.readAllBytes();
            bytes[6] = 0x7f;
            poison = new ClassDefinition(Poison.class, bytes);
        }
    }

    /** Called by the JVM. */
    public static void premain(String argument, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        Verify verify = new Verify(out);
        for (String jar : arguments) {
            verify.index(jar);
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split("\t");
            verify.container(words[1], words[2]);
        }
    }

    private void index(String path) throws IOException {
        ZipFile zip = new ZipFile(new File(path));
        jars.put(path, zip);
        zip.stream()
                .map(ZipEntry::getName)
                .filter(name -> name.endsWith(".class"))
                .forEach(name -> corpus.computeIfAbsent(name, n -> new ArrayList<>()).add(zip));
    }

    private record Item(String entry, Class<?> type, byte[] rewritten) {}

    private void container(String name, String rewritten) throws IOException {
        accepted = 0;
        Map<String, ClassLoader> loaders = new HashMap<>();
        ZipFile own = jars.get(name);
        try (ZipFile zip = new ZipFile(new File(rewritten))) {
            List<Item> batch = new ArrayList<>();
            for (var entries = zip.entries(); entries.hasMoreElements(); ) {
                ZipEntry entry = entries.nextElement();
                byte[] bytes;
                try (InputStream in = zip.getInputStream(entry)) {
                    bytes = in.readAllBytes();
                }
                try {
                    String path = entry.getName();
                    // The part before the package: a module, META-INF/versions/N/, BOOT-INF/classes/, or nothing.
                    String internal = ClassName.of(bytes);
                    String root = path.substring(0, Math.max(0, path.length() - internal.length() - 6));
                    ClassLoader loader = own == null
                            ? ClassLoader.getSystemClassLoader()
                            : loaders.computeIfAbsent(root, r -> new CorpusLoader(own, r, corpus));
                    Class<?> type = Class.forName(internal.replace('/', '.'), false, loader);
                    batch.add(new Item(path, type, bytes));
                } catch (Throwable e) {
                    original(entry.getName(), e);
                }
                if (batch.size() == BATCH) {
                    judge(batch, own);
                    batch.clear();
                }
            }
            judge(batch, own);
        }
        out.println("done\t" + accepted);
        out.flush();
    }

    /** Verifies a batch at once; halves it when something is refused, until only the culprits are left. */
    private void judge(List<Item> items, ZipFile own) {
        if (items.isEmpty()) {
            return;
        }
        Throwable refusal = offer(items);
        if (refusal == null) {
            accepted += items.size();
        } else if (items.size() > 1) {
            int half = items.size() / 2;
            judge(items.subList(0, half), own);
            judge(items.subList(half, items.size()), own);
        } else {
            Item item = items.get(0);
            Throwable before;
            try {
                before = offer(List.of(new Item(item.entry, item.type, originalBytes(item, own))));
            } catch (IOException e) {
                before = null;
            }
            if (before == null) {
                out.println("rejected\t" + item.entry + "\t" + line(detail(item, refusal)));
            } else {
                original(item.entry, before);
            }
        }
    }

    /** Null if HotSpot accepts all, else what it says. */
    private Throwable offer(List<Item> items) {
        List<ClassDefinition> definitions = new ArrayList<>();
        for (Item item : items) {
            int major = (item.rewritten[6] & 0xff) << 8 | item.rewritten[7] & 0xff;
            if (major > Runtime.version().feature() + 44) {
                // Must not be mistaken for the poison's refusal.
                return new UnsupportedClassVersionError(item.entry);
            }
            definitions.add(new ClassDefinition(item.type, item.rewritten));
        }
        definitions.add(poison);
        try {
            instrumentation.redefineClasses(definitions.toArray(new ClassDefinition[0]));
            return new IllegalStateException("the poison was accepted");
        } catch (UnsupportedClassVersionError e) {
            return null;
        } catch (Throwable e) {
            return e;
        }
    }

    private static byte[] originalBytes(Item item, ZipFile own) throws IOException {
        if (own == null) {
            Path image = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
            return Files.readAllBytes(image.resolve(item.entry));
        }
        try (InputStream in = own.getInputStream(own.getEntry(item.entry))) {
            return in.readAllBytes();
        }
    }

    /** Redefinition says only that verification failed; defining the class elsewhere says what and where. */
    private static Throwable detail(Item item, Throwable refusal) {
        ClassLoader parent = item.type.getClassLoader();
        ClassLoader child = new ClassLoader(parent) {
            @Override
            public Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (!name.equals(item.type.getName())) {
                    return super.loadClass(name, resolve);
                }
                Class<?> known = findLoadedClass(name);
                return known != null ? known : defineClass(name, item.rewritten, 0, item.rewritten.length);
            }
        };
        try {
            // Looking for members links, and therefore verifies, but does not initialise.
            Class.forName(item.type.getName(), false, child).getDeclaredMethods();
            return refusal;
        } catch (VerifyError | ClassFormatError e) {
            return e;
        } catch (Throwable e) {
            return refusal;
        }
    }

    private void original(String entry, Throwable e) {
        out.println("original\t" + entry + "\t" + line(e));
    }

    private static String line(Throwable e) {
        return e.toString().replaceAll("\\s+", " ");
    }
}
