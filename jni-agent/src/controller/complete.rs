//! From what was counted to the whole run: what a dump does with the ledger.

use trodden_instrumenter::MethodId;
use trodden_profile::structural::{GraphCounts, Structural};
use trodden_profile::{Observation, Profile};

use super::ledger::Ledger;

/// Adds to a profile's counts what the ledger says is missing, says for each such method how much of it was
/// counted, and puts the sums of the ledger into the facts. `first_methods`: of each class, the number of its
/// first method.
pub fn complete(profile: &mut Profile, first_methods: &[MethodId], ledger: &Ledger) {
    let seconds = profile.run.seconds;
    for (index, (class, &first)) in profile.classes.iter_mut().zip(first_methods).enumerate() {
        for (method, counts) in class.counts.iter_mut().enumerate() {
            let key = (index as u32, method as u32);
            let Some(estimate) = ledger.estimate(first.at(method), seconds) else {
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
    profile.run.exact &= ledger.is_exact();
    let totals = ledger.totals();
    let (silent, ever) = ledger.sizes();
    let facts = &mut profile.run.facts;
    let mut fact = |name: &str, value: String| facts.insert(name.to_owned(), value);
    fact("retransformations", totals.retransformations.to_string());
    fact("classes_retired", totals.retired.to_string());
    fact("classes_rearmed", totals.rearmed.to_string());
    fact("classes_not_retransformed", totals.failed.to_string());
    fact("changes_put_off", totals.put_off.to_string());
    fact("methods_silent", silent.to_string());
    fact("methods_estimated", ever.to_string());
    fact("retransforming_ms", millis(totals.pauses.as_secs_f64()));
    fact(
        "longest_retransformation_ms",
        millis(totals.longest_pause.as_secs_f64()),
    );
    fact("counting_ms_estimated", millis(totals.counting));
    fact("recompiling_ms_estimated", millis(totals.compiling));
    fact("slowed_ms_assumed", millis(totals.slow));
}

/// Path ends of a method that were counted in windows of its structure graphs.
fn windows(structural: Option<&Structural>, method: (u32, u32)) -> Option<u64> {
    let graphs = &structural?.methods.get(&method)?.graphs;
    Some(graphs.iter().map(GraphCounts::local_total).sum())
}

fn millis(seconds: f64) -> String {
    format!("{:.1}", seconds * 1e3)
}
