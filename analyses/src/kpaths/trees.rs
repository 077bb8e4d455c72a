//! The forest that k-SF and k-IPF have in common: labelled trees of methods, found by method and root label.

use rustc_hash::FxHashMap;

use super::arena::{Arena, NONE, table_bytes};

/// First label of path numbers that are too large to be their own labels.
const WIDE: u32 = 1 << 31;

/// Path numbers as 32-bit labels. Numbers below 2^31, which is where the numbering cuts by default, are their
/// own labels; larger ones are numbered as they come.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    paths: Vec<u64>,
    labels: FxHashMap<u64, u32>,
}

impl Labels {
    /// The label of a path number; `None` when 2^31 large ones are known already.
    #[inline]
    pub fn label(&mut self, path: u64) -> Option<u32> {
        if path < u64::from(WIDE) {
            return Some(path as u32);
        }
        self.wide(path)
    }

    #[cold]
    fn wide(&mut self, path: u64) -> Option<u32> {
        if let Some(&label) = self.labels.get(&path) {
            return Some(label);
        }
        let index = u32::try_from(self.paths.len()).ok().filter(|&i| i < WIDE)?;
        self.paths.push(path);
        self.labels.insert(path, WIDE | index);
        Some(WIDE | index)
    }

    /// The label of a path number, if it has one.
    pub fn find(&self, path: u64) -> Option<u32> {
        if path < u64::from(WIDE) {
            Some(path as u32)
        } else {
            self.labels.get(&path).copied()
        }
    }

    /// The path number behind a label.
    pub fn path(&self, label: u32) -> u64 {
        if label < WIDE {
            u64::from(label)
        } else {
            self.paths[(label - WIDE) as usize]
        }
    }

    pub fn bytes(&self) -> usize {
        self.paths.capacity() * size_of::<u64>() + table_bytes::<u64, u32>(self.labels.capacity())
    }
}

/// Trees of many methods.
#[derive(Clone, Debug)]
pub(super) struct Trees {
    pub arena: Arena,
    pub labels: Labels,
    /// (method, label) to root: the paper's table R, with section 5.3's key.
    roots: FxHashMap<u64, u32>,
    /// Accesses to `roots` while the stream was consumed.
    pub lookups: u64,
}

pub(super) fn key(method: u32, label: u32) -> u64 {
    u64::from(method) << 32 | u64::from(label)
}

impl Trees {
    pub fn new() -> Self {
        Trees {
            arena: Arena::new(),
            labels: Labels::default(),
            roots: FxHashMap::default(),
            lookups: 0,
        }
    }

    /// The root with this label, made if there is none.
    pub fn root(&mut self, method: u32, label: u32) -> Option<u32> {
        self.lookups += 1;
        if let Some(&root) = self.roots.get(&key(method, label)) {
            return Some(root);
        }
        let root = self.arena.add(label)?;
        self.roots.insert(key(method, label), root);
        Some(root)
    }

    /// The node below `parent`, or the root if `parent` is [`NONE`], with this label; made if there is none.
    pub fn below(&mut self, method: u32, parent: u32, label: u32) -> Option<u32> {
        match parent {
            NONE => self.root(method, label),
            _ => self.arena.child(parent, label),
        }
    }

    /// The node that a sequence of labels leads to from a root.
    pub fn find(&self, method: u32, labels: &[u32]) -> Option<u32> {
        let (&first, rest) = labels.split_first()?;
        let root = *self.roots.get(&key(method, first))?;
        rest.iter()
            .try_fold(root, |at, &label| self.arena.find_child(at, label))
    }

    /// Number of trees.
    pub fn num_roots(&self) -> u32 {
        self.roots.len() as u32
    }

    /// (method, root), in no order.
    pub fn roots(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.roots.iter().map(|(&key, &root)| ((key >> 32) as u32, root))
    }

    /// Bytes held, by capacity.
    pub fn bytes(&self) -> usize {
        self.arena.bytes() + self.labels.bytes() + table_bytes::<u64, u32>(self.roots.capacity())
    }

    /// Adds all trees of another forest to these.
    pub fn add(&mut self, other: &Trees) -> Option<()> {
        // Sorted, so that the same forests make the same arena.
        let mut roots: Vec<(u32, u32)> = other.roots().collect();
        roots.sort_unstable_by_key(|&(method, root)| key(method, other.arena.get(root).label));
        for (method, root) in roots {
            self.add_subtree(other, method, root, NONE)?;
        }
        Some(())
    }

    fn add_subtree(&mut self, other: &Trees, method: u32, from: u32, parent: u32) -> Option<()> {
        let node = other.arena.get(from);
        let label = self.labels.label(other.labels.path(node.label))?;
        let to = self.below(method, parent, label)?;
        self.arena.get_mut(to).count += node.count;
        for child in other.arena.children(from) {
            self.add_subtree(other, method, child, to)?;
        }
        Some(())
    }

    /// Sum of all counters.
    pub fn total(&self) -> u64 {
        let mut total = 0;
        self.walk(|_, _, node| total += self.arena.get(node).count);
        total
    }

    /// Calls `f` with method, depth (0 at a root) and node, parents before children, in no other order.
    pub fn walk(&self, mut f: impl FnMut(u32, u32, u32)) {
        let mut stack = Vec::new();
        for (method, root) in self.roots() {
            stack.push((root, 0));
            while let Some((node, depth)) = stack.pop() {
                f(method, depth, node);
                stack.extend(self.arena.children(node).map(|child| (child, depth + 1)));
            }
        }
    }

    /// All sequences with their counters, sorted: the same for the same forest, however it was built.
    pub fn sorted(&self) -> Vec<(u32, Vec<u64>, u64)> {
        fn collect(trees: &Trees, method: u32, node: u32, path: &mut Vec<u64>, out: &mut Vec<Row>) {
            path.push(trees.labels.path(trees.arena.get(node).label));
            out.push((method, path.clone(), trees.arena.get(node).count));
            for child in trees.arena.children(node) {
                collect(trees, method, child, path, out);
            }
            path.pop();
        }
        type Row = (u32, Vec<u64>, u64);
        let mut out = Vec::with_capacity(self.arena.len() as usize);
        for (method, root) in self.roots() {
            collect(self, method, root, &mut Vec::new(), &mut out);
        }
        out.sort_unstable();
        out
    }

    pub fn stats(&self) -> ForestStats {
        let mut stats = ForestStats {
            nodes: u64::from(self.arena.len()),
            roots: u64::from(self.num_roots()),
            bytes: self.bytes() as u64,
            ..ForestStats::default()
        };
        let mut depths = 0;
        self.walk(|_, depth, node| {
            if self.arena.get(node).first == NONE {
                stats.leaves += 1;
                depths += u64::from(depth);
                stats.depth = stats.depth.max(depth);
            }
        });
        let inner = stats.nodes - stats.leaves;
        if inner > 0 {
            stats.average_degree = Some((stats.nodes - stats.roots) as f64 / inner as f64);
        }
        if stats.leaves > 0 {
            stats.average_leaf_depth = Some(depths as f64 / stats.leaves as f64);
        }
        stats
    }
}

/// Size and shape of a forest: what k-BLPP's figures 17 to 20 show.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForestStats {
    /// Nodes (figure 17 for a k-SF; for a k-IPF the number of profiled paths, figure 18).
    pub nodes: u64,
    /// Trees, that is nodes without a parent.
    pub roots: u64,
    /// Nodes without children.
    pub leaves: u64,
    /// Bytes held by nodes and tables, spare capacity included.
    pub bytes: u64,
    /// Children per node that has any (figure 19); `None` if none has.
    pub average_degree: Option<f64>,
    /// Edges between a leaf and its root, on average over leaves (figure 20); a lone root is a leaf at 0.
    /// `None` for an empty forest.
    pub average_leaf_depth: Option<f64>,
    /// Edges between the deepest leaf and its root.
    pub depth: u32,
}
