//! The tree: one node per context, in the order in which a walk meets them.

use std::collections::HashMap;

/// What tells a context from its siblings: class, method, call site, prefix.
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
    /// How often the context occurred, calls of callees not included: at least, and at most. `None` if nobody counted: the context
    /// is there because of those below it.
    pub calls: Option<(u64, u64)>,
}

impl ContextNode {
    /// What tells it from its siblings.
    pub fn key(&self) -> Key {
        (self.class, self.method, self.site, self.prefix)
    }

    /// The best estimate of its calls: it counts what was seen since the context is monitored.
    pub fn estimate(&self) -> u64 {
        self.calls.map_or(0, |(least, _)| least)
    }
}

/// A context whose place is told by the row of its caller.
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
    /// In words, if they are not in order, a depth is impossible, or bounds are.
    pub fn from_preorder(nodes: Vec<ContextNode>) -> Result<Self, String> {
        let mut last: Vec<Key> = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let above = match (node.depth as usize).checked_sub(1) {
                Some(above) if above <= last.len() => above,
                _ => {
                    return Err(format!(
                        "context {at} is at depth {} after {}",
                        node.depth,
                        last.len()
                    ));
                }
            };
            if last.get(above).is_some_and(|before| *before >= node.key()) {
                return Err(format!("context {at} is not behind its sibling"));
            }
            if node.calls.is_some_and(|(least, most)| least > most) {
                return Err(format!(
                    "context {at} has at least {:?} calls at most",
                    node.calls
                ));
            }
            last.truncate(above);
            last.push(node.key());
        }
        Ok(ContextTree(nodes))
    }

    /// From rows in any order but that callers come first. Rows for the same context are added up. A row whose caller does not
    /// come before it counts as a thread's first.
    pub fn from_rows(rows: &[ContextRow]) -> Self {
        Self::placed(rows).0
    }

    /// The same, and for each row the index of its context.
    pub fn placed(rows: &[ContextRow]) -> (Self, Vec<u32>) {
        // Same contexts first: the place of each row among the different ones.
        let mut places: Vec<u32> = Vec::with_capacity(rows.len());
        let mut nodes: Vec<(Option<u32>, ContextNode)> = Vec::with_capacity(rows.len());
        let mut known: HashMap<(Option<u32>, Key), u32> = HashMap::with_capacity(rows.len());
        for row in rows {
            let parent = row.parent.and_then(|parent| places.get(parent as usize).copied());
            let next = nodes.len() as u32;
            let place = *known.entry((parent, row.node.key())).or_insert(next);
            places.push(place);
            if place == next {
                let depth = parent.map_or(0, |parent| nodes[parent as usize].1.depth) + 1;
                nodes.push((parent, ContextNode { depth, ..row.node }));
            } else {
                let calls = &mut nodes[place as usize].1.calls;
                *calls = match (*calls, row.node.calls) {
                    (Some(a), Some(b)) => Some((a.0.saturating_add(b.0), a.1.saturating_add(b.1))),
                    (a, b) => a.or(b),
                };
            }
        }
        drop(known);
        // Children of a node side by side, in order; then from the roots down, last ones first on the stack.
        let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
        order.sort_unstable_by_key(|&at| {
            let (parent, node) = &nodes[at as usize];
            (*parent, node.key())
        });
        let parent_of = |at: u32| nodes[at as usize].0;
        let first_of = |parent: Option<u32>| order.partition_point(|&at| parent_of(at) < parent);
        let children = |parent: Option<u32>| {
            let from = first_of(parent);
            let count = order[from..]
                .iter()
                .take_while(|&&at| parent_of(at) == parent)
                .count();
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
        let places = places.into_iter().map(|place| index[place as usize]).collect();
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
        let mut path: Vec<u32> = Vec::new();
        let parent = |(at, node): (usize, &ContextNode)| {
            path.truncate(node.depth as usize - 1);
            let parent = path.last().copied();
            path.push(at as u32);
            parent
        };
        self.0.iter().enumerate().map(parent).collect()
    }

    /// Which contexts are wanted or above one that is.
    pub fn with_ancestors(&self, wanted: impl Fn(&ContextNode) -> bool) -> Vec<bool> {
        let mut keep: Vec<bool> = self.0.iter().map(wanted).collect();
        for (at, parent) in self.parents().into_iter().enumerate().rev() {
            if let Some(parent) = parent {
                keep[parent as usize] |= keep[at];
            }
        }
        keep
    }

    /// Per context, the estimated calls of it and of all below it.
    pub fn inclusive(&self) -> Vec<u64> {
        let mut sums: Vec<u64> = self.0.iter().map(ContextNode::estimate).collect();
        for (at, parent) in self.parents().into_iter().enumerate().rev() {
            if let Some(parent) = parent {
                sums[parent as usize] = sums[parent as usize].saturating_add(sums[at]);
            }
        }
        sums
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
        let refused = |nodes: &[ContextNode]| ContextTree::from_preorder(nodes.to_vec()).unwrap_err();
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
            .contains("at least")
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
