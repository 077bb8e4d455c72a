//! Path and edge profile of sampled path ends (PEP sections 3.3 and 4.3).
//!
//! A sample adds one (or its weight, if it represents more than itself) to its path's frequency and to the
//! counter of every edge on the path. Which edges those are is worked out at the path's first sample and
//! kept, so that further samples of it only add.

use rustc_hash::FxHashMap;
use trodden_numbering::{BlockId, Path, RegenerateError};
use trodden_profile::{EdgeProfile, MethodCounts, MethodMap};

use crate::{MethodLookup, PathAnalysis, PathEvent};

/// A path of a method as sampled: whole, or up to the block where it was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PathKey {
    number: u64,
    stopped: Option<u32>,
}

/// Edges and blocks on a path, as (flat) indices of its method's counters.
#[derive(Clone, Debug)]
struct PathRecord {
    samples: u64,
    edges: Box<[u32]>,
    blocks: Box<[u32]>,
}

/// One method: edge counters in one array, those of a block's out-edges adjacent.
#[derive(Clone, Debug)]
struct MethodRecord {
    /// Per block: index of its first out-edge's counter; one more entry at the end.
    first_edge: Box<[u32]>,
    edges: Box<[u64]>,
    blocks: Box<[u64]>,
    paths: FxHashMap<PathKey, PathRecord>,
}

impl MethodRecord {
    fn new(map: &MethodMap) -> Self {
        let mut first_edge = vec![0u32];
        let mut sum = 0u32;
        for block in &map.blocks {
            sum += block.labels.len() as u32;
            first_edge.push(sum);
        }
        MethodRecord {
            first_edge: first_edge.into(),
            edges: vec![0; sum as usize].into(),
            blocks: vec![0; map.blocks.len()].into(),
            paths: FxHashMap::default(),
        }
    }

    fn first_sample(&self, map: &MethodMap, key: PathKey) -> Result<PathRecord, RegenerateError> {
        let path: Path = match key.stopped {
            None => map.dag.regenerate(&map.graph, key.number)?,
            Some(block) => {
                map.dag
                    .regenerate_partial(&map.graph, key.number, BlockId::new(block as usize))?
            }
        };
        let edge = |e: &trodden_numbering::EdgeRef| self.first_edge[e.from.index()] + e.index;
        Ok(PathRecord {
            samples: 0,
            edges: path.edges.iter().map(edge).collect(),
            blocks: path.blocks(&map.graph).iter().map(|b| b.index() as u32).collect(),
        })
    }

    fn add(&mut self, key: PathKey, times: u64) -> bool {
        let Some(path) = self.paths.get_mut(&key) else {
            return false;
        };
        path.samples += times;
        for &edge in &path.edges {
            self.edges[edge as usize] += times;
        }
        for &block in &path.blocks {
            self.blocks[block as usize] += times;
        }
        true
    }
}

/// Frequencies of sampled paths, and counters of the edges and blocks on them.
#[derive(Clone, Debug, Default)]
pub struct PathEdgeProfile {
    methods: FxHashMap<u32, MethodRecord>,
    samples: u64,
    unknown: u64,
    regenerated: u64,
}

impl PathEdgeProfile {
    /// Takes in one sampled path end.
    pub fn sample(&mut self, methods: &dyn MethodLookup, event: PathEvent) {
        self.sample_weighted(methods, event, 1);
    }

    /// Takes in one sampled path end that represents `weight` of them: it adds that to the path's frequency
    /// and its edges' counters, but is one sample.
    pub fn sample_weighted(&mut self, methods: &dyn MethodLookup, event: PathEvent, weight: u64) {
        let key = PathKey {
            number: event.path,
            stopped: None,
        };
        self.sample_key(methods, event.method, key, weight);
    }

    /// Takes in a path that was sampled before its end: `path` is what the path register held at the top of
    /// `block` (PEP section 3.2). Kept apart from the full paths, but the edges on it are counted like
    /// theirs.
    pub fn sample_partial(&mut self, methods: &dyn MethodLookup, method: u32, block: u32, path: u64) {
        let key = PathKey {
            number: path,
            stopped: Some(block),
        };
        self.sample_key(methods, method, key, 1);
    }

    fn sample_key(&mut self, methods: &dyn MethodLookup, method: u32, key: PathKey, weight: u64) {
        if let Some(record) = self.methods.get_mut(&method)
            && record.add(key, weight)
        {
            self.samples += 1;
            return;
        }
        let Some(found) = methods.method(method) else {
            self.unknown += 1;
            return;
        };
        let record = self
            .methods
            .entry(method)
            .or_insert_with(|| MethodRecord::new(found.map()));
        match record.first_sample(found.map(), key) {
            Ok(path) => {
                self.regenerated += 1;
                record.paths.insert(key, path);
                record.add(key, weight);
                self.samples += 1;
            }
            Err(_) => self.unknown += 1,
        }
    }

    /// Samples taken in, without the [`unknown`](PathAnalysis::unknown) ones.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// How many paths' edges have been worked out: one per different path.
    pub fn regenerated(&self) -> u64 {
        self.regenerated
    }

    /// The edge profile of a method; `None` if no path of it was sampled.
    pub fn edges(&self, method: u32) -> Option<EdgeProfile> {
        let record = self.methods.get(&method)?;
        let out_edges = |range: &[u32]| record.edges[range[0] as usize..range[1] as usize].to_vec();
        Some(EdgeProfile {
            blocks: record.blocks.to_vec(),
            edges: record
                .first_edge
                .windows(2)
                .map(out_edges)
                .collect::<Vec<_>>()
                .into(),
            unknown: 0,
        })
    }
}

impl PathAnalysis for PathEdgeProfile {
    fn consume(&mut self, methods: &dyn MethodLookup, events: &[PathEvent]) {
        for &event in events {
            self.sample(methods, event);
        }
    }

    fn merge(&mut self, other: Self) {
        self.samples += other.samples;
        self.unknown += other.unknown;
        for (method, theirs) in other.methods {
            let Some(own) = self.methods.get_mut(&method) else {
                self.regenerated += theirs.paths.len() as u64;
                self.methods.insert(method, theirs);
                continue;
            };
            for (key, path) in theirs.paths {
                let times = path.samples;
                own.paths.entry(key).or_insert_with(|| {
                    self.regenerated += 1;
                    PathRecord { samples: 0, ..path }
                });
                own.add(key, times);
            }
        }
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    fn unknown(&self) -> u64 {
        self.unknown
    }

    fn method_counts(&self, method: u32) -> MethodCounts {
        let mut counts = MethodCounts::default();
        for (key, path) in self.methods.get(&method).iter().flat_map(|m| &m.paths) {
            match key.stopped {
                None => counts.paths.insert(key.number, path.samples),
                Some(block) => counts.partial.insert((block, key.number), path.samples),
            };
        }
        counts
    }
}
