//! Methods and branches of a profile for an editor: a line above the code (a code lens), and Markdown to
//! hover over.

mod covered;
mod hover;
mod titles;

pub use covered::{covered, covered_branch, covered_branch_title, covered_title};
pub use hover::{branch, hotspot_branch, left_out, method};
pub use titles::{branch_title, hotspot_branch_title, idle_title, left_out_title, method_title};

use trodden_insight::path_time::TimeView;
use trodden_insight::view::{BranchView, MethodView, OutcomeView};

use crate::words;

/// The outcomes of a branch as an editor shows them: the positive one first; of a switch the most frequent
/// one.
fn outcomes(method: &MethodView, branch: &BranchView) -> Vec<OutcomeView> {
    let mut outcomes = branch.outcomes(method);
    if time(method).is_none() {
        outcomes.iter_mut().for_each(|outcome| outcome.time = None);
    }
    if branch.is_switch {
        outcomes.sort_by_key(|outcome| std::cmp::Reverse(outcome.count));
    } else {
        outcomes.sort_by_key(|outcome| outcome.negative);
    }
    outcomes
}

/// The time of a method, if it has any sample.
fn time<'m>(method: &'m MethodView) -> Option<&'m TimeView> {
    method.time.as_ref().filter(|time| !time.total.is_none())
}

/// The part of a branch's executions that an outcome has.
fn share(outcome: &OutcomeView, all: &[OutcomeView]) -> Option<f64> {
    let total = words::sum(all.iter().map(|outcome| outcome.count)).filter(|&total| total > 0)?;
    Some(outcome.count? as f64 / total as f64)
}

/// The question of a branch; none if it is not known.
fn asked(method: &MethodView, branch: &BranchView) -> Option<String> {
    let decision = method.decisions().of(branch.block)?;
    decision.phrase()
}
