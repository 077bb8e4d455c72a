//! k-SF within a budget of nodes.

use super::ForestError;
use super::activation::PathSink;
use super::arena::{Arena, NONE};
use super::iteration::IterationForest;
use super::losses::Losses;
use super::slab::{Cursor, SlabForest};
use super::trees::ForestStats;

/// A [`SlabForest`] that prunes cold nodes while the stream goes on.
///
/// **Budget.** There are never more than `budget` nodes below the roots. Roots are not pruned and come on
/// top: one per different Ball-Larus path at most, so no more than a hash-table profiler has entries.
///
/// **Pruning.** When the budget is used up, the coldest branches go until a quarter of it is free. As
/// in lossy counting and Space Saving, a node's weight is its counter plus what it may have had before: the threshold of the
/// last pruning when it was made. So what is new survives what is cold, and what was hot in an earlier phase
/// goes when it stays cold for long enough.
///
/// **What a pruned counter becomes.** A counter stands for occurrences of every sequence that ends at its node. It
/// is added to the longest shorter context still in the forest (the branch without its first one, two, ... paths; in
/// the last resort the root of its last path). Only sequences longer than that lose occurrences, and how many is
/// written down per method and length.
///
/// **Guarantee**, for the forest that [`iteration_forest`](Self::iteration_forest) returns, with `lost(m, n)` its
/// [`missing`](IterationForest::missing):
///
/// 1. No counter is too high.
/// 2. Level 1 is exact: the Ball-Larus profile. The sum of the k-SF's counters is the length of the stream.
/// 3. Over all sequences of `n` paths of method `m`, the counters miss `lost(m, n)` occurrences in all, at most. Hence each
///    one by itself: `count <= true count <= count + lost(m, n)`; and no sequence that occurred more than
///    `lost(m, n)` times is left out.
///    The upper bound of a sequence is never above that of its beginning ([`PathNode::at_most`](super::PathNode::at_most)).
/// 4. Counters never rise along a branch.
///
/// The bound is measured, not promised in advance: how large it gets depends on the stream and the budget. A sequence's
/// occurrences are spread over the `k - 1` places of a chunk where it may begin, and over what came before, so a budget
/// should allow for several nodes per hot sequence.
#[derive(Clone, Debug)]
pub struct BoundedSlabForest {
    forest: SlabForest,
    budget: u32,
    /// By node: what it may have had before it was made. Up to date for the nodes that existed at the last pruning
    /// and those not in use then; newer ones have `threshold`.
    before: Vec<u64>,
    threshold: u64,
    losses: Losses,
    prunings: u64,
    /// Rises with each pruning. An activation that was not the running one at it starts afresh.
    epoch: u64,
    restarts: u64,
}

/// Where an activation stands in a [`BoundedSlabForest`].
#[derive(Clone, Debug)]
pub struct BoundedActivation {
    cursor: Cursor,
    epoch: u64,
}

impl BoundedSlabForest {
    /// An empty forest. Fails unless `k` is one that [`SlabForest::new`] takes and `budget` is at least `4 * k`.
    pub fn new(k: u32, budget: u32) -> Result<Self, ForestError> {
        let forest = SlabForest::new(k)?;
        let least = 4 * k;
        if budget < least {
            return Err(ForestError::Budget { budget, k, least });
        }
        Ok(BoundedSlabForest {
            forest,
            budget,
            before: Vec::new(),
            threshold: 0,
            losses: Losses::default(),
            prunings: 0,
            epoch: 0,
            restarts: 0,
        })
    }

    /// Most nodes below the roots.
    pub fn budget(&self) -> u32 {
        self.budget
    }

    /// Nodes below the roots.
    pub fn budget_used(&self) -> u32 {
        self.forest.trees.arena.len() - self.forest.trees.num_roots()
    }

    /// The k-slab forest as it is.
    pub fn slabs(&self) -> &SlabForest {
        &self.forest
    }

    /// How often cold nodes were pruned.
    pub fn prunings(&self) -> u64 {
        self.prunings
    }

    /// How often an activation went on as a new one, because its nodes had gone while another one ran.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Weight up to which nodes were pruned the last time.
    pub fn threshold(&self) -> u64 {
        self.threshold
    }

    /// Occurrences of sequences of `length` paths of the method that are in no counter, at most.
    pub fn missing(&self, method: u32, length: usize) -> u64 {
        self.losses.of(method, length)
    }

    /// Nodes, and bytes held: those of [`stats`](Self::stats), without a walk.
    pub fn size(&self) -> (u64, u64) {
        let (nodes, bytes) = self.forest.size();
        let account = self.before.capacity() * size_of::<u64>() + self.losses.bytes();
        (nodes, bytes + account as u64)
    }

    /// Size and shape, the error's account included in the bytes.
    pub fn stats(&self) -> ForestStats {
        let mut stats = self.forest.stats();
        stats.bytes += (self.before.capacity() * size_of::<u64>() + self.losses.bytes()) as u64;
        stats
    }

    /// The k-iteration path forest, with its error. (A [`LiveIterationForest`](super::LiveIterationForest) needs a forest that is not pruned.)
    pub fn iteration_forest(&self) -> IterationForest {
        let mut forest = IterationForest::of(&self.forest);
        forest.losses = self.losses.clone();
        forest.raise_to_children();
        forest
    }

    /// Adds a forest of another thread, then prunes to this one's budget. Activations of this forest go on
    /// afresh. Fails as [`SlabForest::merge`] does.
    pub fn merge(&mut self, other: &BoundedSlabForest) -> Result<(), ForestError> {
        self.forest.merge(&other.forest)?;
        self.losses.merge(&other.losses);
        self.restarts += other.restarts;
        self.prunings += other.prunings;
        if self.budget_used() > self.budget {
            self.prune([NONE, NONE], self.budget);
        }
        Ok(())
    }

    /// Prunes until at most `target` nodes below the roots are left. Nodes of `pins`, and so those above them, stay.
    fn prune(&mut self, pins: [u32; 2], target: u32) {
        self.prunings += 1;
        self.epoch += 1;
        self.before.resize(self.forest.trees.arena.end(), self.threshold);
        let mut sweep = Sweep {
            forest: &mut self.forest,
            before: &self.before,
            losses: &mut self.losses,
            pins,
            limit: self.threshold,
            gone: Vec::new(),
        };
        let mut rounds = 0;
        loop {
            let used = sweep.forest.trees.arena.len() - sweep.forest.trees.num_roots();
            let Some(excess) = used.checked_sub(target).filter(|&n| n > 0) else {
                break;
            };
            let mut weights = sweep.weights();
            let (_, &mut cut, _) = weights.select_nth_unstable(excess as usize - 1);
            self.threshold = self.threshold.max(cut);
            // Counters that move make other nodes heavier. If that goes on, take them all.
            sweep.limit = if rounds < 8 { self.threshold } else { u64::MAX };
            let gone = sweep.gone.len();
            sweep.run();
            rounds += 1;
            if sweep.gone.len() == gone && rounds > 8 {
                break; // Only pinned nodes are left.
            }
        }
        let gone = sweep.gone;
        self.forget(&gone);
        self.before.resize(self.forest.trees.arena.end(), self.threshold);
        for node in self.forest.trees.arena.free_nodes() {
            self.before[node as usize] = self.threshold;
        }
    }

    /// Clears links to nodes that are gone.
    fn forget(&mut self, gone: &[u32]) {
        let arena = &mut self.forest.trees.arena;
        let mut is_gone = vec![false; arena.end()];
        for &node in gone {
            is_gone[node as usize] = true;
        }
        for node in arena.all_mut() {
            if node.link != NONE && is_gone[node.link as usize] {
                node.link = NONE;
            }
        }
    }
}

impl PathSink for BoundedSlabForest {
    type Activation = BoundedActivation;

    fn begin(&self, method: u32) -> BoundedActivation {
        BoundedActivation {
            cursor: self.forest.begin(method),
            epoch: self.epoch,
        }
    }

    fn path(&mut self, activation: &mut BoundedActivation, path: u64) {
        let cursor = &mut activation.cursor;
        if activation.epoch != self.epoch {
            if !cursor.is_fresh() {
                // The next paths come without the up to k - 1 before this point: at most n - 1 occurrences of
                // sequences of n paths span it.
                let k = self.forest.k as usize;
                self.losses.add(cursor.method, 2..=k, |n| n as u64 - 1);
                self.restarts += 1;
                cursor.restart();
            }
            activation.epoch = self.epoch;
        }
        // A path makes two nodes at most.
        if self.budget_used() + 2 > self.budget {
            self.prune([cursor.top, cursor.bottom], self.budget - self.budget / 4);
            activation.epoch = self.epoch;
        }
        self.forest.path(cursor, path);
    }
}

/// One pruning.
struct Sweep<'a> {
    forest: &'a mut SlabForest,
    before: &'a [u64],
    losses: &'a mut Losses,
    pins: [u32; 2],
    /// Nodes up to this weight go.
    limit: u64,
    gone: Vec<u32>,
}

impl Sweep<'_> {
    fn arena(&mut self) -> &mut Arena {
        &mut self.forest.trees.arena
    }

    fn weight(&self, node: u32) -> u64 {
        let count = self.forest.trees.arena.get(node).count;
        // A root that was made just now has no entry.
        count.saturating_add(self.before.get(node as usize).copied().unwrap_or(0))
    }

    /// Of each node below the roots, the largest weight in its subtree: it goes when that goes.
    fn weights(&self) -> Vec<u64> {
        fn heaviest(sweep: &Sweep<'_>, node: u32, out: &mut Vec<u64>) -> u64 {
            let mut weight = match sweep.pins.contains(&node) {
                true => u64::MAX,
                false => sweep.weight(node),
            };
            for child in sweep.forest.trees.arena.children(node) {
                let below = heaviest(sweep, child, out);
                out.push(below);
                weight = weight.max(below);
            }
            weight
        }
        let mut out = Vec::with_capacity(self.forest.trees.arena.len() as usize);
        for (_, root) in self.forest.trees.roots() {
            heaviest(self, root, &mut out);
        }
        out
    }

    fn run(&mut self) {
        let mut roots: Vec<(u32, u32)> = self.forest.trees.roots().collect();
        roots.sort_unstable();
        for (method, root) in roots {
            let label = self.arena().get(root).label;
            self.below(method, root, &mut vec![label]);
        }
    }

    /// Prunes below `node`, which `path` leads to.
    fn below(&mut self, method: u32, node: u32, path: &mut Vec<u32>) {
        let (mut previous, mut at) = (NONE, self.arena().get(node).first);
        while at != NONE {
            let (label, next) = (self.arena().get(at).label, self.arena().get(at).next);
            path.push(label);
            self.below(method, at, path);
            let is_leaf = self.arena().get(at).first == NONE;
            if is_leaf && self.weight(at) <= self.limit && !self.pins.contains(&at) {
                let count = self.arena().get(at).count;
                self.hand_down(method, path, count);
                self.arena().remove(node, previous, at);
                self.gone.push(at);
            } else {
                previous = at;
            }
            path.pop();
            at = next;
        }
    }

    /// Adds the counter of a node that goes to the longest shorter context there is.
    fn hand_down(&mut self, method: u32, path: &[u32], count: u64) {
        if count == 0 {
            return;
        }
        let k = self.forest.k as usize;
        let trees = &mut self.forest.trees;
        let longest = k.min(path.len() - 1);
        let shorter = (2..=longest).rev();
        let found = shorter.into_iter().find_map(|length| {
            let node = trees.find(method, &path[path.len() - length..])?;
            Some((node, length))
        });
        let lookups = trees.lookups;
        let found = found.or_else(|| Some((trees.root(method, path[path.len() - 1])?, 1)));
        trees.lookups = lookups; // a pruning's, not the stream's
        let kept = match found {
            Some((node, length)) => {
                trees.arena.get_mut(node).count += count;
                length
            }
            None => {
                self.forest.dropped += count; // the forest's own limit: no room for a root
                1
            }
        };
        self.losses.add(method, kept + 1..=k.min(path.len()), |_| count);
    }
}
