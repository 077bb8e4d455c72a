//! Decisions with their outcomes, as text.

use trodden_insight::names::place;
use trodden_insight::path_time::PathTime;
use trodden_insight::view::{BranchView, MethodView};

use crate::words::{self, percent};

/// A decision with its place, its outcomes and how often each was: `line 24   hit != null  yes 7 (70.0 %), no 3 (30.0 %)`.
pub(crate) fn branch_words(method: &MethodView, branch: &BranchView) -> String {
    let low = if branch.undercounted { " *" } else { "" };
    let decisions = method.decisions();
    if let Some(decision) = decisions.of(branch.block) {
        let mut outcomes = branch.outcomes(method);
        let total = words::sum(outcomes.iter().map(|o| o.count));
        let share = |count: Option<u64>| match (count, total) {
            (Some(count), Some(total)) if total > 0 => {
                format!(" ({})", percent(count as f64 / total as f64))
            }
            _ => String::new(),
        };
        // The positive outcome first, whichever way the compiler turned the jump.
        outcomes.sort_by_key(|outcome| outcome.negative);
        let between = if outcomes.iter().any(|o| o.time.is_some()) {
            "; "
        } else {
            ", "
        };
        let counts = outcomes.iter().map(|o| {
            let time = outcome_time(o.time.as_ref());
            format!("{} {}{}{time}", o.text, words::count(o.count), share(o.count))
        });
        let counts = counts.collect::<Vec<_>>().join(between);
        let never = if total == Some(0) { " never reached:" } else { "" };
        let asked = decision.phrase().unwrap_or_default();
        return format!("{:<10} {asked}{never}  {counts}{low}", place(branch.at));
    }
    let outcomes = branch.outcomes(method);
    if branch.is_switch {
        let text: Vec<String> = outcomes
            .iter()
            .map(|o| {
                format!(
                    "{} {}{}",
                    o.text,
                    words::count(o.count),
                    outcome_time(o.time.as_ref())
                )
            })
            .collect();
        return format!("{:<16} {}{low}", place(branch.at), text.join("; "));
    }
    let count = |negative: bool| outcomes.iter().find(|o| o.negative == negative)?.count;
    let (taken, not_taken) = (count(false), count(true));
    let bias = match (taken, words::sum([taken, not_taken])) {
        (_, Some(0)) => "never reached".to_owned(),
        (Some(taken), Some(total)) => format!("{} taken", percent(taken as f64 / total as f64)),
        _ => "share not known".to_owned(),
    };
    let times = outcomes.iter().filter_map(|o| {
        let time = o.time.as_ref().map(words::time_of_outcome)?;
        Some(format!("; {} {time}", o.text))
    });
    format!(
        "{:<15} taken {:>13}  not taken {:>13}  {bias}{low}{}",
        place(branch.at),
        words::count(taken),
        words::count(not_taken),
        times.collect::<String>()
    )
}

/// An outcome's time, for the place behind its count.
fn outcome_time(time: Option<&PathTime>) -> String {
    time.map_or_else(String::new, |time| format!(", {}", words::time_of_outcome(time)))
}
