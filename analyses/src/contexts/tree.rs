//! The calling context tree in one vector: 32-bit indices, first child, next sibling.

use hashbrown::HashTable;

use super::frame::Key;

/// No node. Also the largest number of nodes.
pub(super) const NONE: u32 = (1 << 29) - 1;

/// The context of a thread that has entered nothing. It represents no activation and is never counted.
pub(super) const ROOT: u32 = 0;

/// Flags in the word of the parent's index.
const MONITORED: u32 = 1 << 31;
const PINNED: u32 = 1 << 30;
const INDEXED: u32 = 1 << 29;

/// Children that are looked at one by one. What has more of them is *wide*, and has all of its children in a
/// hash table of indices. HCCT section 4 finds 2 to 3 steps on average in C programs; a server's event loop
/// has thousands of children.
const SCAN: u32 = 8;
/// The first children stay where they are when they are found; one behind them comes to the front. Moving
/// costs more than looking at this number, and children that take turns would change places for ever.
const STAY: u32 = 4;

/// A context of a [`CallingContextTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(super) u32);

#[derive(Clone, Debug)]
struct Node {
    /// The counter, and in the lowest [`TAIL_BITS`] bits the rest of the key.
    count: u64,
    /// The lower 32 bits of the key.
    key: u32,
    /// Parent and flags ("bit stealing", HCCT section 4).
    up: u32,
    first: u32,
    next: u32,
}

/// Bits of a key that are with the counter.
const TAIL_BITS: u32 = Key::BITS - u32::BITS;
const TAIL: u64 = (1 << TAIL_BITS) - 1;

/// The largest value of a counter: nanoseconds of two years. Counters stay there.
const MAX_COUNT: u64 = u64::MAX >> TAIL_BITS;

/// Finds of wide nodes' children by the table from one that moves its child to the front to the next. A move
/// costs more than a find, and a child that is found often is moved soon.
const FINDS_PER_MOVE: u32 = 16;

/// A child of a wide node.
#[derive(Clone, Debug)]
struct Wide {
    child: u32,
    /// Sibling before it, so that a victim leaves a long list without a walk along it.
    previous: u32,
}

impl Node {
    #[inline(always)]
    fn new(key: u64, up: u32, next: u32) -> Self {
        Node {
            count: key >> u32::BITS & TAIL,
            key: key as u32,
            up,
            first: NONE,
            next,
        }
    }

    #[inline(always)]
    fn is(&self, key: u64) -> bool {
        self.key == key as u32 && (self.count & TAIL) as u32 == (key >> u32::BITS) as u32
    }

    fn whole_key(&self) -> u64 {
        (self.count & TAIL) << u32::BITS | u64::from(self.key)
    }

    #[inline(always)]
    fn add(&mut self, weight: u64) {
        let sum = self.count.checked_add(weight.min(MAX_COUNT) << TAIL_BITS);
        self.count = sum.unwrap_or(self.count | !TAIL);
    }
}

const _: () = assert!(size_of::<Node>() == CallingContextTree::NODE_BYTES);

/// Contexts and their counters. An algorithm reads and writes counters and says which contexts are monitored;
/// what the tree looks like is [`ContextTreeBuilder`](super::ContextTreeBuilder)' affair.
#[derive(Clone, Debug)]
pub struct CallingContextTree {
    nodes: Vec<Node>,
    /// Unused nodes, chained by `next`.
    free: u32,
    unused: u32,
    peak: u32,
    limit: u32,
    /// Children of wide nodes. Invariant: a node with more than [`SCAN`] children has each of them in here.
    wide: HashTable<Wide>,
    finds: u32,
}

fn hash(parent: u32, key: u64) -> u64 {
    let mixed = (key ^ u64::from(parent) << 34 ^ u64::from(parent)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl CallingContextTree {
    /// Bytes of a node: counter 7, key (method, call site, prefix) 5, parent and flags, first child and next
    /// sibling 4 each.
    pub const NODE_BYTES: usize = 24;

    /// Bytes that a node of a tree needs which is never pruned: without parent. Shares of the exact tree's
    /// memory are taken of this, so that they are not flattered by our own larger nodes.
    pub const EXACT_NODE_BYTES: usize = 20;

    pub(super) fn new() -> Self {
        let root = Node::new(u64::MAX, NONE | MONITORED, NONE);
        CallingContextTree {
            nodes: vec![root],
            free: NONE,
            unused: 0,
            peak: 1,
            limit: NONE,
            wide: HashTable::new(),
            finds: 0,
        }
    }

    /// Counter of a context.
    #[inline]
    pub fn count(&self, node: NodeId) -> u64 {
        self.nodes[node.0 as usize].count >> TAIL_BITS
    }

    /// Sets the counter of a context.
    #[inline]
    pub fn set_count(&mut self, node: NodeId, count: u64) {
        let node = &mut self.nodes[node.0 as usize];
        node.count = count.min(MAX_COUNT) << TAIL_BITS | node.count & TAIL;
    }

    /// Adds to the counter of a context, monitored or not.
    #[inline(always)]
    pub fn add(&mut self, node: NodeId, weight: u64) {
        self.nodes[node.0 as usize].add(weight);
    }

    /// Adds to the counter of a monitored context. `false`, and nothing done, if it is not monitored.
    #[inline(always)]
    pub fn add_if_monitored(&mut self, node: NodeId, weight: u64) -> bool {
        let node = &mut self.nodes[node.0 as usize];
        let monitored = node.up & MONITORED != 0;
        if monitored {
            node.add(weight);
        }
        monitored
    }

    /// Returns true if the context is monitored.
    #[inline]
    pub fn is_monitored(&self, node: NodeId) -> bool {
        self.nodes[node.0 as usize].up & MONITORED != 0
    }

    /// Says that the context is monitored, so that it stays in the tree, or that it is no more.
    #[inline]
    pub fn set_monitored(&mut self, node: NodeId, monitored: bool) {
        self.set_flag(node.0, MONITORED, monitored);
    }

    /// All contexts, in no particular order.
    pub fn contexts(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.preorder().skip(1).map(NodeId)
    }

    /// Nodes in use, the root included.
    pub(super) fn len(&self) -> u32 {
        self.nodes.len() as u32 - self.unused
    }

    pub(super) fn peak(&self) -> u32 {
        self.peak
    }

    pub(super) fn limit(&self) -> u32 {
        self.limit
    }

    pub(super) fn set_limit(&mut self, limit: u32) {
        self.limit = limit.clamp(1, NONE);
    }

    /// Bytes of the hash table of wide nodes' children.
    pub(super) fn table_bytes(&self) -> usize {
        self.wide.allocation_size()
    }

    /// Bytes held, by capacity.
    pub(super) fn held_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.table_bytes()
    }

    /// One more than the largest index.
    pub(super) fn end(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn key(&self, node: u32) -> Key {
        Key(self.nodes[node as usize].whole_key())
    }

    /// Parent, and whether the node itself is monitored.
    #[inline(always)]
    pub(super) fn up(&self, node: u32) -> (u32, bool) {
        let up = self.nodes[node as usize].up;
        (up & NONE, up & MONITORED != 0)
    }

    pub(super) fn set_pinned(&mut self, node: u32, pinned: bool) {
        if node != ROOT {
            self.set_flag(node, PINNED, pinned);
        }
    }

    #[inline]
    fn set_flag(&mut self, node: u32, flag: u32, on: bool) {
        let up = &mut self.nodes[node as usize].up;
        *up = if on { *up | flag } else { *up & !flag };
    }

    /// The child with this key; made if there is none. `None` when there are as many nodes as there may be.
    #[inline(always)]
    pub(super) fn child(&mut self, parent: u32, key: Key) -> Option<u32> {
        let mut at = self.nodes[parent as usize].first;
        for _ in 0..STAY {
            if at == NONE {
                return self.new_child(parent, key.0);
            }
            let node = &self.nodes[at as usize];
            if node.is(key.0) {
                return Some(at);
            }
            at = node.next;
        }
        self.other_child(parent, at, key.0)
    }

    /// [`child`](Self::child), when it is none of the first ones.
    #[inline(never)]
    fn other_child(&mut self, parent: u32, from: u32, key: u64) -> Option<u32> {
        let (mut at, mut steps) = (from, STAY);
        while at != NONE {
            if steps == SCAN {
                return self.wide_child(parent, key);
            }
            let node = &self.nodes[at as usize];
            if node.is(key) {
                self.move_to_front(parent, at);
                return Some(at);
            }
            at = node.next;
            steps += 1;
        }
        let child = self.add_child(parent, key)?;
        if steps == SCAN {
            self.index_children(parent);
        }
        Some(child)
    }

    #[cold]
    fn new_child(&mut self, parent: u32, key: u64) -> Option<u32> {
        self.add_child(parent, key)
    }

    fn find_wide(&self, parent: u32, key: u64) -> Option<u32> {
        let is_it = |wide: &Wide| {
            let node = &self.nodes[wide.child as usize];
            node.is(key) && node.up & NONE == parent
        };
        Some(self.wide.find(hash(parent, key), is_it)?.child)
    }

    fn wide_child(&mut self, parent: u32, key: u64) -> Option<u32> {
        if let Some(child) = self.find_wide(parent, key) {
            self.finds = self.finds.wrapping_add(1);
            if self.finds.is_multiple_of(FINDS_PER_MOVE) {
                self.move_to_front(parent, child);
            }
            return Some(child);
        }
        let child = self.add_child(parent, key)?;
        self.index(child, NONE);
        Some(child)
    }

    /// The child with this key, if there is one; nothing moves.
    pub(super) fn find_child(&self, parent: u32, key: Key) -> Option<u32> {
        let mut at = self.nodes[parent as usize].first;
        for _ in 0..SCAN {
            if at == NONE || self.nodes[at as usize].is(key.0) {
                return (at != NONE).then_some(at);
            }
            at = self.nodes[at as usize].next;
        }
        self.find_wide(parent, key.0)
    }

    fn add_child(&mut self, parent: u32, key: u64) -> Option<u32> {
        let first = self.nodes[parent as usize].first;
        let node = Node::new(key, parent, first);
        let child = self.free;
        let child = if child != NONE {
            self.free = self.nodes[child as usize].next;
            self.unused -= 1;
            self.nodes[child as usize] = node;
            child
        } else {
            let child = self.nodes.len() as u32;
            if child >= self.limit {
                return None;
            }
            self.nodes.push(node);
            child
        };
        self.peak = self.peak.max(self.len());
        self.set_previous(first, child);
        self.nodes[parent as usize].first = child;
        Some(child)
    }

    /// A node's place in the table, by what its hash is made of.
    fn hash_of(nodes: &[Node], node: u32) -> u64 {
        let node = &nodes[node as usize];
        hash(node.up & NONE, node.whole_key())
    }

    fn index(&mut self, child: u32, previous: u32) {
        self.nodes[child as usize].up |= INDEXED;
        let nodes = &self.nodes;
        let rehash = |wide: &Wide| Self::hash_of(nodes, wide.child);
        let wide = Wide { child, previous };
        self.wide.insert_unique(rehash(&wide), wide, rehash);
    }

    fn index_children(&mut self, parent: u32) {
        let (mut at, mut previous) = (self.nodes[parent as usize].first, NONE);
        while at != NONE {
            if self.nodes[at as usize].up & INDEXED == 0 {
                self.index(at, previous);
            }
            (previous, at) = (at, self.nodes[at as usize].next);
        }
    }

    fn is_indexed(&self, node: u32) -> bool {
        node != NONE && self.nodes[node as usize].up & INDEXED != 0
    }

    /// A node, if there is one, has another sibling before it.
    fn set_previous(&mut self, node: u32, previous: u32) {
        if !self.is_indexed(node) {
            return;
        }
        let hash = Self::hash_of(&self.nodes, node);
        if let Some(wide) = self.wide.find_mut(hash, |wide| wide.child == node) {
            wide.previous = previous;
        }
    }

    /// The sibling before a node. Lists of children that are not in the table are short.
    fn previous(&self, parent: u32, node: u32) -> u32 {
        if self.is_indexed(node) {
            let hash = Self::hash_of(&self.nodes, node);
            let wide = self.wide.find(hash, |wide| wide.child == node);
            return wide.map_or(NONE, |wide| wide.previous);
        }
        let (mut at, mut previous) = (self.nodes[parent as usize].first, NONE);
        while at != node && at != NONE {
            (previous, at) = (at, self.nodes[at as usize].next);
        }
        previous
    }

    /// Takes a node out of its siblings' list.
    fn unlink(&mut self, parent: u32, node: u32) {
        let next = self.nodes[node as usize].next;
        let previous = self.previous(parent, node);
        match previous {
            NONE => self.nodes[parent as usize].first = next,
            _ => self.nodes[previous as usize].next = next,
        }
        self.set_previous(next, previous);
    }

    fn move_to_front(&mut self, parent: u32, node: u32) {
        let first = self.nodes[parent as usize].first;
        if first == node {
            return;
        }
        self.unlink(parent, node);
        self.set_previous(first, node);
        self.set_previous(node, NONE);
        self.nodes[node as usize].next = first;
        self.nodes[parent as usize].first = node;
    }

    /// HCCT figure 4 for one victim: removes it if it is a leaf that is not monitored, then its parent if
    /// that has become one, and so on; not `current`, nor the current context of a thread that is not
    /// running.
    pub(super) fn prune(&mut self, victim: u32, current: u32) {
        let mut at = victim;
        while at != current {
            let Node { up, first, .. } = self.nodes[at as usize];
            // The root counts as monitored, and so does what has been removed.
            if first != NONE || up & (MONITORED | PINNED) != 0 {
                return;
            }
            self.remove(at);
            at = up & NONE;
        }
    }

    fn remove(&mut self, node: u32) {
        let up = self.nodes[node as usize].up;
        self.unlink(up & NONE, node);
        if up & INDEXED != 0 {
            let hash = Self::hash_of(&self.nodes, node);
            if let Ok(entry) = self.wide.find_entry(hash, |wide| wide.child == node) {
                entry.remove();
            }
        }
        let free = self.free;
        let removed = &mut self.nodes[node as usize];
        removed.up = NONE | MONITORED;
        removed.next = free;
        self.free = node;
        self.unused += 1;
    }

    /// All nodes, parents before children, the root first. Needs no stack, however deep the tree.
    pub(super) fn preorder(&self) -> impl Iterator<Item = u32> + '_ {
        let mut next = ROOT;
        std::iter::from_fn(move || {
            let at = next;
            if at == NONE {
                return None;
            }
            let node = &self.nodes[at as usize];
            next = node.first;
            let mut climb = at;
            while next == NONE && climb != ROOT {
                next = self.nodes[climb as usize].next;
                climb = self.nodes[climb as usize].up & NONE;
            }
            Some(at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(tree: &CallingContextTree, parent: u32) -> Vec<u64> {
        let mut out = Vec::new();
        let (mut at, mut before) = (tree.nodes[parent as usize].first, NONE);
        while at != NONE {
            assert_eq!(tree.previous(parent, at), before);
            assert_eq!(tree.up(at).0, parent);
            out.push(tree.key(at).0);
            (before, at) = (at, tree.nodes[at as usize].next);
        }
        out
    }

    #[test]
    fn wide_nodes_keep_every_child() {
        let mut tree = CallingContextTree::new();
        let children: Vec<u32> = (0..200).map(|l| tree.child(ROOT, Key(l)).unwrap()).collect();
        for round in 1..6 {
            for label in (0..200).rev().step_by(round) {
                assert_eq!(tree.find_child(ROOT, Key(label)), Some(children[label as usize]));
                assert_eq!(tree.child(ROOT, Key(label)), Some(children[label as usize]));
            }
        }
        // One that is asked for again and again comes to the front.
        for _ in 0..FINDS_PER_MOVE {
            tree.child(ROOT, Key(100));
        }
        assert!(labels(&tree, ROOT)[..STAY as usize].contains(&100));
        assert_eq!((tree.len(), labels(&tree, ROOT).len()), (201, 200));
        assert_eq!(tree.find_child(ROOT, Key(200)), None);
        assert_eq!(tree.preorder().count(), 201);
    }

    #[test]
    fn counters_and_keys_share_a_word() {
        let mut tree = CallingContextTree::new();
        let keys = [0, 1, 1 << 32, u64::from(u32::MAX), (1 << Key::BITS) - 1].map(Key);
        let nodes = keys.map(|key| tree.child(ROOT, key).unwrap());
        for (at, (&node, key)) in nodes.iter().zip(keys).enumerate() {
            let node = NodeId(node);
            tree.set_count(node, at as u64);
            tree.add(node, 5);
            assert_eq!((tree.count(node), tree.key(node.0)), (at as u64 + 5, key));
            tree.add(node, MAX_COUNT - 20);
            tree.add(node, u64::MAX);
            assert_eq!((tree.count(node), tree.key(node.0)), (MAX_COUNT, key));
            tree.set_count(node, u64::MAX);
            assert_eq!((tree.count(node), tree.key(node.0)), (MAX_COUNT, key));
            assert_eq!(tree.find_child(ROOT, key), Some(node.0));
        }
    }

    #[test]
    fn removed_nodes_are_used_again() {
        let mut tree = CallingContextTree::new();
        for label in 0..40 {
            let child = tree.child(ROOT, Key(label)).unwrap();
            tree.set_monitored(NodeId(child), label % 5 == 0);
        }
        for label in 0..40 {
            let child = tree.find_child(ROOT, Key(label)).unwrap();
            tree.prune(child, ROOT);
            tree.prune(child, ROOT); // harmless
        }
        assert_eq!((tree.len(), tree.wide.len()), (9, 8));
        for label in 0..40 {
            assert_eq!(
                tree.find_child(ROOT, Key(label)).is_some(),
                label % 5 == 0,
                "{label}"
            );
        }
        for label in 0..40 {
            let child = tree.child(ROOT, Key(label)).unwrap();
            assert_eq!(tree.find_child(ROOT, Key(label)), Some(child));
        }
        assert_eq!((tree.len(), tree.end(), tree.peak()), (41, 41, 41));
        assert_eq!(labels(&tree, ROOT).len(), 40);
    }

    #[test]
    fn pruning_climbs_to_what_must_stay() {
        let mut tree = CallingContextTree::new();
        let mut at = ROOT;
        let chain: Vec<u32> = (0..10)
            .map(|label| {
                at = tree.child(at, Key(label)).unwrap();
                at
            })
            .collect();
        tree.set_pinned(chain[6], true);
        tree.prune(chain[9], chain[8]);
        assert_eq!(tree.len(), 10); // all but the leaf
        tree.prune(chain[8], ROOT);
        assert_eq!(tree.len(), 8); // down to the pinned one
        tree.set_pinned(chain[6], false);
        tree.set_monitored(NodeId(chain[2]), true);
        tree.prune(chain[6], ROOT);
        assert_eq!(tree.len(), 4);
        tree.set_limit(4);
        tree.set_monitored(NodeId(chain[2]), false);
        tree.prune(chain[2], ROOT);
        assert_eq!(tree.preorder().collect::<Vec<_>>(), [ROOT]);
    }
}
