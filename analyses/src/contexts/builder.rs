//! The tree, the threads' cursors, and the algorithm that says what stays.

use rustc_hash::FxHashMap;

use super::frame::{Frame, Frames, Key};
use super::snapshot::Snapshot;
use super::tree::ROOT;
use super::{CallingContextTree, ContextSink, Exact, Monitor, NodeId};

/// Where a thread stands that is not running.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    /// Its context, or the lowest one of it that is in the tree.
    node: u32,
    /// Open activations that have no node because the tree was full.
    lost: u32,
}

/// Where the thread stands that is running. The nodes of its activations, and not just the innermost one: so
/// a return needs no load of a node, for which the next call would have to wait.
#[derive(Clone, Debug)]
struct Path {
    /// The root, and the nodes of open activations, the innermost last.
    nodes: Vec<u32>,
    /// Open activations above these, which have no node because the tree was full.
    lost: u32,
}

impl Default for Path {
    fn default() -> Self {
        Path {
            nodes: vec![ROOT],
            lost: 0,
        }
    }
}

impl Path {
    /// From the root to a cursor.
    fn to(cursor: Cursor, tree: &CallingContextTree) -> Self {
        let up = |&node: &u32| (node != ROOT).then(|| tree.up(node).0);
        let mut nodes: Vec<u32> = std::iter::successors(Some(cursor.node), up).collect();
        nodes.reverse();
        Path {
            nodes,
            lost: cursor.lost,
        }
    }

    /// Its context, or the lowest one of it that is in the tree.
    #[inline(always)]
    fn node(&self) -> u32 {
        self.nodes.last().copied().unwrap_or(ROOT)
    }

    /// Open activations.
    fn depth(&self) -> u32 {
        self.nodes.len() as u32 - 1 + self.lost
    }

    fn cursor(&self) -> Cursor {
        Cursor {
            node: self.node(),
            lost: self.lost,
        }
    }

    /// Nothing is open any more; where the thread stood.
    fn leave(&mut self) -> Cursor {
        let cursor = self.cursor();
        self.nodes.truncate(1);
        self.lost = 0;
        cursor
    }
}

/// A calling context tree while it is being built.
///
/// With [`Exact`] that is the whole tree (HCCT section 2.1), else the paper's *MCCT*: monitored contexts and
/// their ancestors, pruned whenever the algorithm gives up a context (section 3.2, figure 4).
///
/// **What stays.** Of the paper's rule, that the current context and those above it stay, follows that a
/// context that is not monitored is left behind as a leaf when it ends (Sticky Sampling turns most contexts
/// away; Lossy Counting may drop the current one). Here it goes when its last activation ends. So at any time
/// each leaf is monitored or the context of a thread.
///
/// **Threads.** One tree per thread and [`Snapshot::merge`] need no locks. One tree may also serve many
/// threads in turn ([`switch`](ContextSink::switch)): all share the algorithm's counters, so memory does not
/// grow with their number.
///
/// **Cost.** A call to the context called last is a comparison and an increase; a return is a load. Neither
/// depends on depth.
#[derive(Clone, Debug)]
pub struct ContextTreeBuilder<A> {
    tree: CallingContextTree,
    algorithm: A,
    frames: Frames,
    path: Path,
    total: u64,
    victims: Vec<NodeId>,
    thread: u64,
    parked: FxHashMap<u64, Cursor>,
    /// Parked threads per context.
    pins: FxHashMap<u32, u32>,
    orphans: u64,
    dropped: u64,
}

/// Size of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextStats {
    /// Contexts now.
    pub contexts: u64,
    /// Most contexts at a time.
    pub peak_contexts: u64,
    /// Contexts that the algorithm monitors now (0 if it is exact).
    pub monitored: u64,
    /// Bytes that the most contexts at a time need: nodes, hash table of children, and everything that the
    /// algorithm holds.
    pub peak_bytes: u64,
    /// Bytes held now, by capacity.
    pub held_bytes: u64,
    /// Bytes of one node.
    pub node_bytes: u64,
    /// Weight that is in no counter because the tree was full.
    pub dropped: u64,
    /// Returns with no activation on the stack, and weights charged to none.
    pub orphans: u64,
}

impl<A: Monitor> ContextTreeBuilder<A> {
    /// Nothing was called yet.
    pub fn new(algorithm: A) -> Self {
        ContextTreeBuilder {
            tree: CallingContextTree::new(),
            algorithm,
            frames: Frames::default(),
            path: Path::default(),
            total: 0,
            victims: Vec::new(),
            thread: 0,
            parked: FxHashMap::default(),
            pins: FxHashMap::default(),
            orphans: 0,
            dropped: 0,
        }
    }

    /// Allows at most this many contexts; without it, 2^29 - 2. What would need another one is dropped and
    /// counted in [`ContextStats::dropped`], and the stack is followed all the same: an emergency stop.
    pub fn set_limit(&mut self, contexts: u32) {
        self.tree.set_limit(contexts.saturating_add(1));
    }

    /// The streaming algorithm.
    pub fn algorithm(&self) -> &A {
        &self.algorithm
    }

    /// `N`: sum of all weights that are in the tree or were.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Open activations of the current thread.
    pub fn depth(&self) -> u32 {
        self.path.depth()
    }

    /// The method and call site of the innermost activation; `None` if there is none, or if the tree is full.
    #[inline]
    pub fn current(&self) -> Option<Frame> {
        let node = self.path.node();
        let known = node != ROOT && self.path.lost == 0;
        known.then(|| self.frames.frame(self.tree.key(node)))
    }

    /// Size now and at its largest.
    pub fn stats(&self) -> ContextStats {
        let others = self.algorithm.bytes() + self.frames.bytes();
        let contexts = u64::from(self.tree.peak() - 1);
        ContextStats {
            contexts: u64::from(self.tree.len() - 1),
            peak_contexts: contexts,
            monitored: self.algorithm.len() as u64,
            peak_bytes: contexts * CallingContextTree::NODE_BYTES as u64
                + (others + self.tree.table_bytes()) as u64,
            held_bytes: (others + self.tree.held_bytes()) as u64,
            node_bytes: CallingContextTree::NODE_BYTES as u64,
            dropped: self.dropped,
            orphans: self.orphans,
        }
    }

    /// Everything that is known now. The run continues undisturbed.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(&self.tree, &self.algorithm, &self.frames, self.total)
    }

    /// Forgets what was counted. Open activations, of all threads, continue.
    pub fn reset(&mut self) {
        let old = std::mem::replace(&mut self.tree, CallingContextTree::new());
        self.tree.set_limit(old.limit());
        self.algorithm.clear();
        self.pins.clear();
        (self.total, self.dropped, self.orphans) = (0, 0, 0);
        let mut parked = std::mem::take(&mut self.parked);
        let mut current = self.path.cursor();
        for cursor in std::iter::once(&mut current).chain(parked.values_mut()) {
            let mut path = Vec::new();
            let mut at = cursor.node;
            while at != ROOT {
                path.push(old.key(at));
                at = old.up(at).0;
            }
            cursor.node = ROOT;
            for key in path.into_iter().rev() {
                // There is room: the old tree had all of these nodes.
                cursor.node = self.tree.child(cursor.node, key).unwrap_or(cursor.node);
            }
        }
        self.path = Path::to(current, &self.tree);
        for cursor in parked.values() {
            *self.pins.entry(cursor.node).or_default() += 1;
            self.tree.set_pinned(cursor.node, true);
        }
        self.parked = parked;
    }

    #[inline(always)]
    fn step(&mut self, key: Key, weight: u64) -> bool {
        if self.path.lost == 0
            && let Some(child) = self.tree.child(self.path.node(), key)
        {
            self.path.nodes.push(child);
            return true;
        }
        self.lose(weight);
        false
    }

    #[cold]
    fn lose(&mut self, weight: u64) {
        self.path.lost += 1;
        self.dropped = self.dropped.saturating_add(weight);
    }

    /// Adds weight to a context, which is the current one. HCCT figure 4.
    #[inline(always)]
    fn count(&mut self, context: u32, weight: u64) {
        self.total = self.total.saturating_add(weight);
        self.algorithm
            .update(&mut self.tree, NodeId(context), weight, &mut self.victims);
        if A::PRUNES && !self.victims.is_empty() {
            self.prune_victims(context);
        }
    }

    #[inline]
    fn prune_victims(&mut self, current: u32) {
        for &victim in &self.victims {
            self.tree.prune(victim.0, current);
        }
        self.victims.clear();
    }

    /// An activation of a context has ended, and its parent is the current one.
    #[inline(always)]
    fn left(&mut self, context: u32, parent: u32) {
        if A::PRUNES && !self.tree.is_monitored(NodeId(context)) {
            self.tree.prune(context, parent);
        }
    }

    /// The cursor leaves the tree from top to bottom.
    fn clear_stack(&mut self) {
        let left = self.path.leave().node;
        if A::PRUNES {
            self.tree.prune(left, ROOT);
        }
    }

    /// Leaves the current thread where it is.
    fn park(&mut self) {
        if self.path.depth() == 0 {
            return;
        }
        let cursor = self.path.leave();
        self.parked.insert(self.thread, cursor);
        *self.pins.entry(cursor.node).or_default() += 1;
        self.tree.set_pinned(cursor.node, true);
    }

    /// Continues where the current thread was left.
    fn resume(&mut self) {
        let Some(cursor) = self.parked.remove(&self.thread) else {
            return;
        };
        self.path = Path::to(cursor, &self.tree);
        let node = cursor.node;
        if let Some(pins) = self.pins.get_mut(&node) {
            *pins -= 1;
            if *pins == 0 {
                self.pins.remove(&node);
                self.tree.set_pinned(node, false);
            }
        }
    }

    /// The tree, and what its keys mean.
    pub(super) fn parts(&self) -> (&CallingContextTree, &Frames) {
        (&self.tree, &self.frames)
    }
}

impl ContextTreeBuilder<Exact> {
    /// Adds the counts of another thread's tree. Both threads may continue. What does not fit in is dropped.
    pub fn merge(&mut self, other: &ContextTreeBuilder<Exact>) {
        let mut ours = vec![None; other.tree.end()];
        ours[ROOT as usize] = Some(ROOT);
        for node in other.tree.preorder().skip(1) {
            let key = self.frames.key(other.frames.frame(other.tree.key(node)));
            let count = other.tree.count(NodeId(node));
            let parent = ours[other.tree.up(node).0 as usize];
            let child = parent.and_then(|parent| self.tree.child(parent, key));
            match child {
                Some(child) => {
                    self.tree.add(NodeId(child), count);
                    self.total = self.total.saturating_add(count);
                }
                None => self.dropped = self.dropped.saturating_add(count),
            }
            ours[node as usize] = child;
        }
        self.dropped = self.dropped.saturating_add(other.dropped);
        self.orphans += other.orphans;
    }
}

impl<A: Monitor> ContextSink for ContextTreeBuilder<A> {
    #[inline(always)]
    fn enter(&mut self, frame: Frame, weight: u64) {
        let key = self.frames.key(frame);
        if self.step(key, weight) && weight > 0 {
            self.count(self.path.node(), weight);
        }
    }

    #[inline(always)]
    fn leaf(&mut self, frame: Frame, weight: u64) {
        let key = self.frames.key(frame);
        let parent = self.path.node();
        if self.path.lost == 0
            && let Some(child) = self.tree.child(parent, key)
        {
            if weight > 0 {
                self.count(child, weight);
            }
            self.left(child, parent);
            return;
        }
        self.lose(weight);
        self.path.lost -= 1;
    }

    #[inline(always)]
    fn exit(&mut self) {
        if self.path.lost > 0 {
            self.path.lost -= 1;
            return;
        }
        let [.., parent, left] = self.path.nodes[..] else {
            self.orphans += 1;
            return;
        };
        self.path.nodes.pop();
        self.left(left, parent);
    }

    fn unwind(&mut self, depth: u32) {
        while self.path.depth() > depth {
            self.exit();
        }
    }

    fn gap(&mut self) {
        self.clear_stack();
    }

    fn place(&mut self, frame: Frame) {
        let key = self.frames.key(frame);
        self.step(key, 0);
    }

    fn burst(&mut self, group: u32) {
        self.algorithm.burst(group);
    }

    #[inline]
    fn charge(&mut self, weight: u64) {
        if self.path.lost > 0 {
            self.dropped = self.dropped.saturating_add(weight);
        } else if self.path.node() == ROOT {
            self.orphans += 1;
        } else if weight > 0 {
            self.count(self.path.node(), weight);
        }
    }

    fn switch(&mut self, thread: u64) {
        if thread != self.thread {
            self.park();
            self.thread = thread;
            self.resume();
        }
    }

    fn end_thread(&mut self) {
        self.clear_stack();
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::super::{Bounds, Thresholds, WeightedSpaceSaving};
    use super::super::{BucketSpaceSaving, LazySpaceSaving, LossyCounting, StickySampling};
    use super::*;

    /// Everything that must hold of the tree between two events.
    fn check<A: Monitor>(contexts: &ContextTreeBuilder<A>) {
        let tree = &contexts.tree;
        let mut monitored = std::collections::HashMap::new();
        contexts.algorithm.monitored(tree, &mut |node, bounds: Bounds| {
            assert!(bounds.lower <= bounds.upper);
            assert_eq!(monitored.insert(node.0, bounds), None, "monitored twice");
        });
        let (mut nodes, mut is_parent) = (0, std::collections::HashSet::new());
        for node in tree.preorder() {
            nodes += 1;
            if node != ROOT {
                assert_eq!(tree.up(node).1, monitored.remove(&node).is_some());
                is_parent.insert(tree.up(node).0);
            }
        }
        assert!(
            monitored.is_empty(),
            "monitored, but not in the tree: {monitored:?}"
        );
        assert_eq!(nodes, tree.len());
        let cursors: Vec<u32> = contexts.parked.values().map(|cursor| cursor.node).collect();
        for node in tree.preorder().skip(1) {
            let leaf = !is_parent.contains(&node);
            let stays = tree.up(node).1 || node == contexts.path.node() || cursors.contains(&node);
            assert!(!leaf || stays, "left behind");
        }
        let again = Path::to(contexts.path.cursor(), tree);
        assert_eq!(again.nodes, contexts.path.nodes);
    }

    fn wander<A: Monitor>(algorithm: A, seed: u64, limit: u32) {
        let mut random = Random::new(seed);
        let mut contexts = ContextTreeBuilder::new(algorithm);
        contexts.set_limit(limit);
        for _ in 0..3_000 {
            // A frame out of 12, the first ones more often.
            let method = random.failures(1).min(11) as u32;
            match (random.one_in(2), random.one_in(12)) {
                (true, _) if contexts.depth() < 40 => contexts.enter(Frame::new(method, 0), 1),
                (false, true) => match random.failures(1) {
                    0 => contexts.unwind(contexts.depth() / 2),
                    1 => contexts.switch(u64::from(method)),
                    2 => contexts.gap(),
                    3 => contexts.end_thread(),
                    4 => contexts.place(Frame::new(method, 1)),
                    5 => contexts.charge(7),
                    _ => contexts.reset(),
                },
                _ => contexts.exit(),
            }
            check(&contexts);
        }
    }

    #[test]
    fn leaves_are_monitored_or_current() {
        let thresholds = Thresholds::new(0.2, 0.1).unwrap();
        for seed in 0..4 {
            for limit in [u32::MAX, 30] {
                wander(LazySpaceSaving::new(thresholds), seed, limit);
                wander(BucketSpaceSaving::new(thresholds), seed, limit);
                wander(WeightedSpaceSaving::new(thresholds), seed, limit);
                wander(LossyCounting::new(thresholds), seed, limit);
                wander(StickySampling::new(thresholds, 0.5, seed).unwrap(), seed, limit);
            }
        }
    }

    #[test]
    fn buckets_and_queues_agree_on_the_minimum() {
        // The sum of Space Saving's counters is N, and none is below what was last lost.
        let thresholds = Thresholds::new(0.2, 0.1).unwrap();
        let mut random = Random::new(3);
        let mut lazy = ContextTreeBuilder::new(LazySpaceSaving::new(thresholds));
        let mut bucket = ContextTreeBuilder::new(BucketSpaceSaving::new(thresholds));
        for i in 0..20_000u64 {
            let frame = Frame::new(random.failures(2) as u32, 0);
            let weight = 1 + i % 3;
            lazy.enter(frame, weight);
            lazy.exit();
            bucket.enter(frame, weight);
            bucket.exit();
            if i % 100 == 0 {
                for snapshot in [lazy.snapshot(), bucket.snapshot()] {
                    let hot = snapshot.hot(0.2).unwrap();
                    assert!(
                        hot.hot()
                            .all(|(_, node)| node.bounds.unwrap().upper >= snapshot.absent())
                    );
                }
                let (mut of_lazy, mut of_bucket) = (0, 0);
                lazy.algorithm
                    .monitored(&lazy.tree, &mut |_, bounds| of_lazy += bounds.upper);
                bucket
                    .algorithm
                    .monitored(&bucket.tree, &mut |_, bounds| of_bucket += bounds.upper);
                assert_eq!((of_lazy, of_bucket), (lazy.total(), bucket.total()));
            }
        }
    }
}
