//! SARIF 2.1.0: a result for each method that changed, at the branch that explains it.

use std::path::PathBuf;

use trodden_insight::diff::{Diff, MethodChange, MethodTimeChange, Reason};

use super::text::{cause, counts_paths, signed_percent};
use super::time_words;
use crate::sarif::{Found, Level, Place, Repository, Rule, fingerprint, write};

const TAGS: &[&str] = &["performance"];
const RULES: [Rule; 4] = [
    Rule {
        id: "more-work",
        short: "A method does more work than before",
        full: "The second run executes more bytecode instructions because of this method. The branch that explains it is \
               named where there is one.",
        level: Level::Warning,
        tags: TAGS,
    },
    Rule {
        id: "less-work",
        short: "A method does less work than before",
        full: "The second run executes fewer bytecode instructions because of this method.",
        level: Level::Note,
        tags: TAGS,
    },
    Rule {
        id: "more-time",
        short: "A method takes more CPU time than before",
        full: "The second run takes more CPU time in this method, and in code without probes that it calls, than chance \
               explains.",
        level: Level::Warning,
        tags: TAGS,
    },
    Rule {
        id: "less-time",
        short: "A method takes less CPU time than before",
        full: "The second run takes less CPU time in this method, and in code without probes that it calls, than chance \
               explains.",
        level: Level::Note,
        tags: TAGS,
    },
];

/// SARIF 2.1.0: methods that do other work, then those that take other time. Methods that only follow from
/// another one are left out. Files are looked for in these folders, and named from the root of the
/// repository.
///
/// # Errors
/// If the writer fails.
pub fn sarif(diff: &Diff, folders: &[PathBuf], repository: &Repository) -> Result<String, serde_json::Error> {
    let place = |class: &str, file: Option<&str>, line: Option<u32>| {
        Some(Place {
            uri: repository.source(class, file?, folders)?,
            lines: line.map(|line| (line, line)),
        })
    };
    let work = |change: &MethodChange| {
        let mut message = format!("{}: {} of the work", change.title(), signed_percent(change.share));
        if let Some(time) = &change.time {
            message += &format!(", {}", time_words::share(time));
        }
        // In text two spaces are between the line and what it decides.
        message += &format!(". {}", cause(diff, change).replacen("  ", ": ", 1));
        let rule = usize::from(change.share < 0.0);
        let file = change.source_file.as_deref();
        // Of code that is gone there is no place.
        let is_there = change.reason != Reason::Code || change.entries[1] > 0;
        let cause = change.cause.as_ref().filter(|cause| !cause.is_gone);
        let line = cause
            .and_then(|cause| cause.line)
            .or(change.new_lines.first().copied());
        Found {
            rule,
            message,
            place: is_there.then(|| place(&change.class, file, line)).flatten(),
            flow: Vec::new(),
            fingerprint: Some(fingerprint(
                &[RULES[rule].id, &change.class, &change.name, &change.descriptor],
                0,
            )),
        }
    };
    let time = |change: &MethodTimeChange| {
        let rule = 2 + usize::from(change.near.share < 0.0);
        let method = &change.method;
        Found {
            rule,
            message: format!("{}: {}", change.title(), time_words::share(&change.near)),
            place: repository
                .source_by_name(&method.class, folders)
                .map(|uri| Place { uri, lines: None }),
            flow: Vec::new(),
            fingerprint: Some(fingerprint(
                &[RULES[rule].id, &method.class, &method.name, &method.descriptor],
                0,
            )),
        }
    };
    let causes = diff
        .methods
        .iter()
        .filter(|change| change.reason != Reason::Consequence);
    let of_work = causes.filter(|_| counts_paths(diff)).map(work);
    let times = diff.time.iter().flat_map(|time| &time.methods);
    let of_time = times.filter(|change| change.listed.is_none()).map(time);
    write(
        "trodden diff",
        &RULES,
        &of_work.chain(of_time).collect::<Vec<Found>>(),
    )
}
