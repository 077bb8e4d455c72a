//! Coverage without paths for a terminal: which outcomes of decisions were never taken.

use std::cmp::Reverse;

use maud::{Markup, html};
use trodden_insight::coverage::{BranchCoverage, Coverage, MethodCoverage, OutcomeCoverage, Ratio};
use trodden_insight::decisions::Decision;
use trodden_profile::{ConditionKind, Place};

use super::text::of;
use crate::text::{DECISION, Page};
use crate::words::thousands;

/// Decisions of one method that are listed.
const MAX_DECISIONS: usize = 5;

/// The methods that lack most, with the outcomes that were never taken.
pub(super) fn lacking_outcomes(page: &mut Page, coverage: &Coverage, top: usize) {
    let missing = lacking(coverage);
    if !missing.is_empty() {
        page.line("");
        page.line("       branches          lines  method");
    }
    for ((branches, lines), method) in missing.iter().take(top) {
        one(page, method, *branches, *lines);
    }
    if missing.len() > top {
        page.line("");
        page.line(&format!(
            "{} more methods lack branches or lines; raise --top to see them.",
            thousands((missing.len() - top) as u64)
        ));
    }
}

/// The methods that lack branches or lines, those that ran first; with the sums of both.
pub(super) fn lacking(coverage: &Coverage) -> Vec<((Ratio, Ratio), &MethodCoverage)> {
    let with_sums = coverage.methods.iter().map(|method| (sums(method), method));
    let lacks = |((branches, lines), method): &((Ratio, Ratio), &MethodCoverage)| {
        branches.missed() > 0 || lines.missed() > 0 || !method.ran()
    };
    let mut missing: Vec<_> = with_sums.filter(lacks).collect();
    missing.sort_by_key(|((branches, lines), method)| {
        (!method.ran(), Reverse(branches.missed()), Reverse(lines.missed()))
    });
    missing
}

fn sums(method: &MethodCoverage) -> (Ratio, Ratio) {
    let measured = method.measured();
    let branches = measured.branches.iter().map(BranchCoverage::ratio);
    let lines = measured.lines.values().map(|line| Ratio::one(line.count > 0));
    (branches.sum(), lines.sum())
}

fn one(page: &mut Page, method: &MethodCoverage, branches: Ratio, lines: Ratio) {
    let numbers = format!("{:>15} {:>14}  ", of(branches), of(lines));
    page.row(&numbers, &method.title());
    if !method.ran() {
        page.wrapped(6, &format!("{}: did not run", method.at(0)));
        return;
    }
    let all = never_taken(method);
    for never in all.iter().take(MAX_DECISIONS) {
        let text = page.styled(DECISION, &never.text_in_file(method));
        page.line(&format!("      {text}"));
    }
    if all.len() > MAX_DECISIONS {
        page.line(&format!(
            "      and {} more",
            thousands((all.len() - MAX_DECISIONS) as u64)
        ));
    }
}

/// A decision of which some outcomes were never taken.
pub(super) struct Never {
    /// Where it is.
    pub at: Place,
    /// The condition in the source's terms, if it is known.
    pub condition: Option<String>,
    /// The event that never happened, as it follows the condition: `was never true`.
    pub what: String,
    /// Some other outcome was taken.
    decided: bool,
}

impl Never {
    /// ``` `age < 12` was never true ```; ``` `for (x : xs)` never had an element ```.
    pub fn text(&self) -> String {
        match &self.condition {
            Some(condition) => format!("`{condition}` {}", self.what),
            None => format!("the branch {}", self.what),
        }
    }

    /// The same for a page.
    pub fn markup(&self) -> Markup {
        html! {
            @match &self.condition {
                Some(condition) => { code { (condition) } }
                None => { "the branch" }
            }
            " " (self.what)
        }
    }

    /// ``` Ticket.java:4: `age < 12` was never true ```.
    fn text_in_file(&self, method: &MethodCoverage) -> String {
        format!("{}: {}", method.at(self.at.bci), self.text())
    }
}

/// The decisions of a method of which some outcomes were taken, and others never.
pub(super) fn never_taken(method: &MethodCoverage) -> Vec<Never> {
    let all = all_never_taken(method);
    all.filter(|never| never.decided).collect()
}

/// As [`never_taken`], with decisions that were not reached.
pub(super) fn all_never_taken(method: &MethodCoverage) -> impl Iterator<Item = Never> {
    let branches = method.branches().into_iter();
    branches.filter_map(|branch| never(method, &branch))
}

/// None if every outcome was taken.
fn never(method: &MethodCoverage, branch: &BranchCoverage) -> Option<Never> {
    let map = method.map();
    let missed: Vec<&OutcomeCoverage> = branch.outcomes.iter().filter(|o| o.count == 0).collect();
    if missed.is_empty() {
        return None;
    }
    let decided = missed.len() < branch.outcomes.len();
    let what = match missed[..] {
        _ if !decided => "was never reached".to_owned(),
        [one] if !method.is_switch(branch) => never_so(method, branch, one).to_owned(),
        _ => {
            let labels: Vec<String> = missed.iter().map(|outcome| method.label(outcome)).collect();
            format!("never went to {}", labels.join(" or "))
        }
    };
    let decision = method.decisions.of(branch.block);
    Some(Never {
        at: map.place(map.blocks[branch.block].last),
        condition: decision.and_then(Decision::phrase),
        what,
        decided,
    })
}

/// That an outcome was never taken, as a statement about its condition: `was never true`, `never went to case 3`.
pub(super) fn never_happened(
    method: &MethodCoverage,
    branch: &BranchCoverage,
    outcome: &OutcomeCoverage,
) -> String {
    if method.is_switch(branch) {
        format!("never went to {}", method.label(outcome))
    } else {
        never_so(method, branch, outcome).to_owned()
    }
}

/// That the outcome of a condition was never taken: behind the condition, as a statement about it.
fn never_so(method: &MethodCoverage, branch: &BranchCoverage, outcome: &OutcomeCoverage) -> &'static str {
    let decision = method.decisions.of(branch.block);
    let known = decision.is_some_and(|decision| decision.text.is_some());
    let elements = known && decision.is_some_and(|decision| decision.kind == ConditionKind::ForEach);
    match (method.is_yes(outcome), known, elements) {
        (true, _, true) => "never had an element",
        (false, _, true) => "never came to its end",
        (true, true, false) => "was never true",
        (false, true, false) => "was never false",
        (true, false, false) => "was never taken",
        (false, false, false) if branch.outcomes.iter().any(|outcome| outcome.count > 0) => {
            "was always taken"
        }
        (false, false, false) => "was never passed",
    }
}
