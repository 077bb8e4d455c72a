//! The reference: a hash table of counters, nothing clever.

use rustc_hash::FxHashMap;
use trodden_profile::MethodCounts;

use crate::{MethodLookup, PathAnalysis, PathEvent};

/// Counts each (method, path). Does not check that there is such a method or path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactCounts {
    methods: FxHashMap<u32, FxHashMap<u64, u64>>,
}

impl ExactCounts {
    /// How often an event occurred.
    pub fn count(&self, event: PathEvent) -> u64 {
        let paths = self.methods.get(&event.method);
        paths.and_then(|p| p.get(&event.path)).copied().unwrap_or(0)
    }

    /// Number of different events.
    pub fn distinct(&self) -> usize {
        self.methods.values().map(FxHashMap::len).sum()
    }

    /// Number of events.
    pub fn total(&self) -> u64 {
        self.methods.values().flat_map(FxHashMap::values).sum()
    }

    fn add(&mut self, method: u32, path: u64, times: u64) {
        *self.methods.entry(method).or_default().entry(path).or_default() += times;
    }
}

impl PathAnalysis for ExactCounts {
    fn consume(&mut self, _: &dyn MethodLookup, events: &[PathEvent]) {
        for event in events {
            self.add(event.method, event.path, 1);
        }
    }

    fn merge(&mut self, other: Self) {
        for (method, paths) in other.methods {
            for (path, times) in paths {
                self.add(method, path, times);
            }
        }
    }

    fn reset(&mut self) {
        self.methods.clear();
    }

    fn unknown(&self) -> u64 {
        0
    }

    fn method_counts(&self, method: u32) -> MethodCounts {
        let paths = self.methods.get(&method);
        MethodCounts {
            paths: paths
                .into_iter()
                .flatten()
                .map(|(&path, &times)| (path, times))
                .collect(),
            ..MethodCounts::default()
        }
    }
}
