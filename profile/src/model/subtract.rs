//! One profile less another: what was counted between two readings of the same recording.
//!
//! The counterpart of [`merge`](mod@crate::model::merge): what is left, merged with the earlier reading, is the later one. Each
//! kind of data does its part; kinds whose numbers are estimates that may fall have no difference, and are refused.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::model::counts::MethodCounts;
use crate::model::errors::{MergeError, SubtractError};
use crate::model::facts;
use crate::model::kinds::KINDS;
use crate::model::merge::merge;
use crate::model::places::{fell, place, take_off};
use crate::model::profile::{ClassProfile, Profile, RunInfo};

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
            if counts.is_empty() {
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
    for kind in KINDS {
        kind.subtract(now, before, &mut rest)?;
    }
    Ok(rest)
}

impl Profile {
    /// Positions of the classes that something is counted of, of whatever kind.
    pub fn classes_with_counts(&self) -> BTreeSet<usize> {
        let counted = |counts: &MethodCounts| !counts.is_empty();
        let classes = self.classes.iter().enumerate();
        let classes = classes.filter(|(_, class)| class.counts.iter().any(counted));
        let mut found: BTreeSet<usize> = classes.map(|(position, _)| position).collect();
        for kind in KINDS {
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
        for kind in KINDS {
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
