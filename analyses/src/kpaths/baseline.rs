//! What k-iteration forests are measured against.

use std::hint::black_box;

use rustc_hash::FxHashMap;

use super::activation::{ActivationAnalysis, PathSink};
use super::arena::table_bytes;
use super::trees::{Labels, key};

/// Ball-Larus path profiling in one hash table of counters by (method, path): k-BLPP's BLPP, over the same stream.
///
/// Made to be a fair rival: the same hash function, the same 8-byte key and the same stack of activations as
/// [`SlabForest`](super::SlabForest)'s roots have.
#[derive(Clone, Debug, Default)]
pub struct HashProfile {
    labels: Labels,
    counts: FxHashMap<u64, u64>,
    dropped: u64,
}

impl HashProfile {
    /// How often a path ended.
    pub fn count(&self, method: u32, path: u64) -> u64 {
        let label = self.labels.find(path);
        let count = label.and_then(|label| self.counts.get(&key(method, label)));
        count.copied().unwrap_or(0)
    }

    /// Method, path number and count of every path, in no order.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u64, u64)> + '_ {
        let path = |key: u64| self.labels.path(key as u32);
        let counts = self.counts.iter();
        counts.map(move |(&key, &count)| ((key >> 32) as u32, path(key), count))
    }

    /// Different paths: entries of the table (k-BLPP figure 17).
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Was nothing counted?
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Bytes held by the table, spare capacity included.
    pub fn bytes(&self) -> u64 {
        (table_bytes::<u64, u64>(self.counts.capacity()) + self.labels.bytes()) as u64
    }

    /// Adds another thread's counts.
    pub fn merge(&mut self, other: &HashProfile) {
        for (method, path, count) in other.counts() {
            match self.labels.label(path) {
                Some(label) => *self.counts.entry(key(method, label)).or_default() += count,
                None => self.dropped += count,
            }
        }
        self.dropped += other.dropped;
    }

    /// Paths in no counter: beyond the first 2^31 different path numbers above 2^31.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl PathSink for HashProfile {
    type Activation = u32;

    #[inline]
    fn begin(&self, method: u32) -> u32 {
        method
    }

    #[inline]
    fn path(&mut self, &mut method: &mut u32, path: u64) {
        match self.labels.label(path) {
            Some(label) => *self.counts.entry(key(method, label)).or_default() += 1,
            None => self.dropped += 1,
        }
    }
}

/// Reads every event and forgets it: what is left of an overhead when it is used is the stream's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullActivations;

impl ActivationAnalysis for NullActivations {
    #[inline]
    fn enter(&mut self, method: u32) {
        black_box(method);
    }

    #[inline]
    fn path(&mut self, path: u64) {
        black_box(path);
    }

    #[inline]
    fn exit(&mut self) {
        black_box(());
    }

    fn abandon(&mut self) {}
}
