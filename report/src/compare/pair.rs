//! Two profiles that are compared, and how one kind of data compares.

use std::fmt::Write;

use serde_json::Value;
use trodden_profile::{PhiOutOfRange, Profile};

/// Options of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompareOptions {
    /// Names of the two profiles in notes: the truth, and the estimate.
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
    /// True if it is enough without a comparison of paths, where there are none.
    pub stands_alone: bool,
}

/// Names and values below each other.
pub(crate) fn write_rows<'a>(out: &mut String, rows: impl IntoIterator<Item = (&'a str, String)>) {
    for (name, value) in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{name:<26} {value:>16}");
    }
}

/// A share in per cent.
pub(crate) fn share(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |v| format!("{:.2} %", 100.0 * v))
}
