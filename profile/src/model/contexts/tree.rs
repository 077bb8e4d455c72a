//! The tree: one node per context, in the order in which a walk meets them.

use crate::model::fault::Fault;
use crate::model::preorder::{self, Node};

/// Key by which a context differs from its siblings: class, method, call site, prefix.
pub type Key = (u32, u32, Option<u16>, Option<u32>);

/// A context: its innermost activation, and what is known of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextNode {
    /// Activations in the context, from 1.
    pub depth: u32,
    /// Index of the method's class in [`Profile::classes`](crate::Profile::classes).
    pub class: u32,
    /// Index of the method in [`ClassMap::methods`](crate::ClassMap::methods).
    pub method: u32,
    /// Bytecode index of the call in the caller, if it is known. The caller is the next activation with probes: there may be
    /// others without in between.
    pub site: Option<u16>,
    /// Path register of the caller at the call: with the call site it stands for the one acyclic path that the caller took to get
    /// there (PEP section 3.2). `None` if that was not recorded.
    pub prefix: Option<u32>,
    /// How often the context occurred, calls of callees not included: at least, and at most. `None` if none were counted: the context
    /// is there because of those below it.
    pub calls: Option<(u64, u64)>,
}

impl Node for ContextNode {
    type Key = Key;

    const NAME: &'static str = "context";

    fn depth(&self) -> u32 {
        self.depth
    }

    fn at_depth(self, depth: u32) -> Self {
        ContextNode { depth, ..self }
    }

    fn key(&self) -> Key {
        (self.class, self.method, self.site, self.prefix)
    }

    fn add(&mut self, other: &Self) {
        self.calls = match (self.calls, other.calls) {
            (Some(a), Some(b)) => Some((a.0.saturating_add(b.0), a.1.saturating_add(b.1))),
            (a, b) => a.or(b),
        };
    }
}

impl ContextNode {
    /// The best estimate of its calls: it counts what was seen since the context is monitored.
    pub fn estimate(&self) -> u64 {
        self.calls.map_or(0, |(least, _)| least)
    }
}

/// A context with the row of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextRow {
    /// The row of the context that it was called from, which comes before this one; `None` for a thread's first.
    pub parent: Option<u32>,
    /// The context; its depth is not looked at.
    pub node: ContextNode,
}

/// Contexts in preorder, siblings by class, method, call site and prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextTree(Vec<ContextNode>);

impl ContextTree {
    /// From nodes in order.
    ///
    /// # Errors
    /// If they are not in order, a depth is impossible, or bounds are.
    pub fn from_preorder(nodes: Vec<ContextNode>) -> Result<Self, Fault> {
        preorder::check(&nodes)?;
        for (least, most) in nodes.iter().filter_map(|node| node.calls) {
            Fault::range("least calls of a context", least, 0..=most)?;
        }
        Ok(ContextTree(nodes))
    }

    /// From rows in any order but that callers come first. Rows for the same context are added up. A row whose caller does not
    /// come before it counts as a thread's first.
    pub fn from_rows(rows: &[ContextRow]) -> Self {
        Self::placed(rows).0
    }

    /// Like [`from_rows`](Self::from_rows), with the index of each row's context.
    pub fn placed(rows: &[ContextRow]) -> (Self, Vec<Option<u32>>) {
        let row = |at: u32| {
            let row = &rows[at as usize];
            let parent = row.parent.filter(|&parent| parent < at);
            (parent, Some(row.node))
        };
        Self::placed_by(rows.len(), row)
    }

    /// The same of `count` rows, each of which `row` gives: its caller's, and its context. Rows without a context are left out,
    /// with those below them.
    pub fn placed_by(
        count: usize,
        row: impl Fn(u32) -> (Option<u32>, Option<ContextNode>),
    ) -> (Self, Vec<Option<u32>>) {
        let (tree, places) = preorder::from_rows(count, row);
        (ContextTree(tree), places)
    }

    /// The contexts, in order.
    pub fn nodes(&self) -> &[ContextNode] {
        &self.0
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Per context the index of the one that it was called from.
    pub fn parents(&self) -> Vec<Option<u32>> {
        preorder::parents(&self.0)
    }

    /// Which contexts are wanted or above one that is.
    pub fn with_ancestors(&self, wanted: impl FnMut(&ContextNode) -> bool) -> Vec<bool> {
        preorder::inclusive(&self.0, wanted, |own, below| own || below)
    }

    /// Per context, the estimated calls of it and of all below it.
    pub fn inclusive(&self) -> Vec<u64> {
        preorder::inclusive(&self.0, ContextNode::estimate, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(depth: u32, method: u32, site: Option<u16>, calls: u64) -> ContextNode {
        ContextNode {
            depth,
            class: 0,
            method,
            site,
            prefix: None,
            calls: (calls > 0).then_some((calls, calls)),
        }
    }

    fn row(parent: Option<u32>, method: u32, calls: u64) -> ContextRow {
        ContextRow {
            parent,
            node: node(0, method, Some(3), calls),
        }
    }

    #[test]
    fn rows_become_a_tree() {
        let rows = [
            row(None, 5, 1),
            row(Some(0), 2, 4),
            row(None, 1, 2),
            row(Some(0), 1, 3),
            row(Some(1), 7, 1),
            row(Some(0), 2, 6),
            row(Some(5), 7, 1),
        ];
        let tree = ContextTree::from_rows(&rows);
        let shape: Vec<(u32, u32, u64)> = tree
            .nodes()
            .iter()
            .map(|n| (n.depth, n.method, n.estimate()))
            .collect();
        assert_eq!(shape, [(1, 1, 2), (1, 5, 1), (2, 1, 3), (2, 2, 10), (3, 7, 2)]);
        assert_eq!(
            ContextTree::from_preorder(tree.nodes().to_vec()),
            Ok(tree.clone())
        );
        assert_eq!(tree.parents(), [None, None, Some(1), Some(1), Some(3)]);
        assert_eq!(tree.inclusive(), [2, 16, 3, 12, 2]);
        assert_eq!(
            tree.with_ancestors(|n| n.estimate() == 10),
            [false, true, false, true, false]
        );
    }

    #[test]
    fn nodes_out_of_order_are_refused() {
        let refused = |nodes: &[ContextNode]| {
            ContextTree::from_preorder(nodes.to_vec())
                .unwrap_err()
                .to_string()
        };
        assert!(refused(&[node(2, 0, None, 1)]).contains("depth 2 after 0"));
        assert!(refused(&[node(0, 0, None, 1)]).contains("depth 0"));
        assert!(refused(&[node(1, 1, None, 1), node(1, 0, None, 1)]).contains("behind"));
        assert!(
            refused(&[node(1, 1, Some(0), 1), node(2, 0, None, 1), node(1, 1, None, 1)]).contains("behind")
        );
        assert!(
            refused(&[ContextNode {
                calls: Some((2, 1)),
                ..node(1, 0, None, 1)
            }])
            .contains("least calls of a context: 2")
        );
    }

    #[test]
    fn a_million_activations_deep() {
        let rows: Vec<ContextRow> = (0..1_000_000u32).map(|at| row(at.checked_sub(1), 1, 1)).collect();
        let tree = ContextTree::from_rows(&rows);
        assert_eq!(tree.nodes().last().map(|n| n.depth), Some(1_000_000));
        assert_eq!(tree.inclusive()[0], 1_000_000);
    }
}
