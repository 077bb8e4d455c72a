//! Methods and branches of a profile that only says what ran at all.

use std::fmt::Write;

use trodden_insight::coverage::{BranchCoverage, MethodCoverage, OutcomeCoverage, Ratio};
use trodden_insight::decisions::Decision;
use trodden_insight::names;
use trodden_profile::printable;

use super::{hover, titles};

/// `ran · 3 of 4 outcomes · 10 of 12 lines`.
pub fn covered_title(method: &MethodCoverage) -> String {
    if !method.ran() {
        return "never ran".to_owned();
    }
    let measured = method.measured();
    let outcomes: Ratio = measured.branches.iter().map(BranchCoverage::ratio).sum();
    let lines: Ratio = measured
        .lines
        .values()
        .map(|line| Ratio::one(line.count > 0))
        .sum();
    let mut out = "ran".to_owned();
    for (ratio, what) in [(outcomes, "outcomes"), (lines, "lines")] {
        if ratio.total > 0 {
            let _ = write!(out, " · {} of {} {what}", ratio.covered, ratio.total);
        }
    }
    out
}

/// `age < 12: yes ran · no never`.
pub fn covered_branch_title(method: &MethodCoverage, branch: &BranchCoverage) -> String {
    let outcomes = outcomes(method, branch);
    let outcomes = outcomes
        .iter()
        .map(|(name, ran)| format!("{name} {}", word(*ran)));
    titles::question(asked(method, branch), &outcomes.collect::<Vec<_>>().join(" · "))
}

/// A method, in Markdown.
pub fn covered(method: &MethodCoverage) -> String {
    let map = method.map();
    let title = names::title(method.class(), &map.name, &map.descriptor);
    format!("**{}**: {}.\n", hover::escape(&title), covered_title(method))
}

/// A branch, in Markdown.
pub fn covered_branch(method: &MethodCoverage, branch: &BranchCoverage) -> String {
    let mut out = hover::heading(asked(method, branch).as_deref());
    out += "| outcome | |\n| --- | --- |\n";
    for (name, ran) in outcomes(method, branch) {
        let _ = writeln!(out, "| {} | {} |", hover::escape(&name), word(ran));
    }
    out
}

fn word(ran: bool) -> &'static str {
    if ran { "ran" } else { "never" }
}

fn asked(method: &MethodCoverage, branch: &BranchCoverage) -> Option<String> {
    let phrase = method.decisions.of(branch.block).and_then(Decision::phrase);
    phrase.map(|phrase| printable(&phrase).into_owned())
}

/// The outcomes, each with `true` if it ran; the positive one first.
fn outcomes(method: &MethodCoverage, branch: &BranchCoverage) -> Vec<(String, bool)> {
    let is_switch = method.is_switch(branch);
    let mut all: Vec<&OutcomeCoverage> = branch.outcomes.iter().collect();
    if !is_switch {
        all.sort_by_key(|outcome| !method.is_yes(outcome));
    }
    let named = |outcome: &OutcomeCoverage| (method.label(outcome), outcome.count > 0);
    all.into_iter().map(named).collect()
}
