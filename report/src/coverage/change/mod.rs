//! Coverage of a change: text, SARIF, GitHub's workflow commands, Markdown; warnings for editors.

mod github;
mod markdown;
mod sarif;
mod text;
mod warnings;

use trodden_insight::coverage::{BranchCoverage, MethodCoverage, Missed, MissedOutcome, NearestRun, Untaken};
use trodden_insight::decisions::Decision;
use trodden_insight::route::route;
use trodden_insight::view::PathView;

pub use github::github;
pub use markdown::markdown;
pub use sarif::sarif;
pub use text::text;
pub use warnings::{Warning, WarningStep, warnings};

use super::marks;
use crate::words::thousands;

/// Text about something missing: its subject, and what never happened to it.
struct Said {
    /// The condition as the source has it; none if it is not known, or of a method.
    condition: Option<String>,
    /// As it follows the condition, or whole without one.
    what: String,
}

impl Said {
    fn of(untaken: &Untaken) -> Self {
        let missed = match &untaken.what {
            Missed::Method { .. } => {
                return Said {
                    condition: None,
                    what: format!("{} never ran", untaken.method.title()),
                };
            }
            Missed::Outcome(missed) => missed,
        };
        let method = untaken.method;
        let mut what = marks::never_happened(method, &missed.branch, &missed.outcome);
        if !missed.is_decided() {
            what += ", nor reached";
        }
        let condition = condition(method, &missed.branch);
        if condition.is_none() {
            what = format!("{} {what}", unnamed(method, &missed.branch));
        }
        Said { condition, what }
    }

    /// ``` `age < 12` was never true ```.
    fn text(&self) -> String {
        match &self.condition {
            Some(condition) => format!("`{condition}` {}", self.what),
            None => self.what.clone(),
        }
    }
}

fn condition(method: &MethodCoverage, branch: &BranchCoverage) -> Option<String> {
    method.decisions.of(branch.block).and_then(Decision::phrase)
}

/// A decision whose condition is not known.
fn unnamed(method: &MethodCoverage, branch: &BranchCoverage) -> &'static str {
    if method.is_switch(branch) {
        "the switch"
    } else {
        "the branch"
    }
}

/// In which method it is; of a method that never ran this is said already.
fn within(untaken: &Untaken) -> Option<String> {
    match &untaken.what {
        Missed::Method { .. } => None,
        Missed::Outcome(_) => Some(untaken.method.title()),
    }
}

/// The nearest path that ran.
fn nearest<'u>(untaken: &'u Untaken) -> Option<(&'u MissedOutcome, &'u NearestRun)> {
    match &untaken.what {
        Missed::Method { .. } => None,
        Missed::Outcome(missed) => Some((missed, missed.nearest.as_ref()?)),
    }
}

/// The kind of path: `nearest path that ran (twice)`.
fn about(nearest: &NearestRun) -> String {
    let times = match nearest.ran.times {
        1 => "once".to_owned(),
        times => format!("{} times", thousands(times)),
    };
    if nearest.reaches {
        format!("nearest path that ran ({times})")
    } else {
        format!("the path that came nearest ({times})")
    }
}

/// Its steps in one line: `3–4 age < 12 → no · 10, to return, line 10`.
fn steps(method: &MethodCoverage, nearest: &NearestRun) -> String {
    let map = method.map();
    let view = view(method, nearest);
    let end = method.decisions.ends(map, &view.description);
    format!("{}, to {end}", route(&view, map, &method.decisions))
}

fn view(method: &MethodCoverage, nearest: &NearestRun) -> PathView {
    let ran = &nearest.ran;
    PathView::new(method.map(), ran.path.clone(), ran.number, ran.times)
}

/// Numbers of outcomes and of methods that are missing.
fn numbers(untaken: &[Untaken]) -> (usize, usize) {
    let is_method = |one: &&Untaken| matches!(one.what, Missed::Method { .. });
    let methods = untaken.iter().filter(is_method).count();
    (untaken.len() - methods, methods)
}

/// Everything missing, in one sentence.
fn headline(untaken: &[Untaken]) -> String {
    let plural = |number: usize, one: &str, many: &str| {
        let word = if number == 1 { one } else { many };
        format!("{} {word}", thousands(number as u64))
    };
    let outcomes = |number| plural(number, "outcome was", "outcomes were");
    let methods = |number| plural(number, "method with changed lines", "methods with changed lines");
    match numbers(untaken) {
        (0, 0) => "Every outcome on the changed lines was taken.".to_owned(),
        (some, 0) => format!("{} never taken on the changed lines.", outcomes(some)),
        (0, idle) => format!("{} never ran.", methods(idle)),
        (some, idle) => format!(
            "{} never taken on the changed lines; {} never ran.",
            outcomes(some),
            methods(idle)
        ),
    }
}

/// The way to know paths, if a profile has none.
const NO_PATHS: &str = "Which paths ran is not known of this profile: --profile coverage --coverage paths counts them, and so \
                        does --probe counters.";

/// Why nothing is said of a changed file.
pub const UNKNOWN_FILE: &str =
    "no class of it is known: if none was loaded, --classes names the program's class files";

/// The parts of a list that are of the same file.
fn by_file<'u, 'c>(untaken: &'u [Untaken<'c>]) -> impl Iterator<Item = (&'u str, &'u [Untaken<'c>])> {
    untaken
        .chunk_by(|a, b| a.file == b.file)
        .map(|part| (part[0].file.as_str(), part))
}
