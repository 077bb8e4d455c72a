//! Contexts in a profile: there and back.

use trodden_profile::{BurstGroups, ByGroup, ContextNode, ContextRow, ContextTree};

use super::stream::{ContextOptions, ContextResult};
use super::{Bounds, Frame, UNKNOWN_SITE};
use crate::MethodPlaces;

/// The section of a result, and how many calls are of methods that are nowhere, or below such.
pub(super) fn contexts(
    result: &ContextResult,
    options: &ContextOptions,
    places: &MethodPlaces,
) -> (trodden_profile::Contexts, u64) {
    let snapshot = &result.contexts;
    let mut unknown = 0;
    let mut rows: Vec<ContextRow> = Vec::with_capacity(snapshot.contexts());
    // Per context of the snapshot, its row.
    let mut row_of: Vec<Option<u32>> = Vec::with_capacity(snapshot.contexts());
    let mut groups: Vec<(u32, ByGroup)> = Vec::new();
    for (at, (frame, parent, bounds)) in snapshot.nodes().enumerate() {
        let above = parent.map(|parent| row_of[parent as usize]);
        let (Some((class, method)), false) = (places.place(frame.method), above == Some(None)) else {
            unknown += bounds.map_or(0, |bounds| bounds.lower);
            row_of.push(None);
            continue;
        };
        row_of.push(Some(rows.len() as u32));
        if let Some(by_group) = snapshot.groups(at) {
            groups.push((rows.len() as u32, by_group));
        }
        rows.push(ContextRow {
            parent: above.flatten(),
            node: ContextNode {
                depth: 0,
                class: class as u32,
                method: method as u32,
                site: site(frame),
                prefix: frame.prefix.and_then(|register| u32::try_from(register).ok()),
                calls: bounds.map(|Bounds { lower, upper }| (lower, upper)),
            },
        });
    }
    let (tree, places) = ContextTree::placed(&rows);
    let all = snapshot.all_groups();
    let section = trodden_profile::Contexts {
        weight: options.weight,
        algorithm: options.algorithm.name().to_owned(),
        thresholds: snapshot.thresholds().map(|t| (t.phi(), t.epsilon())),
        bursts: None,
        calls: snapshot.total(),
        absent: snapshot.absent(),
        peak_nodes: result.peak_contexts,
        peak_bytes: result.peak_bytes,
        dropped: result.dropped,
        orphans: result.tally.orphans,
        tree,
        groups: all.map(|all| BurstGroups::placed(all, groups, &places)),
    };
    (section, unknown)
}

fn site(frame: Frame) -> Option<u16> {
    (frame.site != UNKNOWN_SITE).then_some(frame.site)
}
