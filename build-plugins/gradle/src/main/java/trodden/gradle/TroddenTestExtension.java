package trodden.gradle;

/** The settings of {@code trodden { … }} in the block of a task of type Test, for this task alone. */
public class TroddenTestExtension extends Selection {
    private boolean enabled = true;

    /** True if this task takes the agent. */
    public boolean isEnabled() {
        return enabled;
    }

    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    /** The project's settings with these. */
    Settings over(Settings project) {
        project.agent &= enabled;
        putOver(project);
        return project;
    }
}
