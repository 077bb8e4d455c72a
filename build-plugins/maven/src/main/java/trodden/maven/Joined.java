package trodden.maven;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.model.Dependency;
import org.apache.maven.project.MavenProject;
import trodden.build.Coverage;
import trodden.build.Folders;

/**
 * Modules that are joined: a module and those that it depends on, by the tests of all of these. Of modules with scope test only the tests
 * count. A module that depends on no other of the build joins all of them.
 */
final class Joined {
    private final TroddenMojo mojo;
    private final Set<MavenProject> reported = new LinkedHashSet<>();
    private final Set<MavenProject> tested = new LinkedHashSet<>();
    private final boolean named;

    Joined(TroddenMojo mojo) {
        this.mojo = mojo;
        List<MavenProject> modules = mojo.session.getProjects();
        for (Dependency dependency : mojo.project.getDependencies()) {
            for (MavenProject module : modules) {
                if (module.getGroupId().equals(dependency.getGroupId())
                        && module.getArtifactId().equals(dependency.getArtifactId())) {
                    (Artifact.SCOPE_TEST.equals(dependency.getScope()) ? tested : reported).add(module);
                }
            }
        }
        named = !reported.isEmpty() || !tested.isEmpty();
        if (!named) {
            reported.addAll(modules);
        }
        reported.add(mojo.project);
        tested.addAll(reported);
    }

    /** Number of modules whose tests count. */
    int size() {
        return tested.size();
    }

    /** Have all joined modules been tested by now? Parents come first in a build. */
    boolean isComplete() {
        List<MavenProject> modules = mojo.session.getProjects();
        return named || modules.indexOf(mojo.project) == modules.size() - 1;
    }

    /** Sources of the modules that are reported on. */
    List<Path> sources() {
        List<Path> sources = new ArrayList<>();
        reported.forEach(module -> module.getCompileSourceRoots().forEach(root -> sources.add(Path.of(root))));
        return sources;
    }

    /** Where the tests of all modules write their results. */
    List<Path> results() {
        List<Path> results = new ArrayList<>();
        for (MavenProject module : tested) {
            results.add(Path.of(module.getBuild().getDirectory(), "surefire-reports"));
            results.add(Path.of(module.getBuild().getDirectory(), "failsafe-reports"));
        }
        return results;
    }

    /** What ran of all of them. */
    Coverage coverage() throws IOException {
        List<Path> data = new ArrayList<>();
        for (MavenProject module : tested) {
            data.add(work(module).resolve("data"));
            data.add(work(module).resolve("data-it"));
        }
        List<Path> classes = new ArrayList<>();
        for (MavenProject module : reported) {
            classes.add(new Folders(Path.of(module.getBuild().getOutputDirectory()), work(module)).originals());
        }
        return mojo.coverage(mojo.tools(), "merged-aggregate.trodden", data, classes);
    }

    /** Where a module keeps its profiles: {@code directory}, in the same place of its own folder. */
    private Path work(MavenProject module) {
        Path mine = mojo.directory.toPath().toAbsolutePath();
        Path target = Path.of(mojo.project.getBuild().getDirectory()).toAbsolutePath();
        return mine.startsWith(target) ? Path.of(module.getBuild().getDirectory()).resolve(target.relativize(mine)) : mine;
    }
}
