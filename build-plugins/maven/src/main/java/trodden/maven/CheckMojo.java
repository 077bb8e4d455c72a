package trodden.maven;

import java.io.IOException;
import java.util.List;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import trodden.build.Coverage;

/** Fails the build if rules about coverage are broken. */
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
        if (joinsOthers()) {
            return;
        }
        if (rules.isEmpty()) {
            throw new MojoFailureException("Trodden: no rule to check; name some by <rules> or trodden.rules");
        }
        Coverage coverage = coverage(tools(), List.of(data(), integration()));
        Coverage.Verdict verdict = coverage.check(rules);
        if (verdict.nothing()) {
            nothing(coverage, "check");
        } else if (verdict.problem() != null) {
            String what = "Trodden: " + verdict.problem();
            if (haltOnFailure) {
                throw new MojoFailureException(what);
            }
            getLog().warn(what);
        }
    }
}
