//! Warnings for an editor, which knows where lines of a profile are now: no text of theirs has a line in it.

use trodden_insight::coverage::{ChangeCoverage, Missed, NearestRun, Untaken};
use trodden_insight::decisions::Decision;
use trodden_insight::names::end_kind;
use trodden_insight::view::Stop;
use trodden_numbering::EdgeRef;

use super::{Said, about, nearest, view, within};

/// A step that decides nothing.
const RUNS: &str = "runs";
/// Steps of a path that a message shows.
const MOST_STEPS: usize = 8;

/// Code on a changed line that nothing ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file, as the change has it.
    pub file: String,
    /// Internal name of the class.
    pub class: String,
    /// The line in the profile.
    pub line: u32,
    /// The name of the kind of warning, as in SARIF.
    pub rule: &'static str,
    /// One sentence, with the first steps of the path.
    pub message: String,
    /// The nearest path that ran, step by step.
    pub steps: Vec<WarningStep>,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarningStep {
    /// Its line in the profile, if that is known.
    pub line: Option<u32>,
    /// `age < 12 → no`.
    pub message: String,
}

/// A warning for each outcome that nothing takes, and for each method that never ran.
pub fn warnings(change: &ChangeCoverage) -> Vec<Warning> {
    change.untaken.iter().map(warning).collect()
}

fn warning(untaken: &Untaken) -> Warning {
    let mut message = Said::of(untaken).text();
    if let Some(method) = within(untaken) {
        message += &format!(", in {method}");
    }
    let run = nearest(untaken);
    let steps = run.map_or_else(Vec::new, |(_, run)| steps(untaken, run));
    if let Some((_, run)) = run {
        message += &format!("; {}", about(run));
        // Many editors show the message alone.
        let way = steps.iter().map(|step| &*step.message);
        let way: Vec<&str> = way.filter(|message| *message != RUNS).collect();
        let shown = &way[..way.len().min(MOST_STEPS)];
        if !shown.is_empty() {
            message += &format!(": {}", shown.join(" · "));
        }
        if shown.len() < way.len() {
            message += " · …";
        }
    }
    Warning {
        file: untaken.file.clone(),
        class: untaken.method.class().to_owned(),
        line: untaken.line,
        rule: match untaken.what {
            Missed::Outcome(_) => super::sarif::UNTAKEN_OUTCOME,
            Missed::Method { .. } => super::sarif::METHOD_NEVER_RAN,
        },
        message,
        steps,
    }
}

fn steps(untaken: &Untaken, run: &NearestRun) -> Vec<WarningStep> {
    let method = untaken.method;
    let (map, decisions) = (method.map(), &method.decisions);
    let view = view(method, run);
    let followed = |edge: EdgeRef| {
        let outcome = decisions.outcome_or_label(map, edge);
        match decisions.of(edge.from.index()).and_then(Decision::phrase) {
            Some(asked) => format!("{asked} → {outcome}"),
            None => outcome,
        }
    };
    let stops = view.folded(map, decisions);
    let last = stops.len().saturating_sub(1);
    let step = |(index, stop): (usize, &Stop)| WarningStep {
        line: (!stop.bytecode).then_some(if stop.edge.is_some() { stop.to } else { stop.from }),
        message: match stop.edge {
            Some(edge) => followed(edge),
            None if index == last => format!("to {}", end_kind(view.description.end_kind)),
            None => RUNS.to_owned(),
        },
    };
    stops.iter().enumerate().map(step).collect()
}
