package trodden.maven;

import java.io.IOException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** As prepare-agent, before integration tests: their profiles go to a folder of their own. */
@Mojo(name = "prepare-agent-integration", defaultPhase = LifecyclePhase.PRE_INTEGRATION_TEST, threadSafe = true)
public final class PrepareAgentIntegrationMojo extends AgentMojo {
    /** The property that the agent's flag is put into. */
    @Parameter(property = "trodden.propertyName", defaultValue = "argLine")
    private String propertyName;

    @Override
    void work() throws IOException {
        prepare(propertyName, integration());
    }
}
