//! One line about a method, or about a branch.

use trodden_insight::hotspot::HotSpotBranchView;
use trodden_insight::left_out::LeftOut;
use trodden_insight::view::{BranchView, MethodView, OutcomeView, View};
use trodden_profile::{CountBasis, printable};

use super::{asked, outcomes, share, time};
use crate::words::{self, percent, thousands};

/// Columns of a line, at most: an editor cuts none.
const WIDTH: usize = 160;
/// Columns of a condition in it.
const CONDITION: usize = 60;
/// Outcomes of a switch in it.
const OUTCOMES: usize = 4;

/// `30,570 calls · 97.7 % of CPU time, with callees 97.7 % · 2 of 2 paths`.
pub fn method_title(view: &View, method: &MethodView) -> String {
    let mut parts = vec![calls(view, method)];
    match time(method) {
        Some(time) => parts.push(of_time(time.share, time.total_share)),
        None if view.times().is_some() => parts.push("no CPU sample".to_owned()),
        None => parts.push(format!("{} of all decisions", percent(method.share))),
    }
    parts.push(format!(
        "{} of {} paths",
        thousands(method.paths.len() as u64),
        thousands(method.map.num_paths())
    ));
    if method.earlier.is_some() {
        parts.push("counted by an earlier run".to_owned());
    }
    line(&parts.join(" · "))
}

/// How often a method was called, as far as its counts say.
pub(super) fn calls(view: &View, method: &MethodView) -> String {
    let calls = method.calls();
    let number = thousands(calls);
    let one = |one: &str, many: &str| {
        if calls == 1 {
            one.to_owned()
        } else {
            many.to_owned()
        }
    };
    match view.basis {
        _ if method.readings => format!("in {} samples", thousands(method.count)),
        CountBasis::Exact => format!("{number} {}", one("call", "calls")),
        CountBasis::Weighted(_) | CountBasis::Estimated(_) => format!("about {number} calls"),
        CountBasis::Sampled(_) => format!("{number} {}", one("sampled call", "sampled calls")),
    }
}

/// A method without a count. That it never ran is known only where everything was counted.
pub fn idle_title(view: &View) -> &'static str {
    match view.basis {
        CountBasis::Exact => "never ran",
        _ => "no path of it was seen",
    }
}

/// A method whose paths are not known.
pub fn left_out_title(left: &LeftOut) -> String {
    let time = of_time(left.share(left.near), left.share(left.total));
    line(&format!("{time} · paths not known: {}", left.reason))
}

fn of_time(own: f64, with: f64) -> String {
    format!("{} of CPU time, with callees {}", percent(own), percent(with))
}

/// `request % 10 == 0: yes 3,057 (10.0 %), 68.7 % of the time · no 27,513 (90.0 %)`; `never` for what nothing
/// took.
pub fn branch_title(method: &MethodView, branch: &BranchView) -> String {
    let all = outcomes(method, branch);
    let (taken, never): (Vec<_>, Vec<_>) = all.iter().partition(|outcome| outcome.count != Some(0));
    let mut parts: Vec<String> = taken
        .iter()
        .take(OUTCOMES)
        .map(|outcome| taken_part(outcome, &all))
        .collect();
    if taken.len() > OUTCOMES {
        parts.push(format!("{} more", taken.len() - OUTCOMES));
    }
    let names = never.iter().take(OUTCOMES).map(|outcome| outcome.text.as_str());
    let names = names.collect::<Vec<_>>().join(", ");
    match never.len() {
        0 => {}
        some if some == all.len() => parts = vec!["never reached".to_owned()],
        some if some > OUTCOMES => parts.push(format!("{names} and {} more never", some - OUTCOMES)),
        _ => parts.push(format!("{names} never")),
    }
    question(asked(method, branch), &parts.join(" · "))
}

fn taken_part(outcome: &OutcomeView, all: &[OutcomeView]) -> String {
    let of_all = share(outcome, all).map_or_else(String::new, |share| format!(" ({})", percent(share)));
    let time = outcome.time.map_or_else(String::new, |time| {
        format!(", {} of the time", percent(time.share))
    });
    format!("{} {}{of_all}{time}", outcome.text, words::count(outcome.count))
}

/// A branch as HotSpot counted it: shares, and no counts.
pub fn hotspot_branch_title(asked: Option<&str>, branch: &HotSpotBranchView) -> String {
    let parts = branch.outcomes.iter().take(OUTCOMES).map(|outcome| {
        let time = outcome
            .time
            .map_or_else(String::new, |own| format!(", {} of the time", percent(own.share)));
        format!("{} {}{time}", outcome.text, percent(outcome.share))
    });
    let parts = parts.collect::<Vec<_>>().join(" · ");
    question(
        asked.map(str::to_owned),
        &format!("{parts} · by HotSpot's counts"),
    )
}

pub(super) fn question(asked: Option<String>, answer: &str) -> String {
    match asked {
        Some(asked) => line(&format!("{}: {answer}", words::cut(&asked, CONDITION))),
        None => line(answer),
    }
}

fn line(text: &str) -> String {
    words::cut(&printable(text), WIDTH)
}
