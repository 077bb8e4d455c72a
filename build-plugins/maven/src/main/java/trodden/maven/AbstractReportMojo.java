package trodden.maven;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Parameter;
import trodden.build.Coverage;

/** Reports on profiles of the tests' JVMs. */
abstract class AbstractReportMojo extends TroddenMojo {
    /**
     * html, text, json, coverage, coverage-json, lcov, jacoco. Default: html, coverage, coverage-json, lcov.
     */
    @Parameter(property = "trodden.formats")
    private List<String> formats = List.of();

    /** Writes the reports; false if there is nothing to report on. */
    boolean write(Coverage coverage, Path out, Collection<Path> sources) throws IOException {
        // Maven makes an empty list of a property that is not set.
        List<String> wanted = formats.isEmpty() ? Coverage.DEFAULT_FORMATS : formats;
        boolean written = coverage.report(out, wanted, sources, project.getName());
        if (written) {
            getLog().info("Reports are in " + out);
        }
        return written;
    }

    /** Reports on this module by profiles in folders, of the tests that write their results into other folders. */
    void report(List<Path> data, List<Path> results, Path out) throws IOException, MojoFailureException {
        if (joinsOthers()) {
            return;
        }
        List<Path> sources = project.getCompileSourceRoots().stream().map(Path::of).collect(Collectors.toList());
        Coverage coverage = coverage(tools(), data);
        if (coverage.testsLeftNothing(results, began()) || !write(coverage, out, sources)) {
            nothing(coverage, "report", results);
        }
    }
}
