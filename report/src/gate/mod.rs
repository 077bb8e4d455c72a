//! The work of tests compared with an earlier build's, in each format: the gate's own text file; the comparison as text,
//! JSON, Markdown, JUnit's XML and SARIF.
//!
//! `record` combines several runs of the same test, and says what differs from itself; `reason` says why. Both are
//! sentences of the file.

mod file;
mod json;
mod junit;
mod markdown;
mod reason;
mod record;
mod sarif;
mod text;

use trodden_insight::gate::GateComparison;

pub use file::{FileError, LineError, parse, to_text};
pub use record::{LimitError, record};

/// The formats of a [`GateComparison`].
pub trait GateFormats {
    /// The result in one sentence.
    fn headline(&self) -> String;

    /// For a terminal; `colour` adds ANSI styles.
    fn text(&self, colour: bool) -> String;

    /// For a comment on a change.
    fn markdown(&self) -> String;

    /// JSON, format `trodden-gate` version 1.
    ///
    /// # Errors
    /// If the JSON writer fails.
    fn json(&self) -> Result<String, serde_json::Error>;

    /// JUnit's XML.
    ///
    /// # Errors
    /// If the XML writer fails.
    fn junit(&self) -> std::io::Result<String>;

    /// SARIF 2.1.0.
    ///
    /// # Errors
    /// If the JSON writer fails.
    fn sarif(&self) -> Result<String, serde_json::Error>;
}

impl GateFormats for GateComparison {
    fn headline(&self) -> String {
        text::headline(self)
    }

    fn text(&self, colour: bool) -> String {
        text::text(self, colour)
    }

    fn markdown(&self) -> String {
        markdown::markdown(self)
    }

    fn json(&self) -> Result<String, serde_json::Error> {
        json::json(self)
    }

    fn junit(&self) -> std::io::Result<String> {
        junit::junit(self)
    }

    fn sarif(&self) -> Result<String, serde_json::Error> {
        sarif::sarif(self)
    }
}
