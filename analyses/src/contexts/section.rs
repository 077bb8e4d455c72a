//! Contexts in a profile: there and back.

use trodden_profile::{BurstGroups, ContextNode, ContextTree};

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
    let (tree, places) = ContextTree::placed_by(snapshot.contexts(), |at| {
        let (frame, parent, bounds) = snapshot.node(at as usize);
        let node = places.place(frame.method).map(|(class, method)| ContextNode {
            depth: 0,
            class: class as u32,
            method: method as u32,
            site: site(frame),
            prefix: frame.prefix.and_then(|register| u32::try_from(register).ok()),
            calls: bounds.map(|Bounds { lower, upper }| (lower, upper)),
        });
        (parent, node)
    });
    let lost = places
        .iter()
        .zip(snapshot.nodes())
        .filter(|(place, _)| place.is_none());
    let unknown = lost
        .map(|(_, (.., bounds))| bounds.map_or(0, |bounds| bounds.lower))
        .sum();
    let groups = snapshot.all_groups().map(|all| {
        let groups =
            (places.iter().enumerate()).filter_map(|(at, place)| Some(((*place)?, snapshot.groups(at)?)));
        BurstGroups::placed(all, groups)
    });
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
        groups,
    };
    (section, unknown)
}

fn site(frame: Frame) -> Option<u16> {
    (frame.site != UNKNOWN_SITE).then_some(frame.site)
}
