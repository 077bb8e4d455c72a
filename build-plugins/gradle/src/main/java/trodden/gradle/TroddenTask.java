package trodden.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import org.gradle.api.DefaultTask;
import org.gradle.api.GradleException;
import org.gradle.api.file.FileCollection;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.SourceSet;
import org.gradle.api.tasks.TaskAction;
import trodden.build.Coverage;
import trodden.build.Tools;

/** Settings and steps of all tasks. */
abstract class TroddenTask extends DefaultTask {
    private String program;
    private String library;
    private List<String> includes = new ArrayList<>();
    private List<String> excludes = new ArrayList<>();
    private FileCollection classes;
    private List<File> sources = new ArrayList<>();
    private File data;
    private File results;
    private boolean failOnNoProfile;

    /** Takes over what the build script says. */
    void take(TroddenExtension extension, SourceSet main) {
        program = extension.getProgram();
        library = extension.getLibrary();
        includes = extension.getIncludes();
        excludes = extension.getExcludes();
        failOnNoProfile = extension.isFailOnNoProfile();
        classes = main.getOutput().getClassesDirs();
        sources = new ArrayList<>(main.getAllJava().getSrcDirs());
    }

    /** The main classes. */
    @InputFiles
    public FileCollection getClasses() {
        return classes;
    }

    void setData(File data) {
        this.data = data;
    }

    @Internal
    Collection<Path> sourcePaths() {
        return sources.stream().map(File::toPath).collect(Collectors.toList());
    }

    Collection<Path> classPaths() {
        return classes.getFiles().stream().map(File::toPath).filter(java.nio.file.Files::isDirectory)
                .collect(Collectors.toList());
    }

    Tools tools() throws IOException {
        return Tools.find(program, library);
    }

    List<String> scope() {
        List<String> arguments = new ArrayList<>();
        includes.forEach(pattern -> java.util.Collections.addAll(arguments, "--include", pattern));
        excludes.forEach(pattern -> java.util.Collections.addAll(arguments, "--exclude", pattern));
        return arguments;
    }

    Coverage coverage() throws IOException {
        return new Coverage(tools(), this::say, this::warn, data.toPath().resolveSibling("merged.trodden"),
                java.util.Collections.singletonList(data.toPath()), classPaths(), includes, excludes);
    }

    void setResults(File results) {
        this.results = results;
    }

    /** What to say where there is no profile: tests that ran should have left one. */
    void nothing(Coverage coverage, String task) throws IOException {
        if (!coverage.testsLeftNothing(java.util.Collections.singletonList(results.toPath()))) {
            say("Nothing to " + task + ": no tests ran, or there are no classes");
            return;
        }
        String what = "Trodden: tests ran, but no profile is in " + data + ", so there is nothing to " + task
                + ". Does the build script replace the tests' jvmArgs, or set tests = false?";
        if (failOnNoProfile) {
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

    /** Does the task's work. */
    abstract void work() throws IOException;

    /** For Gradle. */
    @TaskAction
    public void perform() {
        try {
            work();
        } catch (IOException e) {
            throw new GradleException("Trodden: " + e.getMessage(), e);
        }
    }
}
