package trodden.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import org.gradle.api.DefaultTask;
import org.gradle.api.GradleException;
import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.FileCollection;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.api.tasks.TaskAction;
import trodden.build.Coverage;
import trodden.build.Tools;

/**
 * Settings and steps of all tasks. No task looks at the project while it works: each has what it needs in
 * fields of its own, so that a configuration can be cached.
 */
abstract class TroddenTask extends DefaultTask {
    private final ConfigurableFileCollection classes = getProject().files();
    private final ConfigurableFileCollection sources = getProject().files();
    private final ConfigurableFileCollection data = getProject().files();
    private final ConfigurableFileCollection results = getProject().files();
    private Provider<Settings> settings;

    /** The main classes. */
    @InputFiles
    @PathSensitive(PathSensitivity.RELATIVE)
    public FileCollection getClasses() {
        return classes;
    }

    /** Folders of sources. */
    @InputFiles
    @PathSensitive(PathSensitivity.RELATIVE)
    public FileCollection getSources() {
        return sources;
    }

    /** Folders of profiles. */
    @InputFiles
    @PathSensitive(PathSensitivity.RELATIVE)
    public FileCollection getData() {
        return data;
    }

    void settings(Provider<Settings> settings) {
        this.settings = settings;
    }

    Settings settings() {
        return settings.get();
    }

    void classes(Object... more) {
        classes.from(more);
    }

    void sources(Object... more) {
        sources.from(more);
    }

    void data(Object... more) {
        data.from(more);
    }

    /** Where tests write their results. */
    void results(Object... more) {
        results.from(more);
    }

    List<Path> classPaths() {
        return paths(classes).stream().filter(Files::isDirectory).collect(Collectors.toList());
    }

    List<Path> sourcePaths() {
        return paths(sources);
    }

    private static List<Path> paths(FileCollection files) {
        return files.getFiles().stream().map(File::toPath).collect(Collectors.toList());
    }

    Tools tools() throws IOException {
        return Tools.find(settings().program, settings().library);
    }

    Coverage coverage() throws IOException {
        Path merged = getTemporaryDir().toPath().resolve("merged.trodden");
        return new Coverage(tools(), this::say, this::warn, merged, paths(data), classPaths(), settings().includes,
                settings().excludes);
    }

    /** Reports that there is no profile: tests that ran should have left one. */
    void nothing(Coverage coverage, String task) throws IOException {
        Collection<Path> folders = paths(results);
        if (!coverage.testsLeftNothing(folders, 0)) {
            say("Nothing to " + task + ": no tests ran, or there are no classes");
            return;
        }
        String what = "Trodden: tests ran, but no profile is in "
                + paths(data).stream().map(Path::toString).collect(Collectors.joining(", ")) + ", so there is nothing to " + task
                + ". Does the build script replace the tests' jvmArgs, or set tests = false?";
        if (settings().failOnNoProfile) {
            throw new GradleException(what);
        }
        warn(what + " (failOnNoProfile = true makes this an error)");
    }

    void warn(String line) {
        getLogger().warn(line);
    }

    void say(String line) {
        getLogger().lifecycle(line);
    }

    /** Executes the task's work. */
    abstract void work() throws IOException;

    /** For Gradle. */
    @TaskAction
    public void perform() {
        if (settings().skip) {
            say("Skipping Trodden, as trodden.skip says");
            return;
        }
        if (Tools.isUnderAgent()) {
            say("Skipping Trodden: the build runs under trodden run or trodden gate, whose agent the tests take");
            return;
        }
        try {
            work();
        } catch (IOException e) {
            throw new GradleException("Trodden: " + e.getMessage(), e);
        }
    }
}
