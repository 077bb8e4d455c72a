//! What changed between two runs: which methods do other work than before, and which branch is the cause.
//!
//! *In*: two profiles, of the same build or of two. *Out*: a [`Diff`].
//!
//! 1. `pairing` finds for each method its other self: by name and code, by the shape of the flow graph, or block by
//!    block.
//! 2. `side` turns the counts of one side into executions per block and per entry.
//! 3. `effect` says what a method's change did to the executed work, calls included, and by which branch.
//! 4. `finding` ranks, and leaves out what chance explains; `paths` says which path is which.
//! 5. `time` does the same for CPU time, where both have samples.
//! 6. `amount` says what is only more of the same, `spread` and `repeats` what runs of one program differ by anyway.

mod amount;
mod effect;
mod finding;
mod pairing;
mod paths;
mod repeats;
mod side;
mod spread;
mod time;

use std::borrow::Cow;

use trodden_profile::{MergeError, Profile, facts};

pub use amount::Amount;
pub use finding::{BranchChange, Diff, MethodChange, PathChange, Reason, Summary};
pub use pairing::Matched;
pub use paths::route;
pub use side::{Side, sides};
pub use time::{MethodTimeChange, PathTimeChange, TimeChange, TimeDiff};

use crate::pattern::{MethodPattern, PatternError};

/// Options of a comparison: the methods, and the number of them that is shown.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// Only methods that match, as `--method` of a report.
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
        /// The data that it has in place of them.
        holds: &'static str,
    },
    /// No profile is given of a side.
    #[error("there is no profile of the runs {0}")]
    NoRuns(&'static str),
    /// Profiles of one side count different things.
    #[error("the runs {side} cannot be added up: {cause}")]
    Unlike {
        /// `before` or `after`.
        side: &'static str,
        /// Why.
        cause: MergeError,
    },
}

impl Diff {
    /// Compares two profiles.
    ///
    /// # Errors
    /// If the method pattern is malformed, or a profile counts no paths and they do not both have CPU samples.
    pub fn new(before: &Profile, after: &Profile, options: &DiffOptions) -> Result<Self, DiffError> {
        Self::of_runs(std::slice::from_ref(before), std::slice::from_ref(after), options)
    }

    /// Compares several runs of one build with several of another (or of one). What runs of one side differ by is no change.
    ///
    /// # Errors
    /// Those of [`Diff::new`]; if a side has no run, or runs that cannot be added up.
    pub fn of_runs(before: &[Profile], after: &[Profile], options: &DiffOptions) -> Result<Self, DiffError> {
        let pattern = options.method.as_deref().map(MethodPattern::new).transpose()?;
        let timed = before.iter().chain(after).all(|profile| profile.cpu.is_some());
        for (which, profile) in [("first", before), ("second", after)]
            .into_iter()
            .filter(|_| !timed)
            .flat_map(|(which, runs)| runs.iter().map(move |run| (which, run)))
        {
            if let Some(holds) = without_paths(profile) {
                return Err(DiffError::NoPaths { which, holds });
            }
        }
        // No format holds control characters; the names of the few that have some are shown escaped.
        let (before, after) = (printable(before), printable(after));
        let means = [mean(&before, "before")?, mean(&after, "after")?];
        Ok(finding::find(
            [&means[0], &means[1]],
            [&before, &after],
            pattern.as_ref(),
            options,
        ))
    }
}

fn printable(runs: &[Profile]) -> Cow<'_, [Profile]> {
    let copies: Vec<Cow<'_, Profile>> = runs.iter().map(Profile::printable).collect();
    if copies.iter().all(|copy| matches!(copy, Cow::Borrowed(_))) {
        return Cow::Borrowed(runs);
    }
    Cow::Owned(copies.into_iter().map(Cow::into_owned).collect())
}

/// Counts of an average run; CPU samples are those of all.
fn mean<'p>(runs: &'p [Profile], side: &'static str) -> Result<Cow<'p, Profile>, DiffError> {
    if let [run] = runs {
        return Ok(Cow::Borrowed(run));
    }
    if runs.is_empty() {
        return Err(DiffError::NoRuns(side));
    }
    let mut all = trodden_profile::merge(runs).map_err(|cause| DiffError::Unlike { side, cause })?;
    let runs = runs.len() as u64;
    let share = |count: &mut u64| {
        if *count > 0 {
            // What ran at all has run.
            *count = (count.saturating_add(runs / 2) / runs).max(1);
        }
    };
    for counts in all.classes.iter_mut().flat_map(|class| &mut class.counts) {
        counts.paths.values_mut().for_each(share);
        counts.partial.values_mut().for_each(share);
    }
    all.observations.iter_mut().for_each(|of| share(&mut of.counted));
    if let Some(samples) = all.run.facts.get(facts::SAMPLES) {
        all.run.facts.set(facts::SAMPLES, samples / runs);
    }
    Ok(Cow::Owned(all))
}

/// The data of a profile, if that is not counts of paths.
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
pub struct Carried {
    /// Its position in the earlier version.
    pub before: usize,
    /// Its position in the later one.
    pub after: usize,
    /// Per block of the later one: the same one in the earlier one.
    pub blocks: Vec<Option<usize>>,
}

/// The methods of a class that are in a later version of it, too.
pub fn carried(
    before: &trodden_profile::ClassProfile,
    after: &trodden_profile::ClassProfile,
) -> Vec<Carried> {
    let sides = |class| {
        let class: &trodden_profile::ClassProfile = class;
        let counts = class.counts.iter().enumerate();
        let all = counts.filter_map(|(at, counts)| Some((at, Side::of_class(class, at, counts)?)));
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
