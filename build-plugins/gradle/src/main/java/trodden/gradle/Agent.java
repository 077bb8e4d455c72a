package trodden.gradle;

import java.io.File;
import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import org.gradle.api.Action;
import org.gradle.api.GradleException;
import org.gradle.api.Task;
import org.gradle.api.provider.Provider;
import org.gradle.process.JavaForkOptions;
import trodden.build.Folders;
import trodden.build.Tools;

/**
 * The agent of a task that starts JVMs. What the task's result depends on are the options and the agent's
 * bytes, not where profiles go or where the agent is: so a result can be taken from a build cache that was
 * filled in another folder, by another user.
 */
class Agent implements Action<Task> {
    private final Provider<Settings> settings;
    private final Provider<File> folder;
    private final boolean flags;

    /**
     * @param folder where profiles go, one for each JVM
     * @param flags does this action give the task its flag (where Gradle knows no providers of arguments)?
     */
    Agent(Provider<Settings> settings, Provider<File> folder, boolean flags) {
        this.settings = settings;
        this.folder = folder;
        this.flags = flags;
    }

    /** Returns true if JVMs take it. */
    public boolean isOn() {
        Settings now = settings.get();
        return now.agent && !now.skip && !Tools.isUnderAgent();
    }

    /** The agent's options, as text. */
    public String getOptions() {
        return isOn() ? Tools.agentOptions(settings.get().agentOptions()) : "";
    }

    /** Which agent: the sum of its bytes. */
    public String getSum() {
        if (!isOn()) {
            return "";
        }
        try {
            return Tools.fingerprint(settings.get().program, settings.get().library);
        } catch (IOException e) {
            throw new GradleException("Trodden: " + e.getMessage(), e);
        }
    }

    /** The JVM's flags. */
    Iterable<String> flags() {
        if (!isOn()) {
            return Collections.emptyList();
        }
        Settings now = settings.get();
        Map<String, Object> options = new java.util.LinkedHashMap<>();
        options.put("file", folder.get().getAbsolutePath().replace("%", "%%") + "/%t-%p.trodden");
        options.putAll(now.agentOptions());
        try {
            return Collections.singletonList(Tools.find(now.program, now.library).agentFlag(options));
        } catch (IOException e) {
            throw new GradleException("Trodden: " + e.getMessage(), e);
        }
    }

    /** Before the task works: the profiles of an earlier run are of other classes. */
    @Override
    public void execute(Task task) {
        try {
            Folders.delete(folder.get().toPath());
            java.nio.file.Files.createDirectories(folder.get().toPath());
            if (isOn()) {
                Settings now = settings.get();
                Tools.find(now.program, now.library).checkOptions(now.agentOptions());
            }
        } catch (IOException e) {
            throw new GradleException("Trodden: " + e.getMessage(), e);
        }
        if (flags) {
            ((JavaForkOptions) task).jvmArgs(flags());
        }
    }
}
