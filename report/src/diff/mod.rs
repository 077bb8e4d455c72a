//! What changed between two runs: which methods do other work than before, and which branch is the cause.
//!
//! *In*: two profiles, of the same build or of two. *Out*: a [`Diff`], as text, JSON, Markdown or a page.
//!
//! 1. [`pairing`] finds for each method its other self: by name and code, by the shape of the flow graph, or block by
//!    block.
//! 2. [`side`] turns the counts of one side into executions per block and per entry.
//! 3. [`effect`] says what a method's change did to the executed work, calls included, and by which branch.
//! 4. [`finding`] ranks, and leaves out what chance explains; [`paths`] says which path is which.
//! 5. [`time`] does the same for CPU time, where both have samples.

mod effect;
mod finding;
mod html;
mod json;
mod markdown;
mod pairing;
mod paths;
mod side;
mod text;
mod time;
mod time_words;

use std::path::PathBuf;

use trodden_profile::Profile;

pub use finding::{BranchChange, Cause, Diff, MethodChange, Odds, PathChange, Reason, Summary};
pub use pairing::Matched;
pub use time::{MethodTimeChange, PathTimeChange, TimeChange, TimeDiff};

pub(crate) use markdown::escape as escape_markdown;
pub(crate) use paths::text as path_in_words;
pub(crate) use side::{Side, sides};

use crate::source::Sources;
use crate::{MethodPattern, PatternError};

/// Where the source of the second build is looked for.
pub struct DiffSources(pub(crate) Sources);

impl DiffSources {
    /// Folders with source files, as in [`ReportOptions::sources`](crate::ReportOptions::sources).
    pub fn new(folders: &[PathBuf]) -> Self {
        DiffSources(Sources::new(folders))
    }
}

/// What to compare, and how much of it to show.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// Only methods that match, as in [`ReportOptions::method`](crate::ReportOptions::method).
    pub method: Option<String>,
    /// At most this many methods, the largest change first.
    pub top: usize,
    /// A change of less than this share of the executed work, or of the CPU time, is not listed (0.01 is 1 %).
    pub threshold: f64,
}

impl Default for DiffOptions {
    fn default() -> Self {
        DiffOptions {
            method: None,
            top: 10,
            threshold: 0.01,
        }
    }
}

/// Why two profiles cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    /// The method pattern cannot be understood.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// One of them has no path counts.
    #[error("the {which} profile has no path counts, so there is nothing to compare (it holds {holds})")]
    NoPaths {
        /// `first` or `second`.
        which: &'static str,
        /// What it has in place of them.
        holds: &'static str,
    },
}

impl Diff {
    /// Compares two profiles.
    ///
    /// # Errors
    /// If the method pattern is malformed, or a profile counts no paths and they do not both have CPU samples.
    pub fn new(before: &Profile, after: &Profile, options: &DiffOptions) -> Result<Self, DiffError> {
        let pattern = options.method.as_deref().map(MethodPattern::new).transpose()?;
        let timed = before.cpu.is_some() && after.cpu.is_some();
        for (which, profile) in [("first", before), ("second", after)]
            .into_iter()
            .filter(|_| !timed)
        {
            if let Some(holds) = without_paths(profile) {
                return Err(DiffError::NoPaths { which, holds });
            }
        }
        // No format holds control characters; the names of the few that have some are shown escaped.
        let (before, after) = (before.printable(), after.printable());
        Ok(finding::find(&before, &after, pattern.as_ref(), options))
    }
}

/// What a profile holds, if that is not counts of paths.
fn without_paths(profile: &Profile) -> Option<&'static str> {
    let counted = profile.classes.iter().flat_map(|c| &c.counts);
    if counted
        .into_iter()
        .any(|c| !c.paths.is_empty() || !c.partial.is_empty())
    {
        return None;
    }
    match () {
        () if profile.contexts.is_some() => Some("calling contexts"),
        () if profile.subpaths.is_some() => Some("hot subpaths"),
        () if profile.kpaths.is_some() => Some("k-iteration paths"),
        () if profile.classes.is_empty() => Some("no method with probes"),
        () => None,
    }
}

/// A method of one version of a class, found again in another.
pub(crate) struct Carried {
    /// Its position in the earlier version.
    pub before: usize,
    /// Its position in the later one.
    pub after: usize,
    /// Per block of the later one: the same one in the earlier one.
    pub blocks: Vec<Option<usize>>,
}

/// The methods of a class that are in a later version of it, too.
pub(crate) fn carried(
    before: &trodden_profile::ClassProfile,
    after: &trodden_profile::ClassProfile,
) -> Vec<Carried> {
    let sides = |class| {
        let class: &trodden_profile::ClassProfile = class;
        let all = (0..class.map.methods.len()).filter_map(|at| Some((at, Side::new(class, at, 1.0)?)));
        all.unzip::<usize, Side, Vec<_>, Vec<_>>()
    };
    let ((places_before, before), (places_after, after)) = (sides(before), sides(after));
    let pairs = pairing::pair(&before, &after).into_iter();
    let both = |pair: pairing::Pair| {
        Some(Carried {
            before: places_before[pair.before?],
            after: places_after[pair.after?],
            blocks: pair.blocks,
        })
    };
    pairs.filter_map(both).collect()
}
