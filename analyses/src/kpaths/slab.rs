//! k-SF, the k-slab forest: what is updated while the program runs.

use super::activation::PathSink;
use super::arena::NONE;
use super::trees::{ForestStats, Trees};
use super::{ForestError, MAX_K};

/// The position of an activation in a k-slab forest: the paper's `n`, `τ` and `β`. Belongs to the forest that
/// began it.
#[derive(Clone, Debug)]
pub struct Cursor {
    pub(super) method: u32,
    /// Paths until the next chunk starts: `-n mod (k - 1)`.
    left: u32,
    /// `τ`: the current chunk, from its root.
    pub(super) top: u32,
    /// `β`: the previous chunk followed by the current one. [`NONE`] in the first chunk.
    pub(super) bottom: u32,
}

impl Cursor {
    fn new(method: u32) -> Self {
        Cursor {
            method,
            left: 0,
            top: NONE,
            bottom: NONE,
        }
    }

    /// As if the activation had just begun.
    pub(super) fn restart(&mut self) {
        *self = Cursor::new(self.method);
    }
}

/// A k-slab forest (k-BLPP section 4, definition 3), built from a stream as in its figure 11.
///
/// An activation's paths are cut into chunks of `k - 1`. The forest holds each chunk (upper slab) and each
/// chunk followed by the next (lower slab), so that any `k` paths in a row are found along some branch, and
/// each path that ends increments one counter: at the end of (previous chunk, current chunk so far), or in an
/// activation's first chunk at the end of that chunk so far. The sum of all counters is the length of the
/// stream.
///
/// Different from the paper, with the same result:
///
/// * A child that is hit moves to the front of its siblings (the paper's own proposal for its outlier,
///   section 6.2), and nodes with many children find them through a hash table.
/// * A node of the lower slab knows the node of the upper slab that goes with it (a function of the path to
///   it). So one child is looked up per path, not two, and the roots' table is used when an activation starts
///   and when a node is new; not once per chunk.
#[derive(Clone, Debug)]
pub struct SlabForest {
    pub(super) k: u32,
    pub(super) trees: Trees,
    pub(super) dropped: u64,
}

impl SlabForest {
    /// An empty forest for sequences of up to `k` paths. Fails unless `k` is from 2 to [`MAX_K`].
    pub fn new(k: u32) -> Result<Self, ForestError> {
        if !(2..=MAX_K).contains(&k) {
            return Err(ForestError::K(k));
        }
        Ok(SlabForest {
            k,
            trees: Trees::new(),
            dropped: 0,
        })
    }

    /// Longest sequence that is counted, in paths.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Allows at most this many nodes; without it, 2^32 - 2. At the limit, paths that need a new node are
    /// dropped and counted in [`dropped`](Self::dropped): an emergency stop. To live within a budget, use
    /// [`BoundedForest`](super::BoundedForest).
    pub fn set_node_limit(&mut self, nodes: u32) {
        self.trees.arena.set_limit(nodes);
    }

    /// Paths that are in no counter because the forest was full. After a drop the activation continues as a
    /// new one.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Sum of all counters: the number of paths taken in.
    pub fn total(&self) -> u64 {
        self.trees.total()
    }

    /// Accesses to the table of roots so far (k-BLPP figure 15; a hash-table profiler makes one per path).
    pub fn hash_lookups(&self) -> u64 {
        self.trees.lookups
    }

    /// Nodes, and bytes held by nodes and tables: those of [`stats`](Self::stats), without a walk.
    pub fn size(&self) -> (u64, u64) {
        (u64::from(self.trees.arena.len()), self.trees.bytes() as u64)
    }

    /// Size and shape.
    pub fn stats(&self) -> ForestStats {
        self.trees.stats()
    }

    /// Every node as method, path numbers from its root, and counter; sorted. Counters of the upper slab
    /// are 0 except where an activation's first chunk ended there.
    pub fn nodes(&self) -> Vec<(u32, Vec<u64>, u64)> {
        self.trees.sorted()
    }

    /// Adds a forest of another thread. Activations may be open in both, and continue. Fails if `k` differs
    /// (nothing changes) or if there would be too many nodes (part of `other` has been added).
    pub fn merge(&mut self, other: &SlabForest) -> Result<(), ForestError> {
        if self.k != other.k {
            return Err(ForestError::DifferentK(self.k, other.k));
        }
        let full = ForestError::Full(self.trees.arena.limit());
        self.trees.add(&other.trees).ok_or(full)?;
        self.trees.lookups += other.trees.lookups;
        self.dropped += other.dropped;
        Ok(())
    }

    /// `times` times these paths after the chunk `before`, or as an activation's first ones if that is empty.
    pub(super) fn add_chunk(
        &mut self,
        method: u32,
        before: impl Iterator<Item = u64>,
        paths: impl Iterator<Item = u64>,
        times: u64,
    ) -> Option<()> {
        let mut cursor = Cursor::new(method);
        for path in before {
            let label = self.trees.labels.label(path)?;
            cursor.top = self.trees.below(method, cursor.top, label)?;
        }
        for path in paths {
            self.advance(&mut cursor, path, times)?;
        }
        Some(())
    }

    /// `process_bl_path_id` of figure 11, repeated. `None` when the forest is full.
    ///
    /// Two almost equal branches, for speed: inside a chunk the next lookup must not wait for the link of the
    /// last.
    #[inline(always)]
    fn advance(&mut self, cursor: &mut Cursor, path: u64, times: u64) -> Option<()> {
        let label = self.trees.labels.label(path)?;
        if cursor.left != 0 && cursor.bottom != NONE {
            let node = self.trees.arena.child(cursor.bottom, label)?;
            cursor.top = self.count_lower(node, cursor.method, cursor.top, label, times)?;
            cursor.bottom = node;
            cursor.left -= 1;
        } else if cursor.left == 0 && cursor.top != NONE {
            let node = self.trees.arena.child(cursor.top, label)?;
            cursor.top = self.count_lower(node, cursor.method, NONE, label, times)?;
            cursor.bottom = node;
            cursor.left = self.k - 2;
        } else {
            let top = self.trees.below(cursor.method, cursor.top, label)?;
            self.trees.arena.get_mut(top).count += times;
            cursor.top = top;
            cursor.left = if cursor.left == 0 {
                self.k - 2
            } else {
                cursor.left - 1
            };
        }
        Some(())
    }

    /// Increments a node of the lower slab and returns the one of the upper slab that goes with it: the one
    /// below `top`, or a root.
    #[inline(always)]
    fn count_lower(&mut self, node: u32, method: u32, top: u32, label: u32, times: u64) -> Option<u32> {
        let link = self.trees.arena.get(node).link;
        if link == NONE {
            let link = self.trees.below(method, top, label)?;
            self.trees.arena.get_mut(node).link = link;
            self.trees.arena.get_mut(node).count += times;
            return Some(link);
        }
        self.trees.arena.get_mut(node).count += times;
        Some(link)
    }
}

impl PathSink for SlabForest {
    type Activation = Cursor;

    #[inline]
    fn begin(&self, method: u32) -> Cursor {
        Cursor::new(method)
    }

    #[inline(always)]
    fn path(&mut self, cursor: &mut Cursor, path: u64) {
        if self.advance(cursor, path, 1).is_none() {
            self.dropped += 1;
            cursor.restart();
        }
    }
}
