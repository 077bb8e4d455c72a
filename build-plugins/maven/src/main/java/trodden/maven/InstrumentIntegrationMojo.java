package trodden.maven;

import java.io.IOException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;

/**
 * As instrument, behind the packaging, for integration tests; their profiles go to a folder of their own. Failsafe tests the packed
 * classes unless its classesDirectory is ${project.build.outputDirectory}. To be undone by restore-instrumented-classes in phase
 * post-integration-test.
 */
@Mojo(name = "instrument-integration", defaultPhase = LifecyclePhase.PRE_INTEGRATION_TEST, threadSafe = true)
public final class InstrumentIntegrationMojo extends AbstractInstrumentMojo {
    @Override
    void work() throws IOException {
        instrument(integration());
    }
}
