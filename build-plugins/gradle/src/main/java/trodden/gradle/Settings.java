package trodden.gradle;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The values that a build script has set, once it is read: values only, so that a configuration that holds it can be cached. */
final class Settings implements Serializable {
    private static final long serialVersionUID = 1;

    boolean skip;
    boolean agent;
    String program;
    String library;
    ArrayList<String> includes;
    ArrayList<String> excludes;
    ArrayList<String> formats;
    ArrayList<String> rules;
    boolean haltOnFailure;
    boolean failOnNoProfile;
    final LinkedHashMap<String, String> options = new LinkedHashMap<>();

    /** The agent's options, all but where profiles go. */
    Map<String, Object> agentOptions() {
        Map<String, Object> all = new LinkedHashMap<>();
        if (!options.containsKey("profile") && "counters".equals(options.getOrDefault("probe", "counters"))) {
            all.put("profile", "coverage");
            all.put("coverage", "paths");
        }
        all.putAll(options);
        all.put("include", includes);
        all.put("exclude", excludes);
        return all;
    }

    /** Arguments that choose classes. */
    List<String> scope() {
        List<String> arguments = new ArrayList<>();
        includes.forEach(pattern -> java.util.Collections.addAll(arguments, "--include", pattern));
        excludes.forEach(pattern -> java.util.Collections.addAll(arguments, "--exclude", pattern));
        return arguments;
    }
}
