package trodden.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import trodden.build.Coverage;

/** Reports on the profiles of the tests' JVMs. */
@Mojo(name = "report", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class ReportMojo extends TroddenMojo {
    /**
     * html, text, json, coverage, coverage-json, lcov, jacoco. Default: html, coverage, coverage-json, lcov. Beside JaCoCo's
     * agent jacoco is left out, with a warning.
     */
    @Parameter(property = "trodden.formats")
    private List<String> formats = List.of();

    /** Where the reports go. */
    @Parameter(property = "trodden.outputDirectory", defaultValue = "${project.reporting.outputDirectory}/trodden")
    private File outputDirectory;

    @Override
    void work() throws IOException, MojoFailureException {
        List<Path> sources = project.getCompileSourceRoots().stream().map(Path::of).collect(Collectors.toList());
        // Maven makes an empty list of a property that is not set.
        List<String> wanted = formats.isEmpty() ? Coverage.DEFAULT_FORMATS : formats;
        Path out = outputDirectory.toPath().toAbsolutePath();
        Coverage coverage = coverage(tools());
        if (coverage.report(out, wanted, sources, project.getName())) {
            getLog().info("Reports are in " + out);
        } else {
            nothing(coverage, "report");
        }
    }
}
