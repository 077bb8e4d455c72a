package trodden.gradle;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the blocks {@code trodden { … }} of a project and of a task of type Test both say. */
public abstract class Selection {
    private List<String> includes;
    private List<String> excludes;
    private Map<String, String> options = new LinkedHashMap<>();

    /** Classes, or Class#method, to profile (wildcards * and ?); null: as in the project's block, there all but the JDK's. */
    public List<String> getIncludes() {
        return includes;
    }

    public void setIncludes(List<String> includes) {
        this.includes = new ArrayList<>(includes);
    }

    /** Classes, or Class#method, to leave alone; null: as in the project's block, there none. */
    public List<String> getExcludes() {
        return excludes;
    }

    public void setExcludes(List<String> excludes) {
        this.excludes = new ArrayList<>(excludes);
    }

    /** Further profile options, by name. A task's are in addition to its project's. */
    public Map<String, String> getOptions() {
        return options;
    }

    public void setOptions(Map<String, String> options) {
        this.options = new LinkedHashMap<>(options);
    }

    /** Puts the values that there are now over those of settings. */
    void putOver(Settings settings) {
        if (includes != null) {
            settings.includes = new ArrayList<>(includes);
        }
        if (excludes != null) {
            settings.excludes = new ArrayList<>(excludes);
        }
        // A map of a Groovy script may hold strings that are not finished.
        options.forEach((key, value) -> settings.options.put(String.valueOf((Object) key), String.valueOf((Object) value)));
    }
}
