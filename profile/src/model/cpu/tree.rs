//! The tree of stacks: one node per stack, in the order in which a walk meets them.

use std::collections::HashMap;

use super::CpuTime;

/// What tells a stack from its siblings: frame, bytecode index.
pub(super) type Key = (u32, Option<u16>);

/// A stack: its innermost frame, and the samples that were taken in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuNode {
    /// Frames of the stack, from 1: the outermost one.
    pub depth: u32,
    /// Index of the frame in [`CpuSamples::frames`](super::CpuSamples::frames).
    pub frame: u32,
    /// Bytecode index in that method: of the call, in outer frames. `None` if it is not known, and for what has none.
    pub bci: Option<u16>,
    /// Samples taken in this very stack, those in callees not included.
    pub own: CpuTime,
}

impl CpuNode {
    pub(super) fn key(&self) -> Key {
        (self.frame, self.bci)
    }
}

/// A stack whose place is told by the row of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuRow {
    /// The row of the stack without the innermost frame, which comes before this one; `None` for an outermost frame.
    pub parent: Option<u32>,
    /// The frame.
    pub frame: u32,
    /// Its bytecode index.
    pub bci: Option<u16>,
    /// Samples in this very stack.
    pub own: CpuTime,
}

/// Stacks in preorder, siblings by frame and bytecode index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTree(pub(super) Vec<CpuNode>);

impl CpuTree {
    /// From nodes in order.
    ///
    /// # Errors
    /// In words, if they are not in order, or a depth is impossible.
    pub fn from_preorder(nodes: Vec<CpuNode>) -> Result<Self, String> {
        let mut last: Vec<Key> = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let above = (node.depth as usize).checked_sub(1);
            let above = above.filter(|&above| above <= last.len()).ok_or_else(|| {
                let (depth, before) = (node.depth, last.len());
                format!("stack {at} of CPU samples is at depth {depth} after {before}")
            })?;
            if last.get(above).is_some_and(|before| *before >= node.key()) {
                return Err(format!("stack {at} of CPU samples is not behind its sibling"));
            }
            last.truncate(above);
            last.push(node.key());
        }
        Ok(CpuTree(nodes))
    }

    /// From rows in any order but that callers come first. Rows for the same stack are added up. `frame` gives the number
    /// of a row's frame; rows without one are left out, and so are rows whose caller is.
    pub fn from_rows(rows: &[CpuRow], frame: impl Fn(u32) -> Option<u32>) -> Self {
        // Same stacks first: the place of each row among the different ones.
        let mut places: Vec<Option<u32>> = Vec::with_capacity(rows.len());
        let mut nodes: Vec<(Option<u32>, CpuNode)> = Vec::with_capacity(rows.len());
        let mut known: HashMap<(Option<u32>, Key), u32> = HashMap::with_capacity(rows.len());
        for row in rows {
            let parent = row
                .parent
                .map(|parent| places.get(parent as usize).copied().flatten());
            let (Some(frame), false) = (frame(row.frame), parent == Some(None)) else {
                places.push(None);
                continue;
            };
            let parent = parent.flatten();
            let next = nodes.len() as u32;
            let place = *known.entry((parent, (frame, row.bci))).or_insert(next);
            places.push(Some(place));
            if place == next {
                let depth = parent.map_or(0, |parent| nodes[parent as usize].1.depth) + 1;
                let (bci, own) = (row.bci, row.own);
                nodes.push((
                    parent,
                    CpuNode {
                        depth,
                        frame,
                        bci,
                        own,
                    },
                ));
            } else {
                let node = &mut nodes[place as usize].1;
                node.own = node.own.plus(row.own);
            }
        }
        drop((places, known));
        // Children of a node side by side, in order; then from the roots down, last ones first on the stack.
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
        let mut stack: Vec<u32> = children(None).collect();
        while let Some(at) = stack.pop() {
            tree.push(nodes[at as usize].1);
            stack.extend(children(Some(at)));
        }
        CpuTree(tree)
    }

    /// The tree as rows.
    pub fn rows(&self) -> Vec<CpuRow> {
        let mut above: Vec<u32> = Vec::new();
        let row = |(at, node): (usize, &CpuNode)| {
            above.truncate(node.depth as usize - 1);
            let parent = above.last().copied();
            above.push(at as u32);
            CpuRow {
                parent,
                frame: node.frame,
                bci: node.bci,
                own: node.own,
            }
        };
        self.0.iter().enumerate().map(row).collect()
    }

    /// The stacks, in order.
    pub fn nodes(&self) -> &[CpuNode] {
        &self.0
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Per node, in order, the samples in it and in all below it.
    pub fn totals(&self) -> Vec<CpuTime> {
        let mut totals: Vec<CpuTime> = self.0.iter().map(|node| node.own).collect();
        // Those of the nodes behind, by depth.
        let mut below: Vec<CpuTime> = Vec::new();
        for (at, node) in self.0.iter().enumerate().rev() {
            let depth = node.depth as usize;
            below.resize(below.len().max(depth + 1), CpuTime::default());
            totals[at] = totals[at].plus(std::mem::take(&mut below[depth]));
            below[depth - 1] = below[depth - 1].plus(totals[at]);
        }
        totals
    }
}
