//! Nodes of a forest in one vector: first child, next sibling, 32-bit indices.

use rustc_hash::FxHashMap;

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// Children that are looked at one by one. What has more of them is *wide*: the rest is found through
/// [`Arena::wide`], so that no node costs more than this many steps and one look into a hash table.
const SCAN: u32 = 4;

/// A node: 24 bytes.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub count: u64,
    pub label: u32,
    pub first: u32,
    pub next: u32,
    /// A node elsewhere in the forest; what it means is its owner's affair.
    pub link: u32,
}

/// All nodes of a forest.
#[derive(Clone, Debug)]
pub(super) struct Arena {
    nodes: Vec<Node>,
    /// Head of the list of unused nodes, chained by `next`.
    free: u32,
    unused: u32,
    /// Most nodes there may be.
    limit: u32,
    /// (parent, label) to child, for all children of wide nodes. Invariant: a node with more than [`SCAN`]
    /// children has every one of them in here.
    wide: FxHashMap<u64, u32>,
    /// Hits in `wide` less the steps spent on moving such children to the front.
    credit: i64,
}

fn key(parent: u32, label: u32) -> u64 {
    u64::from(parent) << 32 | u64::from(label)
}

impl Arena {
    pub fn new() -> Self {
        Arena {
            nodes: Vec::new(),
            free: NONE,
            unused: 0,
            limit: NONE - 1,
            wide: FxHashMap::default(),
            credit: 0,
        }
    }

    pub fn limit(&self) -> u32 {
        self.limit
    }

    pub fn set_limit(&mut self, limit: u32) {
        self.limit = limit.min(NONE - 1);
    }

    /// Nodes in use.
    pub fn len(&self) -> u32 {
        self.nodes.len() as u32 - self.unused
    }

    /// One more than the largest index.
    pub fn end(&self) -> usize {
        self.nodes.len()
    }

    /// Bytes held, by capacity.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + table_bytes::<u64, u32>(self.wide.capacity())
    }

    #[inline]
    pub fn get(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.get(node).first;
        std::iter::from_fn(move || {
            let child = at;
            (child != NONE).then(|| {
                at = self.get(child).next;
                child
            })
        })
    }

    /// A node without a parent. `None` when there are as many nodes as there may be.
    pub fn add(&mut self, label: u32) -> Option<u32> {
        let node = Node {
            count: 0,
            label,
            first: NONE,
            next: NONE,
            link: NONE,
        };
        if self.free != NONE {
            let index = self.free;
            self.free = self.get(index).next;
            self.unused -= 1;
            *self.get_mut(index) = node;
            return Some(index);
        }
        let index = self.nodes.len() as u32;
        if index >= self.limit {
            return None;
        }
        self.nodes.push(node);
        Some(index)
    }

    /// The child with this label, moved to the front of its siblings; made if there is none.
    /// `None` when there are as many nodes as there may be.
    #[inline(always)]
    pub fn child(&mut self, parent: u32, label: u32) -> Option<u32> {
        let first = self.get(parent).first;
        if first != NONE && self.get(first).label == label {
            return Some(first);
        }
        self.other_child(parent, first, label)
    }

    /// [`child`](Self::child), when it is not the first.
    #[inline(never)]
    fn other_child(&mut self, parent: u32, first: u32, label: u32) -> Option<u32> {
        let (mut previous, mut at, mut steps) = (NONE, first, 0);
        while at != NONE {
            if steps == SCAN {
                return self.wide_child(parent, at, previous, label);
            }
            if self.get(at).label == label {
                self.move_to_front(parent, previous, at);
                return Some(at);
            }
            previous = at;
            at = self.get(at).next;
            steps += 1;
        }
        let child = self.add_child(parent, label)?;
        if steps == SCAN {
            self.index_children(parent);
        }
        Some(child)
    }

    /// A child of a wide node, not among the first [`SCAN`]. The others begin at `rest`, after `previous`.
    fn wide_child(&mut self, parent: u32, rest: u32, previous: u32, label: u32) -> Option<u32> {
        let Some(&child) = self.wide.get(&key(parent, label)) else {
            let child = self.add_child(parent, label)?;
            self.wide.insert(key(parent, label), child);
            return Some(child);
        };
        // To move it to the front its predecessor must be found, step by step. Hits pay for the steps, one
        // for one, so a hit costs one step more on average and hot children get to the front all the same.
        self.credit += 1;
        if self.credit > 0 {
            let (mut previous, mut at) = (previous, rest);
            while at != child {
                previous = at;
                at = self.get(at).next;
                self.credit -= 1;
            }
            self.move_to_front(parent, previous, child);
        }
        Some(child)
    }

    /// The child with this label, moved to the front of its siblings, if there is one.
    #[inline]
    pub fn hit(&mut self, parent: u32, label: u32) -> Option<u32> {
        let first = self.get(parent).first;
        if first == NONE || self.get(first).label == label {
            return (first != NONE).then_some(first);
        }
        self.find_child(parent, label)?;
        self.other_child(parent, first, label)
    }

    /// The child with this label, without moving anything.
    pub fn find_child(&self, parent: u32, label: u32) -> Option<u32> {
        for (steps, child) in self.children(parent).enumerate() {
            if steps == SCAN as usize {
                return self.wide.get(&key(parent, label)).copied();
            }
            if self.get(child).label == label {
                return Some(child);
            }
        }
        None
    }

    /// Frees a childless node, `previous` being the sibling before it (or [`NONE`]).
    pub fn remove(&mut self, parent: u32, previous: u32, node: u32) {
        let Node { label, next, .. } = *self.get(node);
        if previous == NONE {
            self.get_mut(parent).first = next;
        } else {
            self.get_mut(previous).next = next;
        }
        if !self.wide.is_empty() {
            self.wide.remove(&key(parent, label));
        }
        let free = self.free;
        let node_mut = self.get_mut(node);
        node_mut.next = free;
        node_mut.link = NONE;
        node_mut.count = 0;
        self.free = node;
        self.unused += 1;
    }

    /// Indices of the nodes not in use.
    #[cfg(test)]
    fn free_nodes(&self) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.free;
        std::iter::from_fn(move || {
            let node = at;
            (node != NONE).then(|| {
                at = self.get(node).next;
                node
            })
        })
    }

    fn add_child(&mut self, parent: u32, label: u32) -> Option<u32> {
        let child = self.add(label)?;
        self.get_mut(child).next = self.get(parent).first;
        self.get_mut(parent).first = child;
        Some(child)
    }

    fn index_children(&mut self, parent: u32) {
        let mut at = self.get(parent).first;
        while at != NONE {
            let Node { label, next, .. } = *self.get(at);
            self.wide.insert(key(parent, label), at);
            at = next;
        }
    }

    fn move_to_front(&mut self, parent: u32, previous: u32, node: u32) {
        if previous == NONE {
            return;
        }
        self.get_mut(previous).next = self.get(node).next;
        self.get_mut(node).next = self.get(parent).first;
        self.get_mut(parent).first = node;
    }
}

/// Bytes of a hash table with room for `capacity` entries: one control byte each, at most 7/8 full.
pub(super) fn table_bytes<K, V>(capacity: usize) -> usize {
    if capacity == 0 {
        return 0;
    }
    (capacity * 8 / 7).next_power_of_two() * (size_of::<(K, V)>() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_nodes_keep_every_child() {
        let mut arena = Arena::new();
        let root = arena.add(0).unwrap();
        let children: Vec<u32> = (0..200).map(|l| arena.child(root, l).unwrap()).collect();
        assert_eq!(arena.len(), 201);
        for round in 0..5u32 {
            for label in (0..200).rev().step_by(1 + round as usize) {
                assert_eq!(arena.find_child(root, label), Some(children[label as usize]));
                assert_eq!(arena.child(root, label), Some(children[label as usize]));
            }
        }
        assert_eq!(arena.len(), 201);
        assert_eq!(arena.children(root).count(), 200);
        assert_eq!(arena.find_child(root, 200), None);
        // A child that is asked for again and again gets to the front.
        for _ in 0..200 {
            arena.child(root, 0);
        }
        assert_eq!(arena.get(root).first, children[0]);
    }

    #[test]
    fn removed_nodes_are_used_again() {
        let mut arena = Arena::new();
        let root = arena.add(0).unwrap();
        for label in 0..40 {
            arena.child(root, label);
        }
        // Remove all but every fifth, from the current list.
        let (mut previous, mut at) = (NONE, arena.get(root).first);
        while at != NONE {
            let Node { label, next, .. } = *arena.get(at);
            if label % 5 == 0 {
                previous = at;
            } else {
                arena.remove(root, previous, at);
            }
            at = next;
        }
        assert_eq!((arena.len(), arena.free_nodes().count()), (9, 32));
        for label in 0..40 {
            assert_eq!(arena.find_child(root, label).is_some(), label % 5 == 0, "{label}");
        }
        for label in 0..40 {
            let child = arena.child(root, label).unwrap();
            assert_eq!(arena.find_child(root, label), Some(child));
        }
        assert_eq!((arena.len(), arena.end()), (41, 41));
    }

    #[test]
    fn no_more_nodes_than_allowed() {
        let mut arena = Arena::new();
        arena.set_limit(2);
        let root = arena.add(0).unwrap();
        assert!(arena.child(root, 1).is_some());
        assert_eq!(arena.child(root, 2), None);
        assert!(arena.child(root, 1).is_some());
    }
}
