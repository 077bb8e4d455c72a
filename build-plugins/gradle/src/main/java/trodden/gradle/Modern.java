package trodden.gradle;

import java.util.List;
import org.gradle.api.Action;
import org.gradle.api.Task;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.JavaExec;
import org.gradle.api.tasks.TaskContainer;
import org.gradle.api.tasks.testing.Test;
import org.gradle.process.CommandLineArgumentProvider;
import org.gradle.util.GradleVersion;

/** Features that Gradle has from version 4.9 on: tasks that are made only when they are needed, and providers of arguments. Not to be loaded before. */
final class Modern {
    private Modern() {}

    /** Returns true if it is there. Asked by the others, and so not in this class alone: nothing here is linked before it is called. */
    static boolean there() {
        return GradleVersion.current().compareTo(GradleVersion.version("4.9")) >= 0;
    }

    /** The agent's flag, known when the task works. */
    static final class Flags implements CommandLineArgumentProvider {
        private final Agent agent;

        Flags(Agent agent) {
            this.agent = agent;
        }

        @Input
        public boolean isOn() {
            return agent.isOn();
        }

        @Input
        public String getOptions() {
            return agent.getOptions();
        }

        @Input
        public String getSum() {
            return agent.getSum();
        }

        @Override
        public Iterable<String> asArguments() {
            return agent.flags();
        }
    }

    static <T extends Task> void register(TaskContainer tasks, String name, Class<T> type, Action<? super T> configure) {
        tasks.register(name, type, configure);
    }

    static void eachTest(TaskContainer tasks, Action<? super Test> configure) {
        tasks.withType(Test.class).configureEach(configure);
    }

    static void flags(Test task, Agent agent) {
        List<CommandLineArgumentProvider> providers = task.getJvmArgumentProviders();
        providers.add(new Flags(agent));
    }

    static void flags(JavaExec task, Agent agent) {
        List<CommandLineArgumentProvider> providers = task.getJvmArgumentProviders();
        providers.add(new Flags(agent));
    }
}
