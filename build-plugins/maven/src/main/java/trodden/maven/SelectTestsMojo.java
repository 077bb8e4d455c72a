package trodden.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import trodden.build.ChangedTests;

/**
 * With {@code -Dtrodden.tests=changed}: Surefire and Failsafe leave out the tests that a change does not concern, by profiles of all tests.
 * Where it is not known which these are, all run, and the log says why.
 */
@Mojo(name = "select-tests", defaultPhase = LifecyclePhase.PROCESS_TEST_CLASSES, threadSafe = true)
public final class SelectTestsMojo extends TroddenMojo {
    private static final List<String> PLUGINS = List.of("surefire", "failsafe");
    private static final String EXCLUDES = "excludesFile";

    /** changed: tests that a change may concern; all: all of them. */
    @Parameter(property = "trodden.tests", defaultValue = "all")
    private String tests;

    /** The commit that the change starts from; the one that the profiles are of if none is named. */
    @Parameter(property = "trodden.base")
    private String base;

    /** The folder with the profiles of tests, as trodden gate record --keep makes it; .trodden/tests in the build's folder. */
    @Parameter(property = "trodden.testProfiles")
    private File testProfiles;

    @Override
    void work() throws IOException {
        if (!ChangedTests.wanted(tests) || joinsOthers()) {
            return;
        }
        for (String plugin : PLUGINS) {
            String why = takesNoList(project.getPlugin("org.apache.maven.plugins:maven-" + plugin + "-plugin"));
            if (why != null) {
                getLog().info("All tests run: " + why);
                return;
            }
        }
        Path root = session.getRequest().getMultiModuleProjectDirectory().toPath().toAbsolutePath();
        Path profiles = testProfiles == null ? root.resolve(ChangedTests.PLACE) : testProfiles.toPath().toAbsolutePath();
        Map<String, Set<String>> left = ChangedTests.leftOut(tools(), getLog()::info, root, profiles, base);
        List<String> patterns = new ArrayList<>();
        for (Map.Entry<String, Set<String>> each : left.entrySet()) {
            String type = each.getKey().replace('.', '/');
            for (String method : each.getValue()) {
                patterns.add(type + "#" + method);
            }
        }
        if (patterns.isEmpty()) {
            return;
        }
        for (String plugin : PLUGINS) {
            String property = plugin + "." + EXCLUDES;
            List<String> lines = new ArrayList<>();
            String before = project.getProperties().getProperty(property);
            Path file = directory.toPath().toAbsolutePath().resolve(plugin + "-left-out.txt");
            if (before != null && !before.equals(file.toString())) {
                lines.addAll(Files.readAllLines(project.getBasedir().toPath().resolve(before)));
            }
            lines.addAll(patterns);
            Files.createDirectories(file.getParent());
            Files.write(file, lines);
            project.getProperties().setProperty(property, file.toString());
        }
        getLog().info("Left out: " + patterns.size() + " test methods, listed in " + directory);
    }

    /** Why a plugin of tests takes no list of methods to leave out; null if it does. */
    private static String takesNoList(Plugin plugin) {
        if (plugin == null) {
            return null;
        }
        String version = plugin.getVersion();
        if (version == null || version.matches("[0-2]\\..*|3\\.0\\.0-M[1-5]")) {
            return plugin.getArtifactId() + " " + version + " takes no list of methods to leave out (3.0.0-M6 and newer do)";
        }
        boolean hasOwn = hasOwnList(plugin.getConfiguration());
        for (PluginExecution execution : plugin.getExecutions()) {
            hasOwn |= hasOwnList(execution.getConfiguration());
        }
        return hasOwn ? plugin.getArtifactId() + " has an <" + EXCLUDES + "> of its own in the POM" : null;
    }

    private static boolean hasOwnList(Object configuration) {
        return configuration instanceof Xpp3Dom && ((Xpp3Dom) configuration).getChild(EXCLUDES) != null;
    }
}
