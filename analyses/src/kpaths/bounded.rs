//! k-iteration paths within a budget of nodes.

use super::activation::PathSink;
use super::arena::{Arena, NONE};
use super::iteration::IterationForest;
use super::losses::Losses;
use super::slab::SlabForest;
use super::trees::{ForestStats, Trees};
use super::{ForestError, MAX_K};

/// A sequence is *hot* when it makes more than one in this number of its first path's occurrences.
const HOT: u64 = 100;

/// Once nodes have been pruned, a node for something new is only made with a probability, such that a
/// sequence just hot will, down to its last path, have had to wait for a node in one in this number of its
/// occurrences.
const WAIT: u64 = 4;

/// A k-iteration path forest that never has more than `budget` nodes below its roots: cold ones are pruned
/// while the stream runs.
///
/// **Structure.** The forest of the sequences themselves ([`IterationForest`]), not a k-slab forest: that has
/// a node for a sequence at each of the `k - 1` places of a chunk where it may begin, each with a part of the
/// count. Here a sequence is one node. Each of the last `k - 1` paths of an activation has begun a sequence,
/// and each of these that is still in the forest is extended by each path: this costs up to `k - 1` steps per
/// path where a slab forest needs two.
///
/// **Budget.** Roots are not pruned and come on top: one per different Ball-Larus path, so no more than a
/// hash-table profiler has entries.
///
/// **Pruning.** When the budget is used up, nodes below half of 1 % of their root's count go: those that have
/// the least share first, a quarter of the budget at most. Where hardly any are so cold, a few others go: by
/// share up to 1 %, and then, where nearly all are *hot* (above 1 %), the rarest of these. As in lossy
/// counting and Space Saving, what a node may have had before it was made counts for it, so what is new
/// survives what is cold.
///
/// **Growth.** After the first pruning, a new sequence gets a node only if the sequence without its last path
/// would not have been pruned itself. Below a frequent root sequences grow by one path each time they are
/// met, and only now and then: what is frequent comes again. So a stream in which all is new does not make
/// nodes in vain.
///
/// **Guarantee**, for the forest that [`iteration_forest`](Self::iteration_forest) returns, with `lost(m, n)`
/// its [`missing`](IterationForest::missing):
///
/// 1. No counter is too high.
/// 2. Level 1 is exact: the Ball-Larus profile.
/// 3. Over all sequences of `n` paths of method `m`, the counters miss `lost(m, n)` occurrences in all, at
///    most. Hence for each single one: `count <= true count <= count + lost(m, n)`; and no sequence that
///    occurred more than `lost(m, n)` times is left out. The upper bound of a sequence is never above that of
///    its beginning ([`PathNode::at_most`](super::PathNode::at_most)).
/// 4. Counters never rise along a branch.
///
/// As long as the budget is enough for everything that comes, every counter is exact. Where it is not, the
/// bound is measured, not promised in advance: how large it gets depends on the stream and the budget.
#[derive(Clone, Debug)]
pub struct BoundedForest {
    k: u32,
    budget: u32,
    trees: Trees,
    /// By node; up to date for all nodes but the latest roots.
    accounts: Vec<Account>,
    /// Sequences of the open activations, the longest of an activation first.
    open: Vec<Place>,
    /// Ranks up to this one were pruned the last time.
    threshold: Option<u64>,
    losses: Losses,
    prunings: u32,
    random: u64,
    dropped: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// Occurrences that the node may have had before it was made.
    before: u64,
    /// The last pruning that freed it.
    freed: u32,
}

/// A sequence of an open activation that may be extended.
#[derive(Clone, Copy, Debug)]
struct Place {
    node: u32,
    root: u32,
    length: u32,
}

/// The position of an activation in a [`BoundedForest`].
///
/// The open activations form *one* stack: only paths of the last one begun can be added.
#[derive(Clone, Debug)]
pub struct BoundedActivation {
    method: u32,
    /// Its sequences begin here in `open`.
    from: usize,
    /// Prunings when they were last looked at.
    seen: u32,
}

/// Ranks of hot sequences begin here.
const IS_HOT: u64 = 1 << 63;

/// Below, ranks are shares of the root times this.
const SHARES: f64 = (1u64 << 62) as f64;

/// Order in which nodes go: cold ones by their share of the root, then hot ones by their number.
fn rank(occurrences: u64, root: u64) -> u64 {
    if occurrences.saturating_mul(HOT) > root {
        IS_HOT | occurrences.min(IS_HOT - 1)
    } else {
        (occurrences as f64 / root as f64 * SHARES) as u64
    }
}

/// Returns true if it is far from hot. A sequence that is near may have been hot, with some occurrences not
/// counted.
fn is_cold(rank: u64) -> bool {
    rank < (SHARES / (2 * HOT) as f64) as u64
}

impl BoundedForest {
    /// An empty forest. Fails unless `k` is one that [`SlabForest::new`] takes and `budget` is at least `4 *
    /// k`.
    pub fn new(k: u32, budget: u32) -> Result<Self, ForestError> {
        SlabForest::new(k)?;
        let least = 4 * k;
        if budget < least {
            return Err(ForestError::Budget { budget, k, least });
        }
        Ok(BoundedForest {
            k,
            budget,
            trees: Trees::new(),
            accounts: Vec::new(),
            open: Vec::new(),
            threshold: None,
            losses: Losses::default(),
            prunings: 0,
            random: 0x9e37_79b9_7f4a_7c15,
            dropped: 0,
        })
    }

    /// Longest sequence that is counted, in paths.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Most nodes below the roots.
    pub fn budget(&self) -> u32 {
        self.budget
    }

    /// Nodes below the roots.
    pub fn budget_used(&self) -> u32 {
        self.trees.arena.len() - self.trees.num_roots()
    }

    /// How often cold nodes were pruned.
    pub fn prunings(&self) -> u32 {
        self.prunings
    }

    /// Sum of the roots' counters: the number of paths taken in.
    pub fn total(&self) -> u64 {
        let roots = self.trees.roots();
        roots.map(|(_, root)| self.trees.arena.get(root).count).sum()
    }

    /// Paths in no counter: there was no room for a root, or for the label of a large path number.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Occurrences of sequences of `length` paths of the method that are in no counter, at most.
    pub fn missing(&self, method: u32, length: usize) -> u64 {
        self.losses.get(method, length)
    }

    /// Nodes, and bytes held: those of [`stats`](Self::stats), without a walk.
    pub fn size(&self) -> (u64, u64) {
        let bytes = self.trees.bytes() + self.other_bytes();
        (u64::from(self.trees.arena.len()), bytes as u64)
    }

    /// Size and shape; bytes with the error's account.
    pub fn stats(&self) -> ForestStats {
        let mut stats = self.trees.stats();
        stats.bytes += self.other_bytes() as u64;
        stats
    }

    fn other_bytes(&self) -> usize {
        self.accounts.capacity() * size_of::<Account>()
            + self.open.capacity() * size_of::<Place>()
            + self.losses.bytes()
    }

    /// The k-iteration path forest, with its error.
    pub fn iteration_forest(&self) -> IterationForest {
        IterationForest {
            k: self.k,
            trees: self.trees.clone(),
            losses: self.losses.clone(),
        }
    }

    /// Adds a forest of another thread, then prunes to this one's budget. Activations of this forest
    /// continue. Fails if `k` differs (nothing changes) or if there would be too many nodes (part of `other`
    /// has been added).
    pub fn merge(&mut self, other: &BoundedForest) -> Result<(), ForestError> {
        if self.k != other.k {
            return Err(ForestError::DifferentK(self.k, other.k));
        }
        let full = ForestError::Full(self.trees.arena.limit());
        self.trees.add(&other.trees).ok_or(full)?;
        self.losses.merge(&other.losses);
        self.threshold = self.threshold.max(other.threshold);
        // Open activations look after their places once more, and find all of them in order.
        self.prunings += other.prunings;
        self.dropped += other.dropped;
        self.note_nodes();
        if let Some(excess) = self.budget_used().checked_sub(self.budget).filter(|&n| n > 0) {
            self.prune(|_| excess as usize);
        }
        Ok(())
    }

    /// Makes accounts for new nodes.
    #[inline]
    fn note_nodes(&mut self) {
        if self.accounts.len() < self.trees.arena.end() {
            self.accounts.resize(self.trees.arena.end(), Account::default());
        }
    }

    /// Ends all sequences of an activation here.
    fn give_up(&mut self, activation: &BoundedActivation) {
        self.keep_open(activation, |_, _| false);
    }

    /// Ends those sequences of an activation of which `stays` does not hold: their longer forms are not
    /// counted.
    fn keep_open(&mut self, activation: &BoundedActivation, stays: impl Fn(&BoundedForest, &Place) -> bool) {
        let mut kept = activation.from;
        for at in activation.from..self.open.len() {
            let place = self.open[at];
            if stays(self, &place) {
                self.open[kept] = place;
                kept += 1;
            } else {
                self.losses
                    .add_from(activation.method, place.length as usize + 1, 1);
            }
        }
        self.open.truncate(kept);
    }

    /// If extensions of this sequence may get a node: how often they may have occurred before.
    fn may_grow(&self, place: &Place) -> Option<u64> {
        let Some(threshold) = self.threshold else {
            return Some(0);
        };
        let (count, root) = (self.count(place.node), self.count(place.root));
        let at_most = count + self.accounts[place.node as usize].before;
        // What is hot below a frequent root is met often enough to grow by one path each time.
        let at_once = root < 2 * HOT * u64::from(self.k);
        if rank(at_most, root) <= threshold || count == 1 && !at_once {
            return None;
        }
        let before = if threshold < IS_HOT {
            (threshold as f64 / SHARES * root as f64) as u64
        } else {
            threshold - IS_HOT
        };
        Some(before.min(at_most - 1))
    }

    /// The node for one more path after a sequence, if it is to have one now.
    fn grow(&mut self, place: &Place, label: u32) -> Option<u32> {
        let before = self.may_grow(place)?;
        if self.threshold.is_some() && !self.is_time(self.count(place.root))
            || self.budget_used() >= self.budget
        {
            return None;
        }
        let child = self.trees.arena.child(place.node, label)?;
        self.note_nodes();
        self.accounts[child as usize].before = before;
        Some(child)
    }

    /// Number of nodes that are missing for everything that a path may need.
    #[inline]
    fn shortage(&self, activation: &BoundedActivation, label: u32) -> usize {
        let room = (self.budget - self.budget_used()) as usize;
        let open = &self.open[activation.from..];
        if open.len() <= room {
            return 0; // mostly so, without a look at each
        }
        let is_new = |place: &&Place| self.trees.arena.find_child(place.node, label).is_none();
        let new = open.iter().filter(is_new);
        let new = new.filter(|place| self.may_grow(place).is_some());
        new.count().saturating_sub(room)
    }

    /// Ends the sequences of an activation whose nodes were pruned since they were last looked at.
    #[inline]
    fn look_after(&mut self, activation: &mut BoundedActivation) {
        let seen = activation.seen;
        if seen != self.prunings {
            self.keep_open(activation, |forest, place| {
                forest.accounts[place.node as usize].freed <= seen
            });
            activation.seen = self.prunings;
        }
    }

    fn count(&self, node: u32) -> u64 {
        self.trees.arena.get(node).count
    }

    /// Returns true if a new sequence below a root with this count is to get a node.
    fn is_time(&mut self, root: u64) -> bool {
        let among = root / (HOT * WAIT * u64::from(self.k));
        if among < 2 {
            return true;
        }
        // Xorshift: a fixed stride could fall in step with what the program repeats.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.is_multiple_of(among)
    }

    /// Prunes as many nodes as this says of the number of cold ones.
    #[cold]
    fn prune(&mut self, how_many: impl Fn(usize) -> usize) {
        self.prunings += 1;
        let mut roots: Vec<(u32, u32)> = self.trees.roots().collect();
        roots.sort_unstable();
        let mut ranks = Vec::with_capacity(self.budget_used() as usize);
        for &(_, root) in &roots {
            let total = self.count(root);
            for child in self.trees.arena.children(root) {
                ranks_below(&self.trees.arena, &self.accounts, child, total, &mut ranks);
            }
        }
        let cold = ranks.iter().filter(|&&rank| is_cold(rank)).count();
        let going = how_many(cold).min(ranks.len());
        let Some(last) = going.checked_sub(1) else {
            return;
        };
        let (lower, &mut cut, _) = ranks.select_nth_unstable(last);
        let ties = going - lower.iter().filter(|&&rank| rank < cut).count();
        self.threshold = Some(cut);
        let mut sweep = Sweep {
            arena: &mut self.trees.arena,
            accounts: &mut self.accounts,
            losses: &mut self.losses,
            pruning: self.prunings,
            cut,
            ties,
        };
        for (method, root) in roots {
            let total = sweep.arena.get(root).count;
            sweep.below(method, root, total, 2);
        }
    }
}

/// Adds the ranks of a node and of those below. A node's is never lower than one below it: it goes last.
fn ranks_below(arena: &Arena, accounts: &[Account], node: u32, root: u64, out: &mut Vec<u64>) -> u64 {
    let mut highest = rank(arena.get(node).count + accounts[node as usize].before, root);
    for child in arena.children(node) {
        highest = highest.max(ranks_below(arena, accounts, child, root, out));
    }
    out.push(highest);
    highest
}

/// One pruning.
struct Sweep<'a> {
    arena: &'a mut Arena,
    accounts: &'a mut [Account],
    losses: &'a mut Losses,
    pruning: u32,
    /// Nodes of a lower rank go, and this number of nodes of this rank.
    cut: u64,
    ties: usize,
}

impl Sweep<'_> {
    /// Prunes below `node`, whose children represent sequences of `length` paths. Returns the highest rank
    /// there.
    fn below(&mut self, method: u32, node: u32, root: u64, length: usize) -> u64 {
        let (mut previous, mut at, mut highest) = (NONE, self.arena.get(node).first, 0);
        while at != NONE {
            let next = self.arena.get(at).next;
            let count = self.arena.get(at).count;
            let own = rank(count + self.accounts[at as usize].before, root);
            let own = own.max(self.below(method, at, root, length + 1));
            highest = highest.max(own);
            let goes = own < self.cut || own == self.cut && self.ties > 0;
            if goes && self.arena.get(at).first == NONE {
                self.ties -= usize::from(own == self.cut);
                self.losses.add_at(method, length, count);
                self.arena.remove(node, previous, at);
                self.accounts[at as usize].freed = self.pruning;
            } else {
                previous = at;
            }
            at = next;
        }
        highest
    }
}

impl PathSink for BoundedForest {
    type Activation = BoundedActivation;

    #[inline]
    fn begin(&self, method: u32) -> BoundedActivation {
        BoundedActivation {
            method,
            from: self.open.len(),
            seen: self.prunings,
        }
    }

    fn path(&mut self, activation: &mut BoundedActivation, path: u64) {
        let method = activation.method;
        let root = self.trees.labels.label(path);
        let root = root.and_then(|label| Some((label, self.trees.root(method, label)?)));
        let Some((label, root)) = root else {
            self.dropped += 1;
            return self.give_up(activation);
        };
        self.note_nodes();
        self.look_after(activation);
        let shortage = self.shortage(activation, label);
        if shortage > 0 {
            let budget = self.budget as usize;
            let (least, most) = (shortage + budget / 64, budget / 4);
            self.prune(|cold| cold.clamp(least.min(most), most));
            self.look_after(activation);
        }
        self.trees.arena.get_mut(root).count += 1;
        let mut kept = activation.from;
        for at in activation.from..self.open.len() {
            let place = self.open[at];
            let known = self.trees.arena.hit(place.node, label);
            match known.or_else(|| self.grow(&place, label)) {
                Some(child) => {
                    self.trees.arena.get_mut(child).count += 1;
                    let length = place.length + 1;
                    if length < self.k {
                        self.open[kept] = Place {
                            node: child,
                            length,
                            ..place
                        };
                        kept += 1;
                    }
                }
                None => self.losses.add_from(method, place.length as usize + 1, 1),
            }
        }
        self.open.truncate(kept);
        self.open.push(Place {
            node: root,
            root,
            length: 1,
        });
    }

    #[inline]
    fn end(&mut self, activation: BoundedActivation) {
        self.open.truncate(activation.from);
    }
}

const _: () = assert!(MAX_K as u64 * HOT * WAIT < u32::MAX as u64);
