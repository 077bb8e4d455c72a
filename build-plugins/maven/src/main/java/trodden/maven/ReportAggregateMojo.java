package trodden.maven;

import java.io.File;
import java.io.IOException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * One report on several modules: on the classes of this one and of those that it depends on, by the tests of all of these. Of modules
 * with scope test only the tests count. A module that depends on no other of the build joins all of them.
 */
@Mojo(name = "report-aggregate", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class ReportAggregateMojo extends AbstractReportMojo {
    /** Where the reports go. */
    @Parameter(defaultValue = "${project.reporting.outputDirectory}/trodden-aggregate")
    private File outputDirectory;

    @Override
    void work() throws IOException {
        Joined joined = new Joined(this);
        if (!write(joined.coverage(), outputDirectory.toPath().toAbsolutePath(), joined.sources())) {
            getLog().info("Skipping Trodden's report-aggregate: no tests left a profile in " + joined.size() + " modules");
        }
    }
}
