//! k-IPF, the k-iteration path forest: the result.

use std::cmp::Reverse;

use super::arena::NONE;
use super::losses::Losses;
use super::slab::SlabForest;
use super::trees::{ForestStats, Trees};

/// A k-iteration path forest (k-BLPP section 2.2, definition 2).
///
/// Per method, each branch from a root is a sequence of up to `k` paths that followed each other in an
/// activation; the counter at its end says how often that sequence occurred. Counters never rise along a
/// branch, level 1 is the plain Ball-Larus profile, and the forest of a smaller `k` is the upper part of this
/// one.
#[derive(Clone, Debug)]
pub struct IterationForest {
    pub(super) k: u32,
    pub(super) trees: Trees,
    /// Occurrences that are missing, if the stream was consumed within a budget.
    pub(super) losses: Losses,
}

impl IterationForest {
    pub(super) fn empty(k: u32) -> Self {
        IterationForest {
            k,
            trees: Trees::new(),
            losses: Losses::default(),
        }
    }

    /// The forest that belongs to a k-slab forest: `make_k_ipf` of k-BLPP figure 12.
    ///
    /// Takes time in proportion to the slab forest's nodes times the nodes within `k - 1` edges below each.
    pub fn from_slabs(slabs: &SlabForest) -> Self {
        let mut forest = IterationForest::empty(slabs.k);
        // s(r), the nodes of each label, one label after the other.
        let mut starts = Vec::with_capacity(slabs.trees.arena.len() as usize);
        let label = |node| slabs.trees.arena.get(node).label;
        slabs
            .trees
            .walk(|method, _, node| starts.push((method, label(node), node)));
        starts.sort_unstable();
        forest.trees.labels = slabs.trees.labels.clone();
        for (method, _, node) in starts {
            forest.join_subtree(&slabs.trees, method, node, NONE, slabs.k);
        }
        forest
    }

    /// Adds the uppermost `levels` levels below `from` as children of `parent` (figure 12).
    fn join_subtree(&mut self, slabs: &Trees, method: u32, from: u32, parent: u32, levels: u32) {
        let node = slabs.arena.get(from);
        // Same labels in both forests, and never more nodes: each sequence is in the slab forest as well.
        let Some(to) = self.trees.below(method, parent, node.label) else {
            return;
        };
        self.trees.arena.get_mut(to).count += node.count;
        if levels > 1 {
            for child in slabs.arena.children(from) {
                self.join_subtree(slabs, method, child, to, levels - 1);
            }
        }
    }

    /// Longest sequence that is counted, in paths.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Returns true if every counter is exact. None is after pruning, see
    /// [`BoundedForest`](super::BoundedForest).
    pub fn is_exact(&self) -> bool {
        self.losses.is_empty()
    }

    /// How many occurrences of sequences of `length` paths of this method are missing, at most, in all their
    /// counters together. 0 where counters are exact, in particular for length 1.
    pub fn missing(&self, method: u32, length: usize) -> u64 {
        self.losses.get(method, length)
    }

    /// How often this sequence of path numbers occurred in the method; 0 for sequences not in the forest.
    pub fn count(&self, method: u32, paths: &[u64]) -> u64 {
        self.find(method, paths).map_or(0, |node| node.count())
    }

    /// The node that a sequence of path numbers leads to.
    pub fn find(&self, method: u32, paths: &[u64]) -> Option<PathNode<'_>> {
        let (&first, rest) = paths.split_first()?;
        let root = self.trees.find(method, &[self.trees.labels.find(first)?])?;
        rest.iter().try_fold(self.root(method, root), |node, &path| {
            let label = self.trees.labels.find(path)?;
            Some(node.below(self.trees.arena.find_child(node.node, label)?))
        })
    }

    /// All roots, by method, the most frequent first.
    pub fn roots(&self) -> Vec<PathNode<'_>> {
        let roots = self.trees.roots();
        let mut roots: Vec<_> = roots.map(|(method, root)| self.root(method, root)).collect();
        roots.sort_unstable_by_key(|root| (root.method(), Reverse(root.count()), root.path()));
        roots
    }

    /// Every sequence as method, path numbers and counter; sorted. Two forests of the same stream give the
    /// same.
    pub fn sequences(&self) -> Vec<(u32, Vec<u64>, u64)> {
        self.trees.sorted()
    }

    /// Every sequence as method, length, last path and counter, sorted by method and then by sequence: each
    /// one is right before those that extend it.
    pub fn preorder(&self) -> Vec<(u32, u32, u64, u64)> {
        let mut rows = Vec::with_capacity(self.trees.arena.len() as usize);
        let path = |node| self.trees.labels.path(self.trees.arena.get(node).label);
        let roots = self
            .trees
            .roots()
            .map(|(method, root)| (method, 1, path(root), root));
        let mut stack: Vec<(u32, u32, u64, u32)> = roots.collect();
        stack.sort_unstable_by(|a, b| b.cmp(a));
        while let Some((method, length, last, node)) = stack.pop() {
            rows.push((method, length, last, self.trees.arena.get(node).count));
            let from = stack.len();
            let children = self.trees.arena.children(node);
            stack.extend(children.map(|child| (method, length + 1, path(child), child)));
            stack[from..].sort_unstable_by(|a, b| b.cmp(a));
        }
        rows
    }

    /// Size and shape.
    pub fn stats(&self) -> ForestStats {
        self.trees.stats()
    }

    fn root(&self, method: u32, node: u32) -> PathNode<'_> {
        PathNode {
            forest: self,
            node,
            method,
            length: 1,
            at_most: self.trees.arena.get(node).count,
        }
    }
}

/// A node of an [`IterationForest`]: the sequence of paths from its root to it.
#[derive(Clone, Copy, Debug)]
pub struct PathNode<'a> {
    forest: &'a IterationForest,
    node: u32,
    method: u32,
    length: usize,
    at_most: u64,
}

impl<'a> PathNode<'a> {
    /// Index of the method.
    pub fn method(&self) -> u32 {
        self.method
    }

    /// Path number: the last one of the sequence.
    pub fn path(&self) -> u64 {
        let labels = &self.forest.trees.labels;
        labels.path(self.forest.trees.arena.get(self.node).label)
    }

    /// Paths in the sequence: 1 at a root.
    pub fn length(&self) -> usize {
        self.length
    }

    /// How often the sequence occurred. In a forest that is not exact: at least this often.
    pub fn count(&self) -> u64 {
        self.forest.trees.arena.get(self.node).count
    }

    /// How often the sequence occurred at most. The same as [`count`](Self::count) where that is exact.
    pub fn at_most(&self) -> u64 {
        self.at_most
    }

    /// The sequences that are longer by one path, the most frequent first.
    pub fn children(&self) -> Vec<PathNode<'a>> {
        let children = self.forest.trees.arena.children(self.node);
        let mut children: Vec<_> = children.map(|child| self.below(child)).collect();
        children.sort_unstable_by_key(|child| (Reverse(child.count()), child.path()));
        children
    }

    fn below(&self, node: u32) -> PathNode<'a> {
        let length = self.length + 1;
        let count = self.forest.trees.arena.get(node).count;
        PathNode {
            node,
            length,
            at_most: (count + self.forest.missing(self.method, length)).min(self.at_most),
            ..*self
        }
    }
}
