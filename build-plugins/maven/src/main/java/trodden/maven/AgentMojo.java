package trodden.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.maven.plugins.annotations.Parameter;
import trodden.build.Folders;

/** Adds the agent to the JVMs of tests, through the property that Surefire and Failsafe read. */
abstract class AgentMojo extends TroddenMojo {
    /** Keep the profiles of earlier runs, and report on all together. */
    @Parameter(property = "trodden.append", defaultValue = "true")
    private boolean append;

    /**
     * Further profile options: name and value. probe=counters, single-path-methods=probe and cut-paths=count, which coverage needs, are
     * set already.
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
        all.put("probe", "counters");
        all.put("single-path-methods", "probe");
        all.putAll(options);
        if ("counters".equals(all.get("probe"))) {
            all.putIfAbsent("cut-paths", "count");
        }
        all.put("include", includes);
        all.put("exclude", excludes);
        prepend(propertyName, List.of(tools().agentFlag(all)));
    }
}
