package trodden.maven;

import java.io.IOException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Adds the agent to the JVMs of the tests, through the property that Surefire and Failsafe read. */
@Mojo(name = "prepare-agent", defaultPhase = LifecyclePhase.INITIALIZE, threadSafe = true)
public final class PrepareAgentMojo extends AgentMojo {
    /** The property that the agent's flag is put into. */
    @Parameter(property = "trodden.propertyName", defaultValue = "argLine")
    private String propertyName;

    @Override
    void work() throws IOException {
        prepare(propertyName, data());
    }
}
