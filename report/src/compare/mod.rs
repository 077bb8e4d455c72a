//! How well one profile predicts another, as text and as JSON: `trodden compare`.
//!
//! Paths and branches are compared here; each other kind of data compares itself
//! ([`ReportSection::compare`](crate::section::ReportSection::compare)).

mod paths;

use std::fmt::Write;

use serde_json::Value;
use trodden_profile::{Accuracy, AccuracyOptions, PhiOutOfRange, Profile, printable_lines};

use crate::section::SECTIONS;

/// What to compare, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompareOptions {
    /// What the two profiles are called in notes: the truth, and the estimate.
    pub names: [String; 2],
    /// From which share of all calls on a context is hot; `None`: as the estimate was counted.
    pub phi: Option<f64>,
}

/// Why profiles are not compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// The threshold of hot contexts is out of range.
    #[error(transparent)]
    Phi(#[from] PhiOutOfRange),
    /// The data have nothing to be compared by.
    #[error("{0}")]
    Unlike(String),
}

/// The truth, and what is held against it.
pub(crate) struct Pair<'a> {
    pub exact: &'a Profile,
    pub estimate: &'a Profile,
    pub options: &'a CompareOptions,
}

impl Pair<'_> {
    /// Notes which of the two lacks data that the other has.
    pub fn note_missing(&self, what: &str, has: impl Fn(&Profile) -> bool, notes: &mut Vec<String>) {
        let [exact, estimate] = [self.exact, self.estimate].map(has);
        for (one, other, name) in [(exact, estimate, 1), (estimate, exact, 0)] {
            if one && !other {
                notes.push(format!("{} has no {what} to compare", self.options.names[name]));
            }
        }
    }
}

/// How one kind of data compares.
pub(crate) struct Compared {
    /// For a terminal.
    pub text: String,
    /// For programs.
    pub json: Value,
    /// Is it enough without a comparison of paths, where there are none?
    pub stands_alone: bool,
}

/// One profile held against another.
pub struct Comparison {
    accuracy: Accuracy,
    /// Does the truth count paths?
    has_paths: bool,
    kinds: Vec<(&'static str, Compared)>,
    notes: Vec<String>,
}

impl Comparison {
    /// Compares `estimate` with `exact`.
    ///
    /// # Errors
    /// If an option is out of range, or the two count different things.
    pub fn new(exact: &Profile, estimate: &Profile, options: &CompareOptions) -> Result<Self, CompareError> {
        let pair = Pair {
            exact,
            estimate,
            options,
        };
        let mut notes = Vec::new();
        // Of every structural path, whole paths are estimates all the same.
        let complete = exact.structural.as_ref().is_some_and(|s| s.window.is_none());
        if !exact.run.exact && !complete {
            notes.push(format!("{} was sampled, not counted exactly", options.names[0]));
        }
        let mut kinds = Vec::new();
        for kind in SECTIONS {
            kinds.extend(kind.compare(&pair, &mut notes)?.map(|found| (kind.key(), found)));
        }
        let mut counts = exact.classes.iter().flat_map(|class| &class.counts);
        Ok(Comparison {
            accuracy: trodden_profile::compare(exact, estimate, &AccuracyOptions::default()),
            has_paths: counts.any(|counts| !counts.paths.is_empty()),
            kinds,
            notes,
        })
    }

    /// What the user should know of it.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        // Paths are compared where there are some, and where there is nothing else.
        let alone = self.kinds.iter().any(|(_, found)| found.stands_alone);
        let paths = (!alone || self.has_paths).then(|| paths::text(&self.accuracy));
        let kinds = self.kinds.iter().map(|(_, found)| found.text.clone());
        let parts: Vec<String> = paths.into_iter().chain(kinds).collect();
        printable_lines(&parts.join("\n")).into_owned()
    }

    /// For programs.
    pub fn json(&self) -> String {
        let mut document = paths::json(&self.accuracy);
        for (key, found) in &self.kinds {
            document[*key] = found.json.clone();
        }
        printable_lines(&format!("{document:#}\n")).into_owned()
    }
}

/// Names and values below each other.
pub(crate) fn rows<'a>(out: &mut String, rows: impl IntoIterator<Item = (&'a str, String)>) {
    for (name, value) in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{name:<26} {value:>16}");
    }
}

/// A share in per cent.
pub(crate) fn share(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |v| format!("{:.2} %", 100.0 * v))
}
