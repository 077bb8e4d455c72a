package trodden.gradle;

import java.io.IOException;
import java.util.List;
import org.gradle.api.GradleException;
import org.gradle.api.tasks.Input;
import trodden.build.Coverage;

/** Fails if rules about coverage are broken. */
public class CheckTask extends TroddenTask {
    private List<String> rules;
    private boolean haltOnFailure = true;

    /** The rules. */
    @Input
    public List<String> getRules() {
        return rules;
    }

    void setRules(List<String> rules) {
        this.rules = rules;
    }

    void setHaltOnFailure(boolean haltOnFailure) {
        this.haltOnFailure = haltOnFailure;
    }

    @Override
    void work() throws IOException {
        if (rules.isEmpty()) {
            throw new GradleException("Trodden: no rule to check; add some: trodden { rule 'lines >= 80%' }");
        }
        Coverage coverage = coverage();
        Coverage.Verdict verdict = coverage.check(rules);
        if (verdict.nothing()) {
            nothing(coverage, "check");
        } else if (verdict.problem() != null) {
            String what = "Trodden: " + verdict.problem();
            if (haltOnFailure) {
                throw new GradleException(what);
            }
            warn(what);
        }
    }
}
