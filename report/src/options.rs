//! What a report is asked for, and why there is none.

use std::path::PathBuf;

use trodden_insight::contexts::ContextsOptions;
use trodden_insight::kpaths::KPathsOptions;
use trodden_insight::pattern::PatternError;
use trodden_profile::PhiOutOfRange;

use crate::exports::{StackKind, Weight};

/// The content of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportOptions {
    /// Only methods that match `Class#method`, with `*` and `?`; `Class` alone means all its methods. Dots or
    /// slashes. A pattern without a package also matches the simple class name.
    pub method: Option<String>,
    /// At most this many methods, hottest first; 0 leaves it to the format (text 10, with [`all`](Self::all) all; HTML 50,
    /// DOT and SVG 1, JSON all).
    pub top: usize,
    /// Text: everything about each method, not the first screen. Stacks: those as well that are below 0.01 % of the total.
    pub all: bool,
    /// The frames of stacks; calls if the profile has calling contexts, else paths.
    pub stacks: Option<StackKind>,
    /// Which number of stacks comes first; executions.
    pub weight: Option<Weight>,
    /// Text: columns of the terminal; 0 for 100.
    pub width: usize,
    /// At most this many paths per method; 0 leaves it to the format (text: on the first screen 3, of a method that was asked
    /// for those with time or decisions, with [`all`](Self::all) all; HTML 25, JSON all).
    pub paths: usize,
    /// Folders with source files, searched by package path and SourceFile attribute.
    pub sources: Vec<PathBuf>,
    /// Show decisions as what the bytecode did, not in the source's terms.
    pub bytecode: bool,
    /// How to show k-iteration path forests, if the profile has one.
    pub kpaths: KPathsOptions,
    /// How to show calling contexts, if the profile has any.
    pub contexts: ContextsOptions,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The method pattern cannot be understood.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The method pattern matches no method of the profile.
    #[error("no profiled method matches '{pattern}' ({methods} methods in the profile)")]
    NoMethod {
        /// The pattern as given.
        pattern: String,
        /// Methods in the profile.
        methods: usize,
    },
    /// The threshold of hot contexts is out of range.
    #[error(transparent)]
    Phi(#[from] PhiOutOfRange),
    /// Only contexts can be shown like that.
    #[error(
        "the profile has neither calling contexts nor CPU samples (record it with --profile contexts or --sample)"
    )]
    NoContexts,
    /// Nothing in the profile has stacks.
    #[error(
        "the profile has no stacks: {0}; profiles with stacks are recorded with --sample, or with --profile paths, kpaths, structural or contexts"
    )]
    NoStacks(String),
    /// Only CPU samples can be shown like that.
    #[error("the profile has no CPU samples, which a JFR file is made of (record it without --sample off)")]
    NoSamples,
    /// Stacks have no such number.
    #[error("{wanted} are not known: the stacks of this profile have {known}")]
    NoWeight {
        /// The requested number.
        wanted: &'static str,
        /// The numbers of these stacks.
        known: String,
    },
    /// The writer failed.
    #[error("cannot write the report: {0}")]
    Write(#[from] std::io::Error),
    /// The JSON writer failed.
    #[error("cannot write the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
