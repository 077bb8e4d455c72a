//! The k-IPF while the stream goes on.

use super::ForestError;
use super::arena::NONE;
use super::iteration::IterationForest;
use super::slab::SlabForest;

/// The k-iteration path forest of a [`SlabForest`] that keeps growing.
///
/// [`update`](Self::update) brings it up to date: one pass over the slab forest's nodes, and for each counter that
/// changed since the last update, up to `k` additions; nothing is built anew. The result equals
/// [`IterationForest::of`] at that moment.
///
/// How: a counter of the k-SF stands for occurrences of the whole branch down to it, hence of every sequence
/// that ends there. In the k-IPF these are a node and its chain of *suffix links* (the same sequence without its
/// first path), so each slab node needs to know only the longest of them.
#[derive(Clone, Debug)]
pub struct LiveIterationForest {
    forest: IterationForest,
    /// By slab node: the node of its last (up to) `k` paths, and its counter at the last update.
    images: Vec<(u32, u64)>,
}

impl LiveIterationForest {
    /// Empty; the first update catches up. Fails unless `k` is one that [`SlabForest::new`] takes.
    pub fn new(k: u32) -> Result<Self, ForestError> {
        SlabForest::new(k)?;
        Ok(LiveIterationForest {
            forest: IterationForest::empty(k),
            images: Vec::new(),
        })
    }

    /// Takes in what happened since the last update; always of the same slab forest, which may have merged others
    /// meanwhile. Returns how many counters had changed. Fails if `k` is another.
    pub fn update(&mut self, slabs: &SlabForest) -> Result<usize, ForestError> {
        if slabs.k != self.forest.k {
            return Err(ForestError::DifferentK(self.forest.k, slabs.k));
        }
        self.images.resize(slabs.trees.arena.end(), (NONE, 0));
        let labels = &slabs.trees.labels;
        self.forest.trees.labels = labels.clone();
        let mut changed = 0;
        let mut stack = Vec::new();
        for (method, root) in slabs.trees.roots() {
            stack.push((root, NONE, 0));
            while let Some((at, above, depth)) = stack.pop() {
                let node = slabs.trees.arena.get(at);
                let (mut image, seen) = self.images[at as usize];
                if image == NONE {
                    // Below a node for k paths comes one for the last k - 1 of them and this one.
                    let shorter = match depth == self.forest.k {
                        true => self.forest.trees.arena.get(above).link,
                        false => above,
                    };
                    let full = ForestError::Full(self.forest.trees.arena.limit());
                    image = self.extend(method, shorter, node.label).ok_or(full)?;
                }
                self.images[at as usize] = (image, node.count);
                if node.count > seen {
                    changed += 1;
                    let mut suffix = image;
                    while suffix != NONE {
                        let node_mut = self.forest.trees.arena.get_mut(suffix);
                        node_mut.count += node.count - seen;
                        suffix = node_mut.link;
                    }
                }
                let depth = (depth + 1).min(self.forest.k);
                stack.extend(slabs.trees.arena.children(at).map(|child| (child, image, depth)));
            }
        }
        Ok(changed)
    }

    /// The node for the sequence of `above` and one more path, with suffix links.
    fn extend(&mut self, method: u32, above: u32, label: u32) -> Option<u32> {
        let node = self.forest.trees.below(method, above, label)?;
        if above != NONE && self.forest.trees.arena.get(node).link == NONE {
            let shorter = self.forest.trees.arena.get(above).link;
            let link = self.extend(method, shorter, label)?;
            self.forest.trees.arena.get_mut(node).link = link;
        }
        Some(node)
    }

    /// The forest as of the last update.
    pub fn forest(&self) -> &IterationForest {
        &self.forest
    }
}
