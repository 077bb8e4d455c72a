package trodden.gradle;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The settings of {@code trodden { … }} in the block of a task of type Test, for this task alone. */
public class TroddenTestExtension {
    private boolean enabled = true;
    private List<String> includes;
    private List<String> excludes;
    private Map<String, String> options = new LinkedHashMap<>();

    /** True if this task takes the agent. */
    public boolean isEnabled() {
        return enabled;
    }

    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    /** Classes to profile; null: as in the project's block. */
    public List<String> getIncludes() {
        return includes;
    }

    public void setIncludes(List<String> includes) {
        this.includes = new ArrayList<>(includes);
    }

    /** Classes to leave alone; null: as in the project's block. */
    public List<String> getExcludes() {
        return excludes;
    }

    public void setExcludes(List<String> excludes) {
        this.excludes = new ArrayList<>(excludes);
    }

    /** Profile options, in addition to those of the project's block. */
    public Map<String, String> getOptions() {
        return options;
    }

    public void setOptions(Map<String, String> options) {
        this.options = new LinkedHashMap<>(options);
    }

    /** The project's settings with these. */
    Settings over(Settings project) {
        project.agent &= enabled;
        if (includes != null) {
            project.includes = new ArrayList<>(includes);
        }
        if (excludes != null) {
            project.excludes = new ArrayList<>(excludes);
        }
        project.options.putAll(options);
        return project;
    }
}
