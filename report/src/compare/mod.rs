//! How well one profile predicts another, as text and as JSON: `trodden compare`.
//!
//! Paths and branches are compared here; each other kind of data compares itself
//! ([`ReportSection::compare`](crate::section::ReportSection::compare)).

mod pair;
mod paths;

use trodden_profile::{Accuracy, AccuracyOptions, Profile, printable_lines};

use crate::kinds::KINDS;

pub use pair::{CompareError, CompareOptions};
pub(crate) use pair::{Compared, Pair, share, write_rows};

/// One profile held against another.
pub struct Comparison {
    accuracy: Accuracy,
    /// True if the exact profile counts paths.
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
        for kind in KINDS {
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

    /// Notes for the user.
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
