package trodden.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Plugin;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import trodden.build.Coverage;
import trodden.build.Folders;
import trodden.build.Tools;

/** Parameters and steps of all goals. */
abstract class TroddenMojo extends AbstractMojo {
    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    MavenProject project;

    @Parameter(defaultValue = "${session}", readonly = true, required = true)
    MavenSession session;

    /** Skips the execution. */
    @Parameter(property = "trodden.skip", defaultValue = "false")
    boolean skip;

    /** The program trodden; else that of the variable TRODDEN, else the one that came with this plugin. */
    @Parameter(property = "trodden.program")
    String program;

    /** The agent, libtrodden.so; else that of the variable TRODDEN_AGENT, else next to the program. */
    @Parameter(property = "trodden.library")
    String library;

    /** Classes, or Class#method, to profile (wildcards * and ?); all but the JDK's if there is none. */
    @Parameter(property = "trodden.includes")
    List<String> includes = List.of();

    /** Classes, or Class#method, to leave alone. */
    @Parameter(property = "trodden.excludes")
    List<String> excludes = List.of();

    /** Where profiles, and originals of instrumented classes, are kept. */
    @Parameter(property = "trodden.directory", defaultValue = "${project.build.directory}/trodden")
    File directory;

    /** Fail the build if tests ran and left no profile; else only warn. */
    @Parameter(property = "trodden.failOnNoProfile", defaultValue = "false")
    boolean failOnNoProfile;

    /** Returns true for goals that make sense where the build itself was given an agent. */
    boolean worksUnderAgent() {
        return false;
    }

    /** Executes the goal's work. */
    abstract void work() throws IOException, MojoFailureException;

    @Override
    public final void execute() throws MojoExecutionException, MojoFailureException {
        if (skip) {
            getLog().info("Skipping Trodden, as trodden.skip says");
            return;
        }
        if (Tools.isUnderAgent() && !worksUnderAgent()) {
            getLog().info("Skipping Trodden: the build runs under trodden run or trodden gate, whose agent the tests take");
            return;
        }
        try {
            work();
        } catch (IOException e) {
            throw new MojoExecutionException("Trodden: " + e.getMessage(), e);
        }
    }

    Tools tools() throws IOException {
        return Tools.find(program, library);
    }

    /** The profiles of unit tests. */
    Path data() {
        return directory.toPath().toAbsolutePath().resolve("data");
    }

    /** The profiles of integration tests. */
    Path integration() {
        return directory.toPath().toAbsolutePath().resolve("data-it");
    }

    /** Returns true if the module has no classes of its own, because it only joins others. */
    boolean joinsOthers() {
        return "pom".equals(project.getPackaging());
    }

    Path classes() {
        return Path.of(project.getBuild().getOutputDirectory());
    }

    Folders folders() {
        return new Folders(classes(), directory.toPath().toAbsolutePath());
    }

    Coverage coverage(Tools tools, List<Path> data) {
        return coverage(tools, "merged.trodden", data, List.of(folders().originals()));
    }

    Coverage coverage(Tools tools, String merged, List<Path> data, List<Path> classes) {
        Path file = directory.toPath().toAbsolutePath().resolve(merged);
        return new Coverage(tools, getLog()::info, getLog()::warn, file, data, classes, includes, excludes);
    }

    /** Where unit tests write their results. */
    Path surefire() {
        return Path.of(project.getBuild().getDirectory()).resolve("surefire-reports");
    }

    /** Where integration tests write their results. */
    Path failsafe() {
        return Path.of(project.getBuild().getDirectory()).resolve("failsafe-reports");
    }

    /** When this build began, in milliseconds since 1970. */
    long began() {
        return session.getStartTime() == null ? 0 : session.getStartTime().getTime();
    }

    /**
     * Reports that there is no profile: tests that ran should have left one.
     *
     * @param results where the tests that are meant write theirs
     */
    void nothing(Coverage coverage, String goal, List<Path> results) throws IOException, MojoFailureException {
        if (!coverage.testsLeftNothing(results, began())) {
            getLog().info("Skipping Trodden's " + goal + ": no tests ran, or there are no classes");
            return;
        }
        String what = "Trodden: tests ran, but no profile of this build is in " + directory + ", so there is nothing to " + goal + ". "
                + (runsInside() ? INSIDE : "If Surefire's configuration sets <argLine>, it must contain @{argLine}");
        if (failOnNoProfile) {
            throw new MojoFailureException(what);
        }
        getLog().warn(what + " (trodden.failOnNoProfile=true makes this an error)");
    }

    /** The reason why tests leave no profile where they run in Maven's own JVM. */
    static final String INSIDE = "forkCount=0 lets tests run in Maven's own JVM, which takes no agent any more: let them fork, or use"
            + " trodden run --skip-main none mvn …";

    /** Do tests run in Maven's own JVM? */
    boolean runsInside() {
        for (String artifact : List.of("maven-surefire-plugin", "maven-failsafe-plugin")) {
            Plugin plugin = project.getPlugin("org.apache.maven.plugins:" + artifact);
            Object configuration = plugin == null ? null : plugin.getConfiguration();
            Xpp3Dom own = configuration instanceof Xpp3Dom ? ((Xpp3Dom) configuration).getChild("forkCount") : null;
            if (own != null && "0".equals(own.getValue())) {
                return true;
            }
        }
        String named = session.getUserProperties().getProperty("forkCount", project.getProperties().getProperty("forkCount"));
        return "0".equals(named);
    }

    /** Options that say where the profile goes: one for each JVM, those of earlier runs are kept. */
    static Map<String, Object> fileOption(Path folder) {
        Map<String, Object> options = new LinkedHashMap<>();
        options.put("file", folder.toString().replace("%", "%%") + "/%t-%p.trodden");
        return options;
    }

    /** Puts flags in front of those in a property that other plugins use too, in place of those that this plugin put there before. */
    void prepend(String property, List<String> flags) {
        StringBuilder text = new StringBuilder();
        for (String flag : flags) {
            boolean plain = flag.chars().noneMatch(c -> Character.isWhitespace(c) || c == '\'' || c == '"');
            char quote = flag.indexOf('"') < 0 ? '"' : '\'';
            text.append(plain ? flag : quote + flag + quote).append(' ');
        }
        String ours = text.toString();
        Properties properties = project.getProperties();
        String there = properties.getProperty(property, "");
        String key = "trodden.flags." + property;
        if (project.getContextValue(key) != null) {
            there = (there + " ").replace(project.getContextValue(key).toString(), "");
        }
        project.setContextValue(key, ours);
        properties.setProperty(property, (ours + there).trim());
        getLog().info(property + " set to " + properties.getProperty(property));
        if (session.getUserProperties().containsKey(property)) {
            getLog().warn("The tests run without Trodden: -D" + property + " on Maven's command line goes before what plugins set."
                    + " Put those flags into the POM's property " + property);
        }
    }
}
