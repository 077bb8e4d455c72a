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

pub use file::{FileError, LineError, parse, to_text};
pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use record::{LimitError, record};
pub use sarif::sarif;
pub use text::text;
