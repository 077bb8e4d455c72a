import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Argument: ROUNDS. Loads the same class in a new loader again and again, runs it and forgets it. Prints the
 * resident memory in KiB after half of the rounds and at the end.
 */
public final class Unloading {
    /** Loaded again each time. */
    public static final class Short implements Runnable {
        @Override
        public void run() {
            int odd = 0;
            for (int i = 0; i < 10; i++) {
                if (i % 2 != 0) {
                    odd++;
                }
            }
            if (odd != 5) {
                throw new IllegalStateException();
            }
        }
    }

    private static final class Loader extends ClassLoader {
        private final byte[] bytes;

        Loader(byte[] bytes) {
            super(Unloading.class.getClassLoader());
            this.bytes = bytes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Unloading$Short")) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            return known != null ? known : defineClass(name, bytes, 0, bytes.length);
        }
    }

    private static long resident() throws Exception {
        System.gc();
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IllegalStateException("no VmRSS");
    }

    public static void main(String[] arguments) throws Exception {
        byte[] bytes;
        try (InputStream in = Unloading.class.getResourceAsStream("Unloading$Short.class")) {
            bytes = in.readAllBytes();
        }
        int rounds = Integer.parseInt(arguments[0]);
        long half = 0;
        for (int i = 0; i < rounds; i++) {
            Class<?> type = new Loader(bytes).loadClass("Unloading$Short");
            ((Runnable) type.getDeclaredConstructor().newInstance()).run();
            if (i % 500 == 499) {
                System.gc();
            }
            if (i == rounds / 2) {
                half = resident();
            }
        }
        System.out.println(half + " " + resident());
    }
}
