package trodden.maven;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import trodden.build.Coverage;

/**
 * Fails the build if rules about coverage are broken. A module of packaging pom is checked by what it joins: the modules that it depends
 * on, or all of the build, if it is the last one.
 */
@Mojo(name = "check", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class CheckMojo extends TroddenMojo {
    /** Rules as `trodden check` reads them, such as "each class: paths >= 50%". */
    @Parameter(property = "trodden.rules", required = true)
    private List<String> rules;

    /** Fail the build if a rule is broken or cannot be checked; else only warn. */
    @Parameter(property = "trodden.haltOnFailure", defaultValue = "true")
    private boolean haltOnFailure;

    @Override
    void work() throws IOException, MojoFailureException {
        if (rules.isEmpty()) {
            throw new MojoFailureException("Trodden: no rule to check; name some by <rules> or trodden.rules");
        }
        Coverage coverage;
        List<Path> results;
        if (joinsOthers()) {
            Joined joined = new Joined(this);
            if (!joined.isComplete()) {
                getLog().info("Skipping Trodden's check: this module has no classes of its own. In one that depends on others (or is"
                        + " built last) it checks those together");
                return;
            }
            coverage = joined.coverage();
            results = joined.results();
        } else {
            coverage = coverage(tools(), List.of(data(), integration()));
            results = List.of(surefire(), failsafe());
        }
        if (coverage.testsLeftNothing(results, began())) {
            nothing(coverage, "check", results);
            return;
        }
        Coverage.Verdict verdict = coverage.check(rules);
        if (verdict.nothing()) {
            nothing(coverage, "check", results);
        } else if (verdict.problem() != null) {
            String what = "Trodden: " + verdict.problem();
            if (haltOnFailure) {
                throw new MojoFailureException(what);
            }
            getLog().warn(what);
        }
    }
}
