//! The k-iteration paths of a stream, counted in another way: by sorting.
//!
//! Every path that ends begins a sequence of up to `k` paths: a suffix of its activation, cut off behind `k`.
//! Sorted, equal beginnings stand next to each other, so that nodes of the k-IPF, leaves and counts for *all*
//! `k` follow from how long a beginning each two neighbours share. This takes memory in proportion to the
//! stream, not to the forest, and is an oracle for it.

use rustc_hash::FxHashMap;
use trodden_analyses::kpaths::ActivationAnalysis;
use trodden_analyses::stream::ActivationWords;

/// Collects the paths of activations, one activation after the other as they end.
#[derive(Default)]
struct Collector {
    open: Vec<(u32, Vec<u32>)>,
    spare: Vec<Vec<u32>>,
    symbols: FxHashMap<(u32, u64), u32>,
    paths: Vec<u32>,
    ends: Vec<usize>,
}

impl ActivationAnalysis for Collector {
    fn enter(&mut self, method: u32) {
        self.open.push((method, self.spare.pop().unwrap_or_default()));
    }

    fn path(&mut self, path: u64) {
        let Some((method, paths)) = self.open.last_mut() else {
            return;
        };
        let next = self.symbols.len() as u32;
        paths.push(*self.symbols.entry((*method, path)).or_insert(next));
    }

    fn exit(&mut self) {
        let Some((_, mut paths)) = self.open.pop() else {
            return;
        };
        if !paths.is_empty() {
            self.paths.append(&mut paths);
            self.ends.push(self.paths.len());
        }
        self.spare.push(paths);
    }

    fn abandon(&mut self) {
        while !self.open.is_empty() {
            self.exit();
        }
    }
}

/// The suffixes of all activations, sorted.
pub struct Suffixes {
    /// Different paths of different methods.
    symbols: usize,
    /// Paths from each one to the end of its activation, at most `longest`.
    left: Vec<u32>,
    order: Vec<u32>,
    /// Paths that each suffix in order has in common with the one before it.
    common: Vec<u32>,
    /// Activations with a path.
    pub activations: usize,
}

/// What the paper's figures 18 to 20 show.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shape {
    /// Nodes of the k-IPF.
    pub nodes: u64,
    /// Nodes without children.
    pub leaves: u64,
    /// Trees.
    pub roots: u64,
    /// Edges from root to leaf, over all leaves.
    pub depths: u64,
    /// Counters of all leaves.
    pub weight: u64,
    /// Edges from root to leaf times the leaf's counter, over all leaves.
    pub weighted_depths: u64,
}

impl Shape {
    /// Children per node that has any.
    pub fn degree(&self) -> f64 {
        (self.nodes - self.roots) as f64 / (self.nodes - self.leaves).max(1) as f64
    }

    /// Edges from root to leaf, on average.
    pub fn leaf_depth(&self) -> f64 {
        self.depths as f64 / self.leaves.max(1) as f64
    }

    /// The same, each leaf weighing as much as its counter.
    pub fn weighted_leaf_depth(&self) -> f64 {
        self.weighted_depths as f64 / self.weight.max(1) as f64
    }
}

impl Suffixes {
    /// Of a thread's words, for sequences of up to `longest` paths.
    pub fn of(words: &[u64], longest: u32) -> Suffixes {
        let mut thread = ActivationWords::new(Collector::default());
        thread.consume(words);
        thread.parts_mut().0.abandon();
        let collected = std::mem::take(thread.parts_mut().0);
        let paths = collected.paths;
        let mut left = vec![0; paths.len()];
        let mut start = 0;
        for &end in &collected.ends {
            for (index, left) in left[start..end].iter_mut().enumerate() {
                *left = longest.min((end - start - index) as u32);
            }
            start = end;
        }
        let order = sorted(&paths, &left, longest);
        let mut common = vec![0; order.len()];
        for index in 1..order.len() {
            let (a, b) = (order[index - 1] as usize, order[index] as usize);
            let longest = left[a].min(left[b]) as usize;
            let (a, b) = (&paths[a..a + longest], &paths[b..b + longest]);
            common[index] = a.iter().zip(b).take_while(|(a, b)| a == b).count() as u32;
        }
        Suffixes {
            symbols: collected.symbols.len(),
            left,
            order,
            common,
            activations: collected.ends.len(),
        }
    }

    /// The k-IPF's shape, for a `k` up to the longest.
    pub fn shape(&self, k: u32) -> Shape {
        let mut shape = Shape {
            roots: self.symbols as u64,
            ..Shape::default()
        };
        let mut equal = 0;
        for (index, &at) in self.order.iter().enumerate() {
            let length = k.min(self.left[at as usize]);
            let before = k.min(self.common[index]);
            shape.nodes += u64::from(length - before);
            equal += 1;
            let after = self.common.get(index + 1).map_or(0, |&common| k.min(common));
            if after < length {
                // The last one of its kind, and nothing goes on from it.
                shape.leaves += 1;
                shape.depths += u64::from(length - 1);
                shape.weight += equal;
                shape.weighted_depths += equal * u64::from(length - 1);
            }
            let next = self
                .order
                .get(index + 1)
                .map_or(0, |&at| k.min(self.left[at as usize]));
            if after < length || next != length {
                equal = 0;
            }
        }
        shape
    }
}

/// Places in the order of up to `longest` paths from there on, by doubling the length that is looked at.
fn sorted(paths: &[u32], left: &[u32], longest: u32) -> Vec<u32> {
    let mut rank: Vec<u32> = paths.to_vec();
    let mut keys: Vec<(u64, u32)> = Vec::with_capacity(paths.len());
    let mut seen = 1;
    loop {
        let second = |at: usize| {
            if left[at] > seen {
                u64::from(rank[at + seen as usize]) + 1
            } else {
                0
            }
        };
        keys.clear();
        keys.extend((0..paths.len()).map(|at| (u64::from(rank[at]) << 32 | second(at), at as u32)));
        keys.sort_unstable();
        let (mut number, mut last) = (0, None);
        for &(key, at) in &keys {
            number += u32::from(last.is_some_and(|last| last != key));
            last = Some(key);
            rank[at as usize] = number;
        }
        seen *= 2;
        if seen >= longest {
            return keys.into_iter().map(|(_, at)| at).collect();
        }
    }
}
