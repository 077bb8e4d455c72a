package trodden.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.gradle.api.Action;
import org.gradle.api.Plugin;
import org.gradle.api.Project;
import org.gradle.api.Task;
import org.gradle.api.file.Directory;
import org.gradle.api.plugins.ApplicationPlugin;
import org.gradle.api.plugins.JavaPlugin;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.JavaExec;
import org.gradle.api.tasks.SourceSet;
import org.gradle.api.tasks.SourceSetContainer;
import org.gradle.api.tasks.testing.Test;

/**
 * Tests run under the agent. {@code troddenReport} and {@code troddenCheck} use their profiles, {@code
 * troddenInstrument} puts probes into the main classes, {@code troddenRun} is {@code run} under the agent;
 * {@code troddenAggregateReport} and {@code troddenAggregateCheck} join the tests of a project and all below it.
 */
public class TroddenPlugin implements Plugin<Project> {
    private static final String GROUP = "trodden";

    @Override
    public void apply(Project project) {
        TroddenExtension extension = project.getExtensions().create("trodden", TroddenExtension.class);
        extension.setSkip(given(project, "trodden.skip") != null && !"false".equals(given(project, "trodden.skip")));
        extension.setProgram(given(project, "trodden.program"));
        extension.setLibrary(given(project, "trodden.library"));
        // Settings are known only after the build script was read.
        Provider<Settings> settings = project.provider(extension::settings);
        project.getPlugins().withType(JavaPlugin.class, plugin -> {
            addTasks(project, settings);
            addAgent(project, settings);
        });
        project.getPlugins().withType(ApplicationPlugin.class, plugin -> addRun(project, settings));
        if (!project.getSubprojects().isEmpty()) {
            addAggregate(project, settings);
        }
    }

    /** The value that -P or -D on the command line, or gradle.properties, gives. */
    private static String given(Project project, String name) {
        Object value = project.findProperty(name);
        return value != null ? value.toString() : System.getProperty(name);
    }

    private static Provider<File> built(Project project, String name) {
        return project.getLayout().getBuildDirectory().dir(name).map(Directory::getAsFile);
    }

    /** Adds a task: made only when it is needed, where Gradle can do that. */
    private static <T extends Task> void register(Project project, String name, Class<T> type, Action<? super T> configure) {
        if (Modern.there()) {
            Modern.register(project.getTasks(), name, type, configure);
        } else {
            project.getTasks().create(name, type, configure);
        }
    }

    private static <T extends TroddenTask> void add(Project project, String name, Class<T> type, String description,
            Provider<Settings> settings, Action<? super T> configure) {
        register(project, name, type, task -> {
            task.setGroup(GROUP);
            task.setDescription(description);
            task.settings(settings);
            configure.execute(task);
        });
    }

    /** Gives a task the facts about a project with classes. */
    private static void join(TroddenTask task, Project project, boolean tested) {
        // By name: the types that lead there differ between Gradle 4 and 9.
        SourceSet main = ((SourceSetContainer) project.property("sourceSets")).getByName("main");
        task.classes((Callable<Object>) () -> main.getOutput().getClassesDirs());
        task.dependsOn(project.getPath().equals(":") ? ":classes" : project.getPath() + ":classes");
        if (!tested) {
            return;
        }
        task.sources((Callable<Object>) () -> {
            List<File> folders = new ArrayList<>(main.getAllSource().getSrcDirs());
            folders.removeAll(main.getResources().getSrcDirs());
            return folders;
        });
        task.data(built(project, "trodden/data"));
        // Where tasks of type Test write their results, unless the build script says otherwise.
        task.results(built(project, "test-results"));
        task.mustRunAfter(project.getTasks().withType(Test.class));
    }

    private static void joinAll(TroddenTask task, Project project) {
        for (Project each : project.getAllprojects()) {
            each.getPlugins().withType(JavaPlugin.class, plugin -> join(task, each, true));
        }
    }

    private static void addTasks(Project project, Provider<Settings> settings) {
        add(project, "troddenInstrument", InstrumentTask.class, "Puts probes into the main classes: build/trodden/classes", settings,
                task -> {
                    join(task, project, false);
                    task.destination(built(project, "trodden/classes"));
                });
        add(project, "troddenReport", ReportTask.class, "Reports on the profiles of the tests: build/reports/trodden", settings,
                task -> {
                    join(task, project, true);
                    task.module(project.getName());
                    task.destination(built(project, "reports/trodden"));
                });
        add(project, "troddenCheck", CheckTask.class, "Fails if rules about coverage are broken", settings, task -> {
            join(task, project, true);
            // If both run, the report of what is broken comes first.
            task.mustRunAfter("troddenReport");
        });
    }

    private static void addAggregate(Project project, Provider<Settings> settings) {
        add(project, "troddenAggregateReport", ReportTask.class,
                "Reports on the tests of this project and all below: build/reports/trodden-aggregate", settings, task -> {
                    task.module(project.getName());
                    task.destination(built(project, "reports/trodden-aggregate"));
                    joinAll(task, project);
                });
        add(project, "troddenAggregateCheck", CheckTask.class,
                "Fails if rules about coverage by the tests of this project and all below are broken", settings, task -> {
                    joinAll(task, project);
                    task.mustRunAfter("troddenAggregateReport");
                });
    }

    private static void addAgent(Project project, Provider<Settings> settings) {
        Action<Test> configure = test -> {
            TroddenTestExtension own = test.getExtensions().create("trodden", TroddenTestExtension.class);
            Provider<Settings> both = project.provider(() -> own.over(settings.get()));
            Provider<File> folder = built(project, "trodden/data/" + test.getName());
            SelectTests.prepare(test, settings, given(project, "trodden.tests"), given(project, "trodden.base"),
                    given(project, "trodden.testProfiles"));
            Agent agent = new Agent(both, folder, !Modern.there());
            test.doFirst(agent);
            test.getOutputs().dir(folder).withPropertyName("trodden.data");
            if (Modern.there()) {
                Modern.flags(test, agent);
            } else {
                test.getInputs().property("trodden.options", (Callable<Object>) agent::getOptions);
                test.getInputs().property("trodden.agent", (Callable<Object>) agent::getSum);
            }
        };
        if (Modern.there()) {
            Modern.eachTest(project.getTasks(), configure);
        } else {
            project.getTasks().withType(Test.class, configure);
        }
    }

    private static void addRun(Project project, Provider<Settings> settings) {
        Provider<Settings> on = project.provider(() -> {
            Settings now = settings.get();
            now.agent = true;
            return now;
        });
        register(project, "troddenRun", JavaExec.class, profiled -> {
            profiled.setGroup(GROUP);
            profiled.setDescription("Runs the application under the agent; its profile goes to build/trodden/run");
            Agent agent = new Agent(on, built(project, "trodden/run"), !Modern.there());
            profiled.doFirst(agent);
            if (Modern.there()) {
                Launch.copy((JavaExec) project.getTasks().getByName("run"), profiled);
                Modern.flags(profiled, agent);
            } else {
                project.afterEvaluate(evaluated -> Launch.copy((JavaExec) project.getTasks().getByName("run"), profiled));
            }
        });
    }
}
