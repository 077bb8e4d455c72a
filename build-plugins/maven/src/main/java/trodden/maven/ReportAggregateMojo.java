package trodden.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.model.Dependency;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import trodden.build.Coverage;
import trodden.build.Folders;

/**
 * One report on several modules: on the classes of this one and of those that it depends on, by the tests of all of these. Of modules
 * with scope test only the tests count. A module that depends on no other of the build joins all of them.
 */
@Mojo(name = "report-aggregate", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class ReportAggregateMojo extends AbstractReportMojo {
    /** Where the reports go. */
    @Parameter(defaultValue = "${project.reporting.outputDirectory}/trodden-aggregate")
    private File outputDirectory;

    @Parameter(defaultValue = "${reactorProjects}", readonly = true, required = true)
    private List<MavenProject> modules;

    @Override
    void work() throws IOException {
        Set<MavenProject> reported = new LinkedHashSet<>();
        Set<MavenProject> tested = new LinkedHashSet<>();
        for (Dependency dependency : project.getDependencies()) {
            for (MavenProject module : modules) {
                if (module.getGroupId().equals(dependency.getGroupId())
                        && module.getArtifactId().equals(dependency.getArtifactId())) {
                    (Artifact.SCOPE_TEST.equals(dependency.getScope()) ? tested : reported).add(module);
                }
            }
        }
        if (reported.isEmpty() && tested.isEmpty()) {
            reported.addAll(modules);
        }
        reported.add(project);
        tested.addAll(reported);

        List<Path> data = new ArrayList<>();
        for (MavenProject module : tested) {
            data.add(work(module).resolve("data"));
            data.add(work(module).resolve("data-it"));
        }
        List<Path> classes = new ArrayList<>();
        List<Path> sources = new ArrayList<>();
        for (MavenProject module : reported) {
            classes.add(new Folders(Path.of(module.getBuild().getOutputDirectory()), work(module)).originals());
            module.getCompileSourceRoots().forEach(root -> sources.add(Path.of(root)));
        }
        Path merged = directory.toPath().toAbsolutePath().resolve("merged-aggregate.trodden");
        Coverage coverage = new Coverage(tools(), getLog()::info, getLog()::warn, merged, data, classes, includes, excludes);
        if (!write(coverage, outputDirectory.toPath().toAbsolutePath(), sources)) {
            getLog().info("Skipping Trodden's report-aggregate: no tests left a profile in " + tested.size() + " modules");
        }
    }

    /** Where a module keeps its profiles: {@code directory}, in the same place of its own folder. */
    private Path work(MavenProject module) {
        Path mine = directory.toPath().toAbsolutePath();
        Path target = Path.of(project.getBuild().getDirectory()).toAbsolutePath();
        return mine.startsWith(target) ? Path.of(module.getBuild().getDirectory()).resolve(target.relativize(mine)) : mine;
    }
}
