//! One profile less another: what was counted between two readings of the same recording.
//!
//! The counterpart of [`merge`](mod@crate::model::merge): what is left, merged with the earlier reading, is the later one. Each
//! kind of data does its part; kinds whose numbers are estimates that may fall have no difference, and are refused.

use std::borrow::Cow;
use std::collections::BTreeSet;

use trodden_numbering::RegenerateError;

use crate::model::facts;
use crate::model::map::MethodMap;
use crate::model::merge::{MergeError, merge, place};
use crate::model::profile::{ClassProfile, MethodCounts, Profile, RunInfo};
use crate::model::section::SECTIONS;
use crate::model::translate::{same_paths, translate, translate_partial};

/// Why a profile has no difference from an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubtractError {
    /// Something was counted less often in the later profile: they are not of the same recording, or it was reset.
    #[error("{what}: counts have fallen, so the profiles are no two readings of one recording")]
    Fell {
        /// What it is: a class and method, or a kind of data.
        what: String,
    },
    /// The numbers are estimates, which have no exact difference.
    #[error("{what} have no exact difference between two moments")]
    Estimates {
        /// What they are.
        what: &'static str,
    },
    /// The earlier profile cuts a method into other paths.
    #[error("class {class}, method {method}: the profiles cut this method into different paths")]
    DifferentPaths {
        /// Internal name.
        class: String,
        /// Name and descriptor.
        method: String,
    },
    /// A count's number names no path, so it cannot be translated into the later profile's numbers.
    #[error("class {class}, method {method}: {source}")]
    NoSuchPath {
        /// Internal name.
        class: String,
        /// Name and descriptor.
        method: String,
        /// Which number.
        source: RegenerateError,
    },
    /// A class is in a profile more than once, and its counts do not add up.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// What `now` counted that `before`, an earlier reading of the same recording, had not: [`merge`](crate::merge) of both is `now`.
///
/// Classes, path maps and their order are those of `now`, those without counts included; what was left alone is listed if `before`
/// did not list it. Facts that add up are differences, `seconds` is the time in between; the fact `runs` is 0 unless `before` has
/// no run, so that merged windows of one recording are one run.
///
/// # Errors
/// If a count is smaller than it was, or there are data that have no exact difference.
pub fn subtract(now: &Profile, before: &Profile) -> Result<Profile, SubtractError> {
    let (now, before) = (&sorted(now)?, &sorted(before)?);
    let mut rest = Profile {
        run: run_since(&now.run, &before.run),
        classes: now.classes.clone(),
        skipped: {
            let known: BTreeSet<_> = before.skipped.iter().collect();
            let new = now.skipped.iter().filter(|skipped| !known.contains(skipped));
            new.cloned().collect()
        },
        ..Profile::default()
    };
    for (c, class) in before.classes.iter().enumerate() {
        for (m, (map, counts)) in class.map.methods.iter().zip(&class.counts).enumerate() {
            if counts.paths.is_empty() && counts.partial.is_empty() {
                continue;
            }
            let Some((to, at)) = place(before, c, m, &now.classes) else {
                return Err(fell(&class.map.name, map));
            };
            let target = &now.classes[to];
            take_off(
                &mut rest.classes[to].counts[at],
                &target.map.name,
                &target.map.methods[at],
                map,
                counts,
            )?;
        }
    }
    for kind in SECTIONS {
        kind.subtract(now, before, &mut rest)?;
    }
    Ok(rest)
}

impl Profile {
    /// Positions of the classes that something is counted of, of whatever kind.
    pub fn classes_with_counts(&self) -> BTreeSet<usize> {
        let counted = |counts: &MethodCounts| !counts.paths.is_empty() || !counts.partial.is_empty();
        let classes = self.classes.iter().enumerate();
        let classes = classes.filter(|(_, class)| class.counts.iter().any(counted));
        let mut found: BTreeSet<usize> = classes.map(|(position, _)| position).collect();
        for kind in SECTIONS {
            kind.classes(self, &mut |class| {
                found.insert(class);
            });
        }
        found
    }

    /// The profile with only some of its classes, and what is said of these: those that `keep` takes, by position.
    ///
    /// # Errors
    /// If its data contradict themselves.
    pub fn with_classes(&self, keep: impl Fn(usize, &ClassProfile) -> bool) -> Result<Profile, MergeError> {
        let classes = self.classes.iter().enumerate();
        let kept = classes.filter(|(position, class)| keep(*position, class));
        let mut some = Profile {
            run: self.run.clone(),
            classes: kept.map(|(_, class)| class.clone()).collect(),
            skipped: self.skipped.clone(),
            ..Profile::default()
        };
        // Merging finds the places of methods among other classes, and leaves out what has none.
        for kind in SECTIONS {
            kind.merge(&[self], &mut some)?;
        }
        Ok(some)
    }
}

/// With classes in order, and each once.
fn sorted(profile: &Profile) -> Result<Cow<'_, Profile>, MergeError> {
    let classes = &profile.classes;
    let in_order = classes.is_sorted_by(|a, b| (&a.map.name, a.map.sha256) < (&b.map.name, b.map.sha256));
    Ok(if in_order {
        Cow::Borrowed(profile)
    } else {
        Cow::Owned(merge([profile])?)
    })
}

fn run_since(now: &RunInfo, before: &RunInfo) -> RunInfo {
    if *before == RunInfo::default() {
        return now.clone();
    }
    let runs = |run: &RunInfo| run.facts.get(facts::RUNS).unwrap_or(1);
    let mut facts = now.facts.since(&before.facts);
    facts.set(facts::RUNS, runs(now).saturating_sub(runs(before)));
    RunInfo {
        seconds: (now.seconds - before.seconds).max(0.0),
        facts,
        ..now.clone()
    }
}

fn fell(class: &str, method: &MethodMap) -> SubtractError {
    SubtractError::Fell {
        what: format!("class {class}, method {}{}", method.name, method.descriptor),
    }
}

/// Takes counts under the numbers of one map off those under another's.
pub(crate) fn take_off(
    counts: &mut MethodCounts,
    class: &str,
    map: &MethodMap,
    before: &MethodMap,
    then: &MethodCounts,
) -> Result<(), SubtractError> {
    let same = map.dag == before.dag && map.graph == before.graph && map.blocks == before.blocks;
    let method = || format!("{}{}", map.name, map.descriptor);
    if !same && !same_paths(before, map) {
        return Err(SubtractError::DifferentPaths {
            class: class.to_owned(),
            method: method(),
        });
    }
    let failed = |source| SubtractError::NoSuchPath {
        class: class.to_owned(),
        method: method(),
        source,
    };
    for (&number, &times) in &then.paths {
        let number = if same {
            number
        } else {
            translate(before, map, number).map_err(failed)?
        };
        let left = counts.paths.get_mut(&number);
        less(left, times).ok_or_else(|| fell(class, map))?;
    }
    for (&(block, number), &times) in &then.partial {
        let number = if same {
            number
        } else {
            translate_partial(before, map, block, number).map_err(failed)?
        };
        let left = counts.partial.get_mut(&(block, number));
        less(left, times).ok_or_else(|| fell(class, map))?;
    }
    // A count of 0 that the later profile has by itself stays: it has one that was read.
    counts.paths.retain(|_, times| *times > 0);
    counts.partial.retain(|_, times| *times > 0);
    Ok(())
}

/// `None` if there is not so much.
fn less(count: Option<&mut u64>, times: u64) -> Option<()> {
    match count {
        Some(count) => *count = count.checked_sub(times)?,
        None if times == 0 => {}
        None => return None,
    }
    Some(())
}
