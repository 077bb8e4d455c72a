package trodden;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.CodeSource;
import java.util.Properties;

/**
 * The methods that probes call in code that {@code trodden instrument} wrote. Each output gets a copy of this class,
 * under another name and in a package of its own classes, so that whatever loads them finds it: in named
 * modules, bundles and web applications too, and without anything on the class path.
 *
 * <p>When its first probe is hit, it looks for the agent in this JVM, else for the library {@code
 * libtrodden.so} where the property {@code trodden.library}, the variable {@code TRODDEN_LIBRARY} or a
 * properties file says. If neither is there, {@link #ON} is a constant that is false, and probes do nothing.
 * It must never throw.
 */
public final class Runtime {
    /** Replaced in each copy: which output this is. */
    private static final String UNIT = "@unit@";

    /** True if this is counted. */
    private static final boolean ON;

    /** Added to this output's slots and methods, which begin at 0. */
    private static final int SLOTS;
    private static final int METHODS;

    static {
        long bases = -1;
        try {
            bases = start();
        } catch (Throwable e) {
            // Asked for, so it is worth a word. The program continues as it would have without probes.
            complain(e);
        }
        ON = bases >= 0;
        SLOTS = (int) (bases >> 32);
        METHODS = (int) bases;
    }

    private Runtime() {
    }

    /** Probe {@code yieldpoint}: a path has ended. */
    public static void pathEnd(int method, int path) {
        if (ON) {
            Trodden.pathEnd(METHODS + method, path);
        }
    }

    /**
     * Probe {@code counters}: where the calling thread counts for the class whose slots begin at that offset.
     */
    public static long counters(int offset) {
        return ON ? Trodden.counters(SLOTS + offset) : 0;
    }

    /** Probe {@code counters}: a path has ended, in a method that knows where its class's slots begin. */
    public static void count(long counters, int slot) {
        if (ON) {
            Trodden.count(counters, slot);
        }
    }

    /** Probe {@code counters}: a path has ended, in a method that does not. */
    public static void count(int offset, int slot) {
        if (ON) {
            Trodden.count(SLOTS + offset, slot);
        }
    }

    /** Probe {@code counters}: a path of a method with too many for slots has ended. */
    public static void countHashed(int method, int path) {
        if (ON) {
            Trodden.countHashed(METHODS + method, path);
        }
    }

    /** Probe {@code counters}: an exception has cut off a path in a block. */
    public static void cut(int method, int register, int block) {
        if (ON) {
            Trodden.cut(METHODS + method, register, block);
        }
    }

    /** Probe {@code coverage}: execution passed it. Slots are probes then. */
    public static void covered(int probe) {
        if (ON) {
            Trodden.covered(SLOTS + probe);
        }
    }

    /** Where this output's slots and methods begin: two ints in a long; -1 if nothing is to be counted. */
    private static long start() throws Exception {
        Properties file = new Properties();
        String library;
        String options;
        String maps;
        try {
            load(file);
            library = setting("library", "LIBRARY", file);
            options = setting("options", "OPTIONS", file);
            maps = setting("maps", "MAPS", file);
        } catch (SecurityException e) {
            return -1;
        }
        if (library == null && !isThere()) {
            return -1;
        }
        byte[] map = read(Runtime.class.getResourceAsStream("/META-INF/trodden/" + UNIT + ".map.trodden"));
        CodeSource source = Runtime.class.getProtectionDomain().getCodeSource();
        String location = source == null || source.getLocation() == null ? "" : source.getLocation().toString();
        // Copies of this class in other outputs may start at the same moment, and the library can be loaded
        // once only. Only classes of the JDK run under this lock.
        synchronized ("trodden.Runtime".intern()) {
            if (!isThere()) {
                File there = new File(library).getAbsoluteFile();
                if (!there.isFile()) {
                    throw new IOException(there + " is not there");
                }
                System.load(there.getPath());
            }
        }
        return isThere() ? TroddenAhead.register(UNIT, options(options, file), text(maps), location, map) : -1;
    }

    /** Returns true if the agent, or the library, is in this JVM. */
    private static boolean isThere() {
        try {
            Class.forName("java.lang.TroddenAhead", false, null);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static void load(Properties file) throws IOException {
        String name = System.getProperty("trodden.config");
        if (name == null) {
            name = System.getenv("TRODDEN_CONFIG");
        }
        InputStream in = name != null && !name.isEmpty()
                ? new FileInputStream(name)
                : Runtime.class.getResourceAsStream("/trodden.properties");
        if (in != null) {
            try {
                file.load(in);
            } finally {
                in.close();
            }
        }
    }

    /** The property, else the variable, else what the file says; nothing if it is empty. */
    private static String setting(String property, String variable, Properties file) {
        String value = System.getProperty("trodden." + property);
        if (value == null) {
            value = System.getenv("TRODDEN_" + variable);
        }
        if (value == null) {
            value = file.getProperty(property);
        }
        return value == null || value.isEmpty() ? null : value;
    }

    /** As the agent string has them: those given directly, else those of the file. */
    private static String options(String given, Properties file) {
        if (given != null) {
            return given;
        }
        StringBuilder options = new StringBuilder();
        for (String name : file.stringPropertyNames()) {
            if (!name.equals("library") && !name.equals("maps") && !name.equals("options")) {
                String value = file.getProperty(name).replace("\\", "\\\\").replace(",", "\\,");
                options.append(options.length() == 0 ? "" : ",").append(name).append('=').append(value);
            }
        }
        return options.toString();
    }

    private static String text(String value) {
        return value == null ? "" : value;
    }

    private static byte[] read(InputStream in) throws IOException {
        if (in == null) {
            return null;
        }
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] buffer = new byte[8192];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                out.write(buffer, 0, n);
            }
            return out.toByteArray();
        } finally {
            in.close();
        }
    }

    private static void complain(Throwable e) {
        try {
            System.err.println("trodden: " + e + "; the program runs without profiling");
        } catch (Throwable ignored) {
            // Nothing more can be done.
        }
    }
}
