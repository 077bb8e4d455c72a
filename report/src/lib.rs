//! From a profile to something a person, or a script, can read.
//!
//! *In*: a [`Profile`](trodden_profile::Profile) (counts and path maps; no class files needed) and, if there
//! are any, source folders.
//! *Out*: text, JSON (version 1), one self-contained HTML page, DOT and SVG; and, of exact counts, [`coverage`].
//!
//! All formats are drawn from one [view model](trodden_insight::view::View): methods by *branch flow*, the measure of Bond and
//! McKinley (MICRO 2005, section 6.3), `F(p) = freq(p) * branches(p)`. Each format is one file over it.
//!
//! ```
//! use trodden_profile::Profile;
//! use trodden_report::{Report, ReportOptions};
//!
//! let profile = Profile::default();
//! let report = Report::new(&profile, &ReportOptions::default()).unwrap();
//! assert!(report.text(false).contains("No path was counted"));
//! ```

mod compare;
mod contexts;
pub mod coverage;
mod cpu;
pub mod diff;
mod dot;
pub mod editor;
mod exports;
mod findings;
pub mod gate;
mod hotspot;
mod html;
mod html_method;
mod in_words;
mod json;
mod kinds;
mod kpaths;
mod layout;
mod memory;
mod object;
mod one_method;
mod options;
mod overview;
mod report;
mod rows;
pub mod sarif;
mod section;
pub mod slow;
mod structural;
mod subpaths;
mod svg;
mod text;
mod words;

pub use compare::{CompareError, CompareOptions, Comparison};
pub use exports::{StackKind, Weight};
pub use findings::{Finding, FindingKind};
pub use in_words::{InWords, WayOut};
pub use one_method::{OneMethod, OnePath};
pub use options::{ReportError, ReportOptions};
pub use report::Report;
pub use sarif::{Repository, percent_encoded};
pub use trodden_insight::names::{dotted, signature};
pub use words::{TIME_NOT_KNOWN, percent, seconds, share_is_known, thousands};
