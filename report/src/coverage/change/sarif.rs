//! SARIF 2.1.0, with the nearest path step by step.

use trodden_insight::coverage::{ChangeCoverage, Missed, MissedOutcome, NearestRun, Untaken};

use super::{Said, about, condition, nearest, steps, view, within};
use crate::coverage::CoverageWriteError;
use crate::sarif::{Found, Level, Place, Rule, Step, fingerprint, percent_encoded, write};

/// The name of the rule of outcomes.
pub(super) const UNTAKEN_OUTCOME: &str = "untaken-outcome";
/// The name of the rule of methods.
pub(super) const METHOD_NEVER_RAN: &str = "method-never-ran";

const RULES: [Rule; 2] = [
    Rule {
        id: UNTAKEN_OUTCOME,
        short: "An outcome on a changed line that no test takes",
        full: "A branch or switch on a changed line has an outcome that was taken in no run of the profile. The nearest path \
               that ran shows how a test comes to the decision: another one has to leave it the other way.",
        level: Level::Warning,
        tags: &["coverage", "test"],
    },
    Rule {
        id: METHOD_NEVER_RAN,
        short: "A method with changed lines that no test runs",
        full: "A method has changed lines and did not run in any run of the profile, so nothing in it is tested.",
        level: Level::Warning,
        tags: &["coverage", "test"],
    },
];

/// SARIF 2.1.0: a result for each outcome that nothing takes, and for each method that never ran. Files are
/// named as in the diff, from the root of the repository.
///
/// # Errors
/// If the JSON writer fails.
pub fn sarif(change: &ChangeCoverage) -> Result<String, CoverageWriteError> {
    let results: Vec<Found> = change.untaken.iter().map(found).collect();
    Ok(write("trodden coverage", &RULES, &results)?)
}

fn found(untaken: &Untaken) -> Found {
    let method = untaken.method;
    let map = method.map();
    let names = [method.class(), method.stable_name(), map.descriptor.as_str()];
    let mut message = Said::of(untaken).text();
    if let Some(method) = within(untaken) {
        message += &format!(", in {method}");
    }
    message.push('.');
    if let Some((_, run)) = nearest(untaken) {
        message += &format!(" {}: {}.", capital(&about(run)), steps(method, run));
    }
    let (rule, fingerprint) = match &untaken.what {
        Missed::Outcome(missed) => (0, of_outcome(untaken, missed, names)),
        Missed::Method { position } => (1, fingerprint(&[&["never ran"], &names[..]].concat(), *position)),
    };
    let flow = nearest(untaken).map(|(missed, run)| flow(untaken, missed, run));
    Found {
        rule,
        message,
        place: Some(place(&untaken.file, untaken.line, untaken.line)),
        flow: flow.unwrap_or_default(),
        fingerprint: Some(fingerprint),
    }
}

fn of_outcome(untaken: &Untaken, missed: &MissedOutcome, names: [&str; 3]) -> String {
    let method = untaken.method;
    let condition = condition(method, &missed.branch).unwrap_or_default();
    let outcome = if method.is_switch(&missed.branch) {
        method.label(&missed.outcome)
    } else {
        method.is_yes(&missed.outcome).to_string()
    };
    let [class, name, descriptor] = names;
    fingerprint(
        &["untaken", class, name, descriptor, &condition, &outcome],
        missed.position,
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn place(file: &str, first: u32, last: u32) -> Place {
    Place {
        uri: percent_encoded(file),
        lines: Some((first, last)),
    }
}

/// The path step by step; the decision is the essential one.
fn flow(untaken: &Untaken, missed: &MissedOutcome, run: &NearestRun) -> Vec<Step> {
    let method = untaken.method;
    let (map, decisions) = (method.map(), &method.decisions);
    let view = view(method, run);
    let own = method.blocks_of(&missed.branch);
    let compares = |block: usize| {
        let mut edges = missed.branch.outcomes.iter().flat_map(|outcome| &outcome.edges);
        own.contains(&block) || edges.any(|edge| edge.from.index() == block)
    };
    let said = Said::of(untaken);
    let stops = view.folded(map, decisions);
    let last = stops.len().saturating_sub(1);
    let mut flow: Vec<Step> = Vec::with_capacity(stops.len() + 1);
    for (index, stop) in stops.iter().enumerate() {
        let essential = stop.edge.is_some_and(|edge| compares(edge.from.index()));
        let mut message = match stop.edge {
            Some(edge) => decisions.followed(map, edge),
            None if index == last => decisions.ends(map, &view.description),
            None => "runs".to_owned(),
        };
        if essential {
            message += &format!(" ({})", said.text());
        }
        let lines = (!stop.bytecode).then_some((stop.from, stop.to));
        let place = Place {
            lines,
            ..place(&untaken.file, stop.from, stop.to)
        };
        flow.push(Step {
            place,
            message,
            essential,
        });
    }
    if !flow.iter().any(|step| step.essential) {
        flow.push(Step {
            place: place(&untaken.file, untaken.line, untaken.line),
            message: said.text(),
            essential: true,
        });
    }
    flow
}
