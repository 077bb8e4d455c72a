package trodden.build;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * The tests that a change does not concern, by {@code trodden tests}. A build leaves these out, and nothing else: a test that the profiles
 * do not know, or whose name is not understood, runs. Where it cannot be known which tests a change may concern, all run, and the log says
 * why.
 */
public final class ChangedTests {
    /** Where the profiles of tests are, below the build's folder, unless another place is named. */
    public static final String PLACE = ".trodden/tests";

    private static final String MESSAGE = "trodden: ";
    private static final String ALL = MESSAGE + "all tests: ";
    /** Names of methods that filters of tests take unchanged. */
    private static final Pattern PLAIN = Pattern.compile("[\\p{L}_$][\\p{L}\\p{N}_$]*");

    private final List<String> names = new ArrayList<>();
    private final List<String> reasons = new ArrayList<>();
    private final List<String> said = new ArrayList<>();

    private ChangedTests() {}

    /** Returns true if a build asked for them; refuses what it does not know. */
    public static boolean wanted(String value) throws IOException {
        if (value == null || value.isEmpty() || value.equals("all")) {
            return false;
        }
        if (!value.equals("changed")) {
            throw new IOException("trodden.tests is '" + value + "', but takes 'changed' or 'all'");
        }
        return true;
    }

    /**
     * Methods to leave out, by class.
     *
     * @param root the folder of the whole build, in which git is asked
     * @param profiles the folder with profiles of tests
     * @param base the commit that the change starts from; null or empty: the one that the profiles are of
     */
    public static Map<String, Set<String>> leftOut(Tools tools, Consumer<String> log, Path root, Path profiles, String base)
            throws IOException {
        String[] files = profiles.toFile().list((in, name) -> name.endsWith(".trodden"));
        if (files == null || files.length == 0) {
            log.accept("All tests run: no profile of tests is in " + profiles + ". This makes one: trodden gate record --runs 1 --keep "
                    + profiles + " -o " + profiles + File.separator + "tests.gate -- COMMAND, where COMMAND builds and runs all tests");
            return Collections.emptyMap();
        }
        ChangedTests needed = new ChangedTests();
        List<String> arguments = new ArrayList<>(Arrays.asList("tests", profiles.toString()));
        if (base != null && !base.isEmpty()) {
            arguments.add("--base=" + base);
        }
        if (tools.runIn(root, needed::sort, arguments) != 0) {
            log.accept("All tests run: " + String.join("; ", needed.said));
            return Collections.emptyMap();
        }
        for (String reason : needed.reasons) {
            log.accept("All tests run: " + reason);
        }
        if (!needed.reasons.isEmpty()) {
            return Collections.emptyMap();
        }
        ChangedTests all = new ChangedTests();
        tools.mustRunIn(root, all::sort, Arrays.asList("tests", profiles.toString(), "--all"));
        needed.said.forEach(log);
        Map<String, Set<String>> left = byClass(all.names);
        byClass(needed.names).forEach((type, methods) -> left.getOrDefault(type, new TreeSet<>()).removeAll(methods));
        left.values().removeIf(Set::isEmpty);
        return left;
    }

    private void sort(String line) {
        if (line.startsWith(ALL)) {
            reasons.add(line.substring(ALL.length()));
        } else if (line.startsWith(MESSAGE)) {
            said.add(line.substring(MESSAGE.length()));
        } else if (!line.isEmpty()) {
            names.add(line);
        }
    }

    /** Classes and methods of names such as {@code orders.ShopTest.adult(int)}. */
    private static Map<String, Set<String>> byClass(List<String> names) {
        Map<String, Set<String>> found = new TreeMap<>();
        for (String name : names) {
            int parameters = name.indexOf('(');
            int method = name.lastIndexOf('.', parameters);
            if (method > 0 && PLAIN.matcher(name.substring(method + 1, parameters)).matches()) {
                found.computeIfAbsent(name.substring(0, method), type -> new TreeSet<>())
                        .add(name.substring(method + 1, parameters));
            }
        }
        return found;
    }
}
