//! Calls of contexts between two readings, where all are counted exactly.

use std::collections::HashMap;

use super::tree::Key;
use super::{BurstGroups, ContextNode, ContextRow, ContextTree, Contexts};
use crate::model::errors::SubtractError;
use crate::model::places::place;
use crate::model::preorder::Node;
use crate::model::profile::Profile;

/// A context by those above it.
type Place = (Option<u32>, Key);

/// Contexts with calls in between, and those above them.
pub(super) fn subtract(now: &Profile, before: &Profile) -> Result<Option<Contexts>, SubtractError> {
    let fell = || SubtractError::Fell {
        what: "calls of contexts".to_owned(),
    };
    let (all, then) = match (&now.contexts, &before.contexts) {
        (None, None) => return Ok(None),
        (None, Some(_)) => return Err(fell()),
        (Some(all), None) => return Ok(Some(all.clone())),
        (Some(all), Some(then)) => (all, then),
    };
    if !all.is_exact() || !then.is_exact() || all.weight != then.weight {
        return Err(SubtractError::Estimates {
            what: "contexts that are not all counted",
        });
    }
    let nodes = all.tree.nodes();
    let parents = all.tree.parents();
    let known = nodes.iter().zip(&parents).zip(0u32..);
    let known: HashMap<Place, u32> = known
        .map(|((node, parent), at)| ((*parent, node.key()), at))
        .collect();
    let mut calls: Vec<Option<u64>> = nodes
        .iter()
        .map(|node| node.calls.map(|(least, _)| least))
        .collect();
    let mut groups = match (&all.groups, &then.groups) {
        (Some(all), Some(then)) => Some((all.clone(), all.all.minus(&then.all).ok_or_else(fell)?)),
        _ => None,
    };
    // Per depth: the context's place among those of now.
    let mut above: Vec<u32> = Vec::new();
    for (own_at, node) in then.tree.nodes().iter().enumerate() {
        above.truncate(node.depth as usize - 1);
        let (class, method) =
            place(before, node.class as usize, node.method as usize, &now.classes).ok_or_else(fell)?;
        let (own, other) = (&before.classes[node.class as usize].map, &now.classes[class].map);
        // Path registers are numbers of the caller's map, which is hardly ever another one.
        if node.prefix.is_some() && own.methods != other.methods {
            return Err(SubtractError::Estimates {
                what: "paths to calls under other numbers",
            });
        }
        let key = ContextNode {
            class: class as u32,
            method: method as u32,
            ..*node
        }
        .key();
        let at = *known.get(&(above.last().copied(), key)).ok_or_else(fell)?;
        above.push(at);
        let earlier = then.groups.as_ref().and_then(|groups| groups.of(own_at));
        if let (Some((groups, _)), Some(earlier)) = (&mut groups, earlier) {
            let of = groups.of_mut(at as usize).ok_or_else(fell)?;
            *of = of.minus(earlier).ok_or_else(fell)?;
        }
        if let Some((times, _)) = node.calls {
            let left = calls[at as usize].as_mut().and_then(|calls| {
                *calls = calls.checked_sub(times)?;
                Some(())
            });
            left.ok_or_else(fell)?;
        }
    }
    // Those without calls stay where there is one with calls below.
    let counted: Vec<bool> = calls
        .iter()
        .map(|calls| calls.is_some_and(|calls| calls > 0))
        .collect();
    let mut is_counted = counted.iter().copied();
    let kept = all.tree.with_ancestors(|_| is_counted.next().unwrap_or_default());
    let mut places: Vec<Option<u32>> = Vec::with_capacity(nodes.len());
    let mut rows: Vec<ContextRow> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        places.push(kept[at].then_some(rows.len() as u32));
        if kept[at] {
            let parent = parents[at].and_then(|parent| places[parent as usize]);
            let calls = calls[at].filter(|_| counted[at]).map(|calls| (calls, calls));
            rows.push(ContextRow {
                parent,
                node: ContextNode { calls, ..*node },
            });
        }
    }
    // Rows are in the tree's order already.
    let groups = groups.map(|(groups, all)| {
        let kept = groups.contexts.into_iter();
        let kept = kept.filter_map(|(at, by_group)| Some((places[at as usize]?, by_group)));
        BurstGroups::placed(all, kept)
    });
    let less = |now: u64, then: u64| now.checked_sub(then).ok_or_else(fell);
    Ok(Some(Contexts {
        calls: less(all.calls, then.calls)?,
        absent: less(all.absent, then.absent)?,
        // What they took says nothing of the program.
        peak_nodes: all.peak_nodes.saturating_sub(then.peak_nodes),
        peak_bytes: all.peak_bytes.saturating_sub(then.peak_bytes),
        dropped: less(all.dropped, then.dropped)?,
        orphans: less(all.orphans, then.orphans)?,
        tree: ContextTree::from_rows(&rows),
        groups,
        ..all.clone()
    }))
}
