package trodden.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import trodden.build.Folders;
import trodden.build.Tools;

/** Adds the agent to the JVMs of the tests, through the property that Surefire and Failsafe read. */
@Mojo(name = "prepare-agent", defaultPhase = LifecyclePhase.INITIALIZE, threadSafe = true)
public final class PrepareAgentMojo extends TroddenMojo {
    /** The property that the agent's flag is put into. */
    @Parameter(property = "trodden.propertyName", defaultValue = "argLine")
    private String propertyName;

    /** Keep the profiles of earlier runs, and report on all together. */
    @Parameter(property = "trodden.append", defaultValue = "true")
    private boolean append;

    /**
     * Further profile options: name and value. probe=counters, single-path-methods=probe and cut-paths=count, which coverage needs, are
     * set already.
     */
    @Parameter
    private Map<String, String> options = Map.of();

    @Override
    void work() throws IOException {
        Tools tools = tools();
        if (!append) {
            Folders.delete(data());
        }
        Files.createDirectories(data());
        Map<String, Object> all = fileOption();
        all.put("probe", "counters");
        all.put("single-path-methods", "probe");
        all.putAll(options);
        if ("counters".equals(all.get("probe"))) {
            all.putIfAbsent("cut-paths", "count");
        }
        all.put("include", includes);
        all.put("exclude", excludes);
        prepend(propertyName, List.of(tools.agentFlag(all)));
    }
}
