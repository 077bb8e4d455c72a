//! The trees of one method.

/// A node: the sequence of path numbers from its root down to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForestNode {
    /// Path number: the last one of the sequence.
    pub path: u64,
    /// How often the sequence occurred; in a forest that is not exact, at least this often.
    pub count: u64,
    /// Occurrences of which it is not known what came next, because a burst ended.
    pub cut: u64,
    /// Paths in the sequence: 1 at a root.
    pub length: u32,
    /// Nodes of its subtree, itself included.
    size: u32,
}

/// The k-iteration path forest of one method.
///
/// Nodes are in preorder with siblings by path number, so equal forests are equal as data. Three rules always hold:
/// a sequence's beginning is there if the sequence is, siblings have different path numbers, and the counters of a
/// node's children, and its [`cut`](ForestNode::cut), add up to no more than its own (k-BLPP section 2.2, property 1;
/// unless that is `u64::MAX`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathForest {
    nodes: Vec<ForestNode>,
    /// At index `i`: for length `i + 2`. No trailing zeros.
    missing: Vec<u64>,
}

/// Why nodes are no forest. `node` counts from 0 in the order given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForestProblem {
    /// A node comes without the node above it.
    #[error("node {node} of a path forest stands for {length} paths, but nothing above it does for one less")]
    Orphan {
        /// Which node.
        node: usize,
        /// Length of its sequence.
        length: u32,
    },
    /// Siblings are not in order, or there twice.
    #[error("node {node} of a path forest, path {path}, does not come in order")]
    Order {
        /// Which node.
        node: usize,
        /// Its path number.
        path: u64,
    },
    /// Children have more than their parent.
    #[error("the counters below node {node} of a path forest exceed its own, {count}")]
    Sum {
        /// Which node.
        node: usize,
        /// Its counter.
        count: u64,
    },
    /// More than 2^32 - 1 nodes.
    #[error("a path forest has too many nodes")]
    TooLarge,
}

impl ForestNode {
    /// Occurrences of which it is known what came next, if anything.
    pub fn known(&self) -> u64 {
        self.count.saturating_sub(self.cut)
    }
}

/// A node: length of the sequence, last path of it, counter, and how many of these were cut.
pub(super) type Row = (u32, u64, u64, u64);

impl PathForest {
    /// A forest from (length of the sequence, last path of it, counter) of each of its sequences, sorted: each
    /// sequence directly before those that continue it, siblings by path number.
    ///
    /// # Errors
    /// If they break the rules above.
    pub fn from_preorder(nodes: impl IntoIterator<Item = (u32, u64, u64)>) -> Result<Self, ForestProblem> {
        let rows = nodes
            .into_iter()
            .map(|(length, path, count)| (length, path, count, 0));
        Self::from_rows(rows)
    }

    /// A forest from rows that say what was cut.
    pub(super) fn from_rows(nodes: impl IntoIterator<Item = Row>) -> Result<Self, ForestProblem> {
        let mut forest = PathForest::default();
        // The branch down to the last node: node, what was cut and the sum of its children's counters, path of its
        // last child.
        let mut branch: Vec<(usize, u128, Option<u64>)> = Vec::new();
        let mut last_root = None;
        for (node, (length, path, count, cut)) in nodes.into_iter().enumerate() {
            if length == 0 || length as usize > branch.len() + 1 {
                return Err(ForestProblem::Orphan { node, length });
            }
            if node >= u32::MAX as usize {
                return Err(ForestProblem::TooLarge);
            }
            while branch.len() >= length as usize {
                forest.close(branch.pop())?;
            }
            let previous = match branch.last_mut() {
                Some((_, sum, previous)) => {
                    *sum += u128::from(count);
                    previous.replace(path)
                }
                None => last_root.replace(path),
            };
            if previous.is_some_and(|previous| previous >= path) {
                return Err(ForestProblem::Order { node, path });
            }
            forest.nodes.push(ForestNode {
                path,
                count,
                cut,
                length,
                size: 1,
            });
            branch.push((node, u128::from(cut), None));
        }
        while let Some(node) = branch.pop() {
            forest.close(Some(node))?;
        }
        Ok(forest)
    }

    /// The subtree of a node is complete.
    fn close(&mut self, branch: Option<(usize, u128, Option<u64>)>) -> Result<(), ForestProblem> {
        let Some((node, below, _)) = branch else {
            return Ok(());
        };
        let size = (self.nodes.len() - node) as u32;
        let entry = &mut self.nodes[node];
        entry.size = size;
        if below > u128::from(entry.count) && entry.count != u64::MAX {
            return Err(ForestProblem::Sum {
                node,
                count: entry.count,
            });
        }
        Ok(())
    }

    /// The same forest with its error: at index `i`, how many occurrences of sequences of `i + 2` paths are missing at
    /// most in all their counters together.
    pub fn with_missing(mut self, mut missing: Vec<u64>) -> Self {
        while missing.last() == Some(&0) {
            missing.pop();
        }
        self.missing = missing;
        self
    }

    /// The same forest, some occurrences of whose sequences were cut: how many, by sequence. What is more than those
    /// that nothing followed is left out.
    pub fn with_cuts<'s>(mut self, cuts: impl IntoIterator<Item = (&'s [u64], u64)>) -> Self {
        for (sequence, times) in cuts {
            let Some(node) = self.find(sequence) else { continue };
            let below = self
                .children(node)
                .fold(0u64, |sum, (_, child)| child.count.saturating_add(sum));
            let node = &mut self.nodes[node];
            let room = node.count.saturating_sub(below);
            node.cut = node.cut.saturating_add(times).min(room);
        }
        self
    }

    /// The same forest, as if nothing had been cut.
    pub(super) fn without_cuts(&self) -> Self {
        let mut forest = self.clone();
        forest.nodes.iter_mut().for_each(|node| node.cut = 0);
        forest
    }

    /// All nodes, in preorder.
    pub fn nodes(&self) -> &[ForestNode] {
        &self.nodes
    }

    /// Is there no sequence at all?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Are there occurrences of which it is not known what came next?
    pub fn has_cuts(&self) -> bool {
        self.nodes.iter().any(|node| node.cut > 0)
    }

    /// Is every counter exact? Not if cold sequences were pruned.
    pub fn is_exact(&self) -> bool {
        self.missing.is_empty()
    }

    /// How many occurrences of sequences of `length` paths are missing, at most, in all their counters together: 0
    /// where counters are exact, in particular for length 1.
    pub fn missing(&self, length: u32) -> u64 {
        let index = (length as usize).checked_sub(2);
        index.and_then(|i| self.missing.get(i)).copied().unwrap_or(0)
    }

    /// [`missing`](Self::missing) for length 2, 3 and so on, without trailing zeros.
    pub fn missing_by_length(&self) -> &[u64] {
        &self.missing
    }

    /// Paths in the longest sequence; 0 if there is none.
    pub fn longest(&self) -> u32 {
        self.nodes.iter().map(|node| node.length).max().unwrap_or(0)
    }

    /// Sum of the roots' counters: path ends in the forest.
    pub fn total(&self) -> u64 {
        self.roots()
            .fold(0, |sum, (_, root)| root.count.saturating_add(sum))
    }

    /// The roots with their indices in [`nodes`](Self::nodes), by path number.
    pub fn roots(&self) -> impl Iterator<Item = (usize, &ForestNode)> {
        self.siblings(0, self.nodes.len())
    }

    /// The children of a node, given by its index, with their indices, by path number. None if there is no such node.
    pub fn children(&self, node: usize) -> impl Iterator<Item = (usize, &ForestNode)> {
        let end = self.nodes.get(node).map_or(node, |n| node + n.size as usize);
        self.siblings(node + 1, end)
    }

    fn siblings(&self, from: usize, end: usize) -> impl Iterator<Item = (usize, &ForestNode)> {
        let mut at = from;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at).filter(|_| at < end)?;
            let index = at;
            at += node.size as usize;
            Some((index, node))
        })
    }

    /// The index of the node that a sequence of path numbers leads to.
    pub fn find(&self, sequence: &[u64]) -> Option<usize> {
        let (&first, rest) = sequence.split_first()?;
        let (root, _) = self.roots().find(|(_, node)| node.path == first)?;
        rest.iter().try_fold(root, |at, &path| {
            let child = self.children(at).find(|(_, node)| node.path == path);
            child.map(|(index, _)| index)
        })
    }

    /// How often a sequence of path numbers occurred (at least, if the forest is not exact); 0 if it is not there.
    pub fn count(&self, sequence: &[u64]) -> u64 {
        self.find(sequence).map_or(0, |node| self.nodes[node].count)
    }

    /// Every sequence with its counter, sorted.
    pub fn sequences(&self) -> impl Iterator<Item = (Vec<u64>, u64)> {
        let mut sequence = Vec::new();
        self.nodes.iter().map(move |node| {
            sequence.truncate(node.length as usize - 1);
            sequence.push(node.path);
            (sequence.clone(), node.count)
        })
    }

    /// The sum of two forests: counters and errors add up, saturating.
    ///
    /// # Errors
    /// [`ForestProblem::TooLarge`].
    pub fn plus(&self, other: &PathForest) -> Result<PathForest, ForestProblem> {
        let (mut a, mut b) = (self.nodes.iter().peekable(), other.nodes.iter().peekable());
        // Both are sorted and what lies in front of either is in the sum already, so the next node is that which
        // lies deeper (its branch is not finished), else that with the lesser path.
        let merged = std::iter::from_fn(|| {
            let row = |node: &ForestNode| (node.length, node.path, node.count, node.cut);
            let before = |x: &ForestNode, y: &ForestNode| (y.length, x.path) < (x.length, y.path);
            match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if (x.length, x.path) == (y.length, y.path) => {
                    let count = x.count.saturating_add(y.count);
                    let sum = (x.length, x.path, count, x.cut.saturating_add(y.cut));
                    a.next();
                    b.next();
                    Some(sum)
                }
                (Some(x), Some(y)) if before(x, y) => a.next().map(row),
                (Some(_), None) => a.next().map(row),
                (_, Some(_)) => b.next().map(row),
                (None, None) => None,
            }
        });
        let sum = PathForest::from_rows(merged)?;
        let lengths = self.missing.len().max(other.missing.len()) as u32;
        let missing = |length| self.missing(length).saturating_add(other.missing(length));
        Ok(sum.with_missing((2..lengths + 2).map(missing).collect()))
    }

    /// The same forest with other path numbers. `number` must give different ones for different ones.
    pub(crate) fn renumbered<E: From<ForestProblem>>(
        &self,
        mut number: impl FnMut(u64) -> Result<u64, E>,
    ) -> Result<Self, E> {
        let mut rows = Vec::with_capacity(self.nodes.len());
        let mut stack = Vec::new();
        let mut level: Vec<(u64, usize)> = Vec::new();
        for (root, node) in self.roots() {
            level.push((number(node.path)?, root));
        }
        loop {
            // The least comes off the stack first.
            level.sort_unstable_by(|a, b| b.cmp(a));
            stack.append(&mut level);
            let Some((path, index)) = stack.pop() else { break };
            let node = &self.nodes[index];
            rows.push((node.length, path, node.count, node.cut));
            for (child, node) in self.children(index) {
                level.push((number(node.path)?, child));
            }
        }
        let forest = PathForest::from_rows(rows)?;
        Ok(forest.with_missing(self.missing.clone()))
    }
}
