package trodden.maven;

import java.io.File;
import java.io.IOException;
import java.util.List;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Reports on the module's classes by the integration tests alone: those that prepare-agent-integration gave the agent to. */
@Mojo(name = "report-integration", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class ReportIntegrationMojo extends AbstractReportMojo {
    /** Where the reports go. */
    @Parameter(defaultValue = "${project.reporting.outputDirectory}/trodden-it")
    private File outputDirectory;

    @Override
    void work() throws IOException, MojoFailureException {
        report(List.of(integration()), List.of(failsafe()), outputDirectory.toPath().toAbsolutePath());
    }
}
