//! HotSpot's counts of several runs.

use std::collections::BTreeMap;

use super::{HotSpotBranch, HotSpotMethod};
use crate::model::profile::Profile;

/// Counts of the same code are added up. Of methods whose code differs those of the run with most counts are kept.
pub(super) fn merge(profiles: &[&Profile]) -> Vec<HotSpotMethod> {
    let mut merged: BTreeMap<(&str, &str, &str), HotSpotMethod> = BTreeMap::new();
    for method in profiles.iter().flat_map(|profile| &profile.hotspot) {
        let Some(sum) = merged.get_mut(&method.names()) else {
            merged.insert(method.names(), method.clone());
            continue;
        };
        if sum.map == method.map {
            sum.branches = added(&sum.branches, &method.branches);
        } else if key(method) > key(sum) {
            *sum = method.clone();
        }
    }
    merged.into_values().collect()
}

/// An order that depends on the method alone, so that the order of inputs is of no consequence.
fn key(method: &HotSpotMethod) -> (u64, u32, String) {
    let total = method
        .branches
        .iter()
        .fold(0, |sum: u64, branch| sum.saturating_add(branch.total()));
    (total, method.map.code_length, format!("{:?}", method.map.blocks))
}

fn added(one: &[HotSpotBranch], other: &[HotSpotBranch]) -> Vec<HotSpotBranch> {
    let mut sums: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for branch in one.iter().chain(other) {
        let sum = sums
            .entry(branch.block)
            .or_insert_with(|| vec![0; branch.outcomes.len()]);
        for (sum, &more) in sum.iter_mut().zip(&branch.outcomes) {
            *sum = sum.saturating_add(more);
        }
    }
    let branches = sums.into_iter();
    branches
        .map(|(block, outcomes)| HotSpotBranch { block, outcomes })
        .collect()
}
