//! SARIF 2.1.0: the findings of a report at their lines.

use std::path::PathBuf;

use trodden_insight::view::View;

use super::{Finding, FindingKind};
use crate::sarif::{Found, Level, Place, Repository, Rule, fingerprint, write};

/// A finding is a fact, and no fault.
const fn rule(kind: FindingKind, short: &'static str, full: &'static str) -> Rule {
    Rule {
        id: kind.name(),
        short,
        full,
        level: Level::Note,
        tags: &["performance"],
    }
}

/// In the order of [`FindingKind`].
const RULES: [Rule; 12] = [
    rule(
        FindingKind::UnderWay,
        "A method takes time, and none of its paths came to an end",
        "Samples are in this method, but it never returned or began another iteration while it was recorded.",
    ),
    rule(
        FindingKind::SlowOutcome,
        "An outcome of a decision takes much of the time in few of the cases",
        "The CPU time of paths with this outcome is a larger share than that of its executions. The interval is for 95 runs of 100.",
    ),
    rule(
        FindingKind::SlowPath,
        "A path takes much of the time in few of the calls",
        "The CPU time of this path is a larger share than that of its executions. The interval is for 95 runs of 100.",
    ),
    rule(
        FindingKind::HotMethod,
        "A method takes much of the time itself",
        "Much of the CPU time is in this method and in code without probes that it calls, on no path in particular.",
    ),
    rule(
        FindingKind::Work,
        "A few methods do most of the work",
        "Work is bytecode instructions, or decisions where these are not known.",
    ),
    rule(
        FindingKind::NotMeasured,
        "A method with much time was left as it was",
        "It has no probes, for the reason that is named, so its paths are not known.",
    ),
    rule(
        FindingKind::RarePath,
        "A rare path costs much",
        "It is taken seldom and does much of its method's work.",
    ),
    rule(
        FindingKind::Alternates,
        "Iterations of a loop alternate",
        "The paths of consecutive iterations follow a pattern.",
    ),
    rule(
        FindingKind::Correlated,
        "An earlier condition always decides this one",
        "On all paths that ran, the outcome of this condition follows from that of an earlier one.",
    ),
    rule(
        FindingKind::OneWay,
        "A branch always goes the same way",
        "Its other outcome was never taken while it was recorded.",
    ),
    rule(
        FindingKind::Exceptions,
        "A method catches exceptions again and again",
        "Exceptions decide the way through this method in many of its calls.",
    ),
    rule(
        FindingKind::TooBig,
        "A hot method is too large for HotSpot's compiler",
        "HotSpot does not compile methods of more than 8,000 bytes, and interprets them.",
    ),
];

/// The findings, the weightiest first. Those without a place in the source are notifications. `folders`: where sources are.
///
/// # Errors
/// If the writer fails.
pub(crate) fn sarif(
    view: &View,
    findings: &[Finding],
    folders: &[PathBuf],
    repository: &Repository,
) -> Result<String, serde_json::Error> {
    let found = |finding: &Finding| {
        let rule = finding.kind as usize;
        let method = finding.method.map(|at| &view.methods[at]);
        let (class, name) = match (method, &finding.not_measured) {
            (Some(method), _) => (method.class, method.map.title()),
            (None, Some((class, name))) => (&**class, name.clone()),
            (None, None) => ("", String::new()),
        };
        let uri = match method.and_then(|method| method.source_file) {
            Some(file) => repository.source(class, file, folders),
            None => repository.source_by_name(class, folders),
        };
        let words = |word: &Option<String>| word.clone().unwrap_or_default();
        let parts = [
            RULES[rule].id,
            class,
            &name,
            &words(&finding.condition),
            &words(&finding.outcome),
        ];
        Found {
            rule,
            message: format!("{} ({})", finding.text, finding.evidence),
            place: uri.map(|uri| Place {
                uri,
                lines: finding.line.map(|line| (line, line)),
            }),
            flow: Vec::new(),
            fingerprint: Some(fingerprint(&parts, 0)),
        }
    };
    let found: Vec<Found> = findings.iter().map(found).collect();
    write("trodden report", &RULES, &found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_rule() {
        let kinds = [
            FindingKind::UnderWay,
            FindingKind::SlowOutcome,
            FindingKind::SlowPath,
            FindingKind::HotMethod,
            FindingKind::Work,
            FindingKind::NotMeasured,
            FindingKind::RarePath,
            FindingKind::Alternates,
            FindingKind::Correlated,
            FindingKind::OneWay,
            FindingKind::Exceptions,
            FindingKind::TooBig,
        ];
        assert_eq!(kinds.len(), RULES.len());
        for kind in kinds {
            assert_eq!(RULES[kind as usize].id, kind.name());
        }
    }
}
