package trodden.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.maven.plugins.annotations.Parameter;
import trodden.build.Folders;
import trodden.build.Tools;

/** Adds the agent to the JVMs of tests, through the property that Surefire and Failsafe read. */
abstract class AgentMojo extends TroddenMojo {
    /** Keep the profiles of earlier runs, and report on all together. */
    @Parameter(property = "trodden.append", defaultValue = "true")
    private boolean append;

    /**
     * Further profile options: name and value. profile=coverage and coverage=paths are set already, unless these name another profile
     * or probe.
     */
    @Parameter
    private Map<String, String> options = Map.of();

    void prepare(String propertyName, Path folder) throws IOException {
        if (joinsOthers()) {
            return;
        }
        if (!append) {
            Folders.delete(folder);
        }
        Files.createDirectories(folder);
        Map<String, Object> all = fileOption(folder);
        if (!options.containsKey("profile") && "counters".equals(options.getOrDefault("probe", "counters"))) {
            all.put("profile", "coverage");
            all.put("coverage", "paths");
        }
        all.putAll(options);
        all.put("include", includes);
        all.put("exclude", excludes);
        Tools tools = tools();
        tools.checkOptions(all);
        prepend(propertyName, List.of(tools.agentFlag(all)));
        if (runsInside()) {
            getLog().warn("Tests of this module may leave no profile: " + INSIDE);
        }
    }
}
