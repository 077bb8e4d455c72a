//! From what was counted to the whole run: what a dump does with the history.

use std::time::Duration;

use trodden_instrumenter::MethodId;
use trodden_profile::structural::{GraphCounts, Structural};
use trodden_profile::{Observation, Profile, facts};

use super::history::ProbeHistory;

/// Adds to a profile's counts what the history says is missing, says for each such method how much of it was
/// counted, and puts the sums of the history into the facts. `first_methods`: of each class, the number of
/// its first method.
pub fn complete(profile: &mut Profile, first_methods: &[MethodId], history: &ProbeHistory) {
    let seconds = profile.run.seconds;
    for (index, (class, &first)) in profile.classes.iter_mut().zip(first_methods).enumerate() {
        for (method, counts) in class.counts.iter_mut().enumerate() {
            let key = (index as u32, method as u32);
            if history.is_steady(first.at(method)) {
                profile.steady.insert(key);
            }
            let Some(estimate) = history.estimate(first.at(method), seconds) else {
                continue;
            };
            profile.observations.push(Observation {
                class: index as u32,
                method: method as u32,
                counted: windows(profile.structural.as_ref(), key).unwrap_or_else(|| counts.total()),
                seconds: estimate.seconds,
                until: estimate.until,
                windows: estimate.windows,
                reason: estimate.reason.name().to_owned(),
            });
            // Those of structure graphs are in already.
            let missing = estimate.missing.into_iter();
            for (path, missing) in missing.filter(|_| profile.structural.is_none()) {
                let missing = missing.round() as u64;
                if missing > 0 {
                    *counts.paths.entry(path).or_default() += missing;
                }
            }
        }
    }
    profile.run.exact &= history.is_exact();
    let totals = history.totals;
    let (silent, ever) = history.sizes();
    let facts = &mut profile.run.facts;
    facts.set(facts::RETRANSFORMATIONS, totals.retransformations);
    facts.set(facts::CLASSES_RETIRED, totals.retired);
    facts.set(facts::CLASSES_REARMED, totals.rearmed);
    facts.set(facts::CLASSES_NOT_RETRANSFORMED, totals.failed);
    facts.set(facts::CHANGES_PUT_OFF, totals.put_off);
    facts.set(facts::METHODS_SILENT, silent as u64);
    facts.set(facts::METHODS_ESTIMATED, ever as u64);
    facts.set(facts::RETRANSFORMING_MS, totals.pauses);
    facts.set(facts::LONGEST_RETRANSFORMATION_MS, totals.longest_pause);
    facts.set(facts::COUNTING_MS_ESTIMATED, duration(totals.counting));
    facts.set(facts::RECOMPILING_MS_ESTIMATED, duration(totals.compiling));
    facts.set(facts::SLOWED_MS_ASSUMED, duration(totals.slow));
}

/// Path ends of a method that were counted in windows of its structure graphs.
fn windows(structural: Option<&Structural>, method: (u32, u32)) -> Option<u64> {
    let graphs = &structural?.methods.get(&method)?.graphs;
    Some(graphs.iter().map(GraphCounts::local_total).sum())
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
