package trodden.gradle;

import java.io.IOException;
import java.util.List;
import org.gradle.api.GradleException;
import org.gradle.api.tasks.Input;
import trodden.build.Coverage;

/** Fails if rules about coverage are broken. */
public class CheckTask extends TroddenTask {
    /** The rules. */
    @Input
    public List<String> getRules() {
        return settings().rules;
    }

    @Override
    void work() throws IOException {
        List<String> rules = settings().rules;
        if (rules.isEmpty()) {
            throw new GradleException("Trodden: no rule to check; add some: trodden { rule 'lines >= 80%' }");
        }
        Coverage coverage = coverage();
        Coverage.Verdict verdict = coverage.check(rules);
        if (verdict.nothing()) {
            nothing(coverage, "check");
        } else if (verdict.problem() != null) {
            String what = "Trodden: " + verdict.problem();
            if (settings().haltOnFailure) {
                throw new GradleException(what);
            }
            warn(what);
        }
    }
}
