//! HotSpot's counts of several runs.

use std::collections::BTreeMap;

use super::{HotSpotBranch, HotSpotMethod};
use crate::model::profile::Profile;

/// Counts of the same code are added up. Of methods whose code differs the one with more code is kept, in whichever order
/// profiles are merged.
pub(super) fn merge(profiles: &[&Profile]) -> Vec<HotSpotMethod> {
    let mut merged: BTreeMap<(&str, &str, &str), HotSpotMethod> = BTreeMap::new();
    for method in profiles.iter().flat_map(|profile| &profile.hotspot) {
        let Some(sum) = merged.get_mut(&method.names()) else {
            merged.insert(method.names(), method.clone());
            continue;
        };
        if sum.map == method.map && sum.source_file == method.source_file {
            sum.branches = added(&sum.branches, &method.branches);
            if method.conditions.knows_more_than(&sum.conditions) {
                sum.conditions = method.conditions.clone();
            }
        } else if code(method) > code(sum) {
            *sum = method.clone();
        }
    }
    merged.into_values().collect()
}

/// An order by the code alone.
fn code(method: &HotSpotMethod) -> (u32, String) {
    (
        method.map.code_length,
        format!("{:?} {:?}", method.source_file, method.map),
    )
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
