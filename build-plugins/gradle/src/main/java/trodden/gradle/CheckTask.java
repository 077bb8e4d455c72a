package trodden.gradle;

import java.io.IOException;
import java.util.List;
import org.gradle.api.GradleException;
import org.gradle.api.tasks.Input;
import trodden.build.Coverage;

/** Fails if rules about coverage are broken. */
public class CheckTask extends TroddenTask {
    private List<String> rules;

    /** The rules. */
    @Input
    public List<String> getRules() {
        return rules;
    }

    void setRules(List<String> rules) {
        this.rules = rules;
    }

    @Override
    void work() throws IOException {
        if (rules.isEmpty()) {
            throw new GradleException("Trodden: no rule to check; say some: trodden { rule 'lines >= 80%' }");
        }
        Coverage.Verdict verdict = coverage().check(rules);
        if (verdict == Coverage.Verdict.NOTHING) {
            tell("Nothing to check: no test JVM has left a profile, or there are no classes");
        } else if (verdict == Coverage.Verdict.BROKEN) {
            throw new GradleException("Trodden: rules about coverage are broken (see above)");
        }
    }
}
