package trodden.gradle;

import java.io.File;
import java.io.IOException;
import java.io.Serializable;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.gradle.api.Action;
import org.gradle.api.GradleException;
import org.gradle.api.Plugin;
import org.gradle.api.Project;
import org.gradle.api.Task;
import org.gradle.api.plugins.ApplicationPlugin;
import org.gradle.api.plugins.JavaPlugin;
import org.gradle.api.tasks.JavaExec;
import org.gradle.api.tasks.SourceSet;
import org.gradle.api.tasks.SourceSetContainer;
import org.gradle.api.tasks.testing.Test;
import trodden.build.Tools;

/**
 * Tests run under the agent. {@code troddenReport} and {@code troddenCheck} use their profiles, {@code troddenInstrument}
 * puts probes into the main classes, {@code troddenRun} is {@code run} under the agent.
 *
 * <p>No task looks at the project while it works: each has what it needs in fields of its own, so that a configuration can be
 * cached.
 */
public class TroddenPlugin implements Plugin<Project> {
    private static final String GROUP = "trodden";

    @Override
    public void apply(Project project) {
        TroddenExtension extension = project.getExtensions().create("trodden", TroddenExtension.class);
        project.getPlugins().withType(JavaPlugin.class, plugin -> addTasks(project, extension));
        project.getPlugins().withType(ApplicationPlugin.class, plugin -> addRun(project, extension));
    }

    /** Adds the tasks; the build script's settings are known only after it was read. */
    private static void addTasks(Project project, TroddenExtension extension) {
        InstrumentTask instrument = project.getTasks().create("troddenInstrument", InstrumentTask.class);
        instrument.setDescription("Puts probes into the main classes: build/trodden/classes");
        ReportTask report = project.getTasks().create("troddenReport", ReportTask.class);
        report.setDescription("Reports on the profiles of the tests: build/reports/trodden");
        CheckTask check = project.getTasks().create("troddenCheck", CheckTask.class);
        check.setDescription("Fails if rules about coverage are broken");
        for (TroddenTask task : Arrays.asList(instrument, report, check)) {
            task.setGroup(GROUP);
            task.dependsOn("classes");
        }
        // They write the same merged profile.
        check.mustRunAfter(report);
        project.afterEvaluate(evaluated -> {
            // By name: the types that lead there differ between Gradle 4 and 9.
            SourceSet main = ((SourceSetContainer) project.property("sourceSets")).getByName("main");
            File work = new File(project.getBuildDir(), "trodden");
            File data = new File(work, "data");
            instrument.take(extension, main);
            instrument.setDestination(new File(work, "classes"));
            report.take(extension, main);
            report.setData(data);
            report.setFormats(extension.getFormats());
            report.setModule(project.getName());
            report.setDestination(new File(project.getBuildDir(), "reports/trodden"));
            check.take(extension, main);
            check.setData(data);
            check.setRules(extension.getRules());
            check.setHaltOnFailure(extension.isHaltOnFailure());
            // Where tasks of type Test write their results, unless the build script says otherwise.
            File results = new File(project.getBuildDir(), "test-results");
            report.setResults(results);
            check.setResults(results);
            if (!extension.isTests()) {
                return;
            }
            project.getTasks().withType(Test.class, test -> {
                File own = new File(data, test.getName());
                test.jvmArgs(flag(extension, own));
                // The profiles of an earlier run are of other classes.
                test.doFirst(new Clean(own));
                test.getOutputs().dir(own);
                report.mustRunAfter(test);
                check.mustRunAfter(test);
            });
        });
    }

    private static void addRun(Project project, TroddenExtension extension) {
        JavaExec profiled = project.getTasks().create("troddenRun", JavaExec.class);
        profiled.setGroup(GROUP);
        profiled.setDescription("Runs the application under the agent; its profile goes to build/trodden/run");
        project.afterEvaluate(evaluated -> {
            Launch.copy((JavaExec) project.getTasks().getByName("run"), profiled);
            File data = new File(project.getBuildDir(), "trodden/run");
            profiled.jvmArgs(flag(extension, data));
            profiled.doFirst(new Clean(data));
        });
    }

    /** The agent's flag for profiles in a folder, one for each JVM. */
    private static String flag(TroddenExtension extension, File folder) {
        Map<String, Object> options = new LinkedHashMap<>();
        options.put("file", folder.getAbsolutePath().replace("%", "%%") + "/%t-%p.trodden");
        options.put("probe", "counters");
        options.put("single-path-methods", "probe");
        options.putAll(extension.getOptions());
        if ("counters".equals(options.get("probe"))) {
            options.putIfAbsent("cut-paths", "count");
        }
        options.put("include", extension.getIncludes());
        options.put("exclude", extension.getExcludes());
        try {
            return Tools.find(extension.getProgram(), extension.getLibrary()).agentFlag(options);
        } catch (IOException e) {
            throw new GradleException("Trodden: " + e.getMessage(), e);
        }
    }

    /** Empties a folder before a task works. */
    private static final class Clean implements Action<Task>, Serializable {
        private static final long serialVersionUID = 1;

        private final File folder;

        Clean(File folder) {
            this.folder = folder;
        }

        @Override
        public void execute(Task task) {
            try {
                trodden.build.Folders.delete(folder.toPath());
                java.nio.file.Files.createDirectories(folder.toPath());
            } catch (IOException e) {
                throw new GradleException("Trodden: " + e.getMessage(), e);
            }
        }
    }
}
