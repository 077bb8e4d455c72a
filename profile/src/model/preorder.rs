//! Trees as lists of their nodes in preorder, siblings by key: calling contexts, and stacks of CPU samples.

use std::collections::HashMap;
use std::hash::Hash;

use crate::model::fault::{Fault, ensure};

/// A node of such a tree.
pub(crate) trait Node: Copy {
    /// Key by which a node differs from its siblings.
    type Key: Copy + Ord + Hash;

    /// The word for it in messages.
    const NAME: &'static str;

    /// Nodes from the root down to it: 1 at a root.
    fn depth(&self) -> u32;

    /// The node at another depth.
    fn at_depth(self, depth: u32) -> Self;

    /// Its key.
    fn key(&self) -> Self::Key;

    /// Adds a node of the same place.
    fn add(&mut self, other: &Self);
}

/// Refuses nodes that are not in order, or at an impossible depth.
pub(crate) fn check<N: Node>(nodes: &[N]) -> Result<(), Fault> {
    let mut last: Vec<N::Key> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let above = (node.depth() as usize).checked_sub(1);
        let above = above.filter(|&above| above <= last.len());
        let above = above.ok_or(Fault::Depth(N::NAME, at, node.depth(), last.len()))?;
        let is_behind = last.get(above).is_none_or(|before| *before < node.key());
        ensure(is_behind, || Fault::Sibling(N::NAME, at))?;
        last.truncate(above);
        last.push(node.key());
    }
    Ok(())
}

/// A tree from rows in any order but that parents come first, each with the row of its parent; and the index of each
/// row's node. Rows of the same place are added up. Rows without a node are left out, with those below them.
pub(crate) fn from_rows<N: Node>(
    rows: impl ExactSizeIterator<Item = (Option<u32>, Option<N>)>,
) -> (Vec<N>, Vec<Option<u32>>) {
    // Same places first: that of each row among the different ones.
    let mut places: Vec<Option<u32>> = Vec::with_capacity(rows.len());
    let mut nodes: Vec<(Option<u32>, N)> = Vec::with_capacity(rows.len());
    let mut known: HashMap<(Option<u32>, N::Key), u32> = HashMap::with_capacity(rows.len());
    for (parent, node) in rows {
        let parent = parent.map(|parent| places.get(parent as usize).copied().flatten());
        let (Some(node), false) = (node, parent == Some(None)) else {
            places.push(None);
            continue;
        };
        let parent = parent.flatten();
        let next = nodes.len() as u32;
        let place = *known.entry((parent, node.key())).or_insert(next);
        places.push(Some(place));
        if place == next {
            let above = parent.map_or(0, |parent| nodes[parent as usize].1.depth());
            nodes.push((parent, node.at_depth(above + 1)));
        } else {
            nodes[place as usize].1.add(&node);
        }
    }
    drop(known);
    // Children of a node next to each other, in order; then from the roots down, last ones first on the stack.
    let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
    order.sort_unstable_by_key(|&at| {
        let (parent, node) = &nodes[at as usize];
        (*parent, node.key())
    });
    let parent_of = |at: u32| nodes[at as usize].0;
    let children = |parent: Option<u32>| {
        let from = order.partition_point(|&at| parent_of(at) < parent);
        let rest = order[from..].iter();
        let count = rest.take_while(|&&at| parent_of(at) == parent).count();
        order[from..from + count].iter().rev().copied()
    };
    let mut tree = Vec::with_capacity(nodes.len());
    let mut index = vec![0; nodes.len()];
    let mut stack: Vec<u32> = children(None).collect();
    while let Some(at) = stack.pop() {
        index[at as usize] = tree.len() as u32;
        tree.push(nodes[at as usize].1);
        stack.extend(children(Some(at)));
    }
    let placed = |place: Option<u32>| place.map(|place| index[place as usize]);
    let places = places.into_iter().map(placed).collect();
    (tree, places)
}

/// Per node the index of its parent.
pub(crate) fn parents<N: Node>(nodes: &[N]) -> Vec<Option<u32>> {
    let mut path: Vec<u32> = Vec::new();
    let parent = |(at, node): (u32, &N)| {
        path.truncate(node.depth() as usize - 1);
        let parent = path.last().copied();
        path.push(at);
        parent
    };
    (0..).zip(nodes).map(parent).collect()
}

/// Per node its value combined with those of all nodes below it.
pub(crate) fn inclusive<N: Node, T: Copy>(
    nodes: &[N],
    value: impl FnMut(&N) -> T,
    combine: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut values: Vec<T> = nodes.iter().map(value).collect();
    for (at, parent) in parents(nodes).into_iter().enumerate().rev() {
        if let Some(parent) = parent {
            values[parent as usize] = combine(values[parent as usize], values[at]);
        }
    }
    values
}
