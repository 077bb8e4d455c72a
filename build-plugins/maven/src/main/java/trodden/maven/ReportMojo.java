package trodden.maven;

import java.io.File;
import java.io.IOException;
import java.util.List;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Reports on the module's classes by the profiles of all its tests, unit and integration. */
@Mojo(name = "report", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class ReportMojo extends AbstractReportMojo {
    /** Where the reports go. */
    @Parameter(property = "trodden.outputDirectory", defaultValue = "${project.reporting.outputDirectory}/trodden")
    private File outputDirectory;

    @Override
    void work() throws IOException, MojoFailureException {
        report(List.of(data(), integration()), List.of(surefire(), failsafe()), outputDirectory.toPath().toAbsolutePath());
    }
}
