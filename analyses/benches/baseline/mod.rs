//! The baselines that k-iteration forests are compared with. Shared by benchmarks, tables and tests; the
//! product does not need it.

use std::hint::black_box;

use rustc_hash::FxHashMap;
use trodden_analyses::kpaths::{ActivationAnalysis, PathSink};

/// Ball-Larus path profiling in one hash table of counters by (method, path): k-BLPP's BLPP, over the same
/// stream.
///
/// Made to be a fair rival: the same hash function, the same 8-byte key and the same stack of activations as
/// the roots of a `SlabForest`.
#[derive(Clone, Debug, Default)]
pub struct HashProfile {
    /// Method in the upper half of a key, path in the lower one.
    counts: FxHashMap<u64, u64>,
    /// Counts of paths whose number takes more than 32 bits.
    wide: FxHashMap<(u32, u64), u64>,
}

// Each user needs a part of it.
#[allow(dead_code)]
impl HashProfile {
    /// How often a path ended.
    pub fn count(&self, method: u32, path: u64) -> u64 {
        let count = match u32::try_from(path) {
            Ok(path) => self.counts.get(&key(method, path)),
            Err(_) => self.wide.get(&(method, path)),
        };
        count.copied().unwrap_or(0)
    }

    /// Method, path number and count of every path, in no order.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u64, u64)> + '_ {
        let narrow = self.counts.iter();
        let narrow = narrow.map(|(&key, &count)| ((key >> 32) as u32, key & u64::from(u32::MAX), count));
        let wide = self.wide.iter();
        narrow.chain(wide.map(|(&(method, path), &count)| (method, path, count)))
    }

    /// Different paths: entries of the table (k-BLPP figure 17).
    pub fn len(&self) -> usize {
        self.counts.len() + self.wide.len()
    }

    /// Bytes held by the tables, spare capacity included.
    pub fn bytes(&self) -> u64 {
        // As hashbrown lays a table out: a power of two of entries, at most 7/8 in use, a byte of control
        // each.
        let table = |capacity: usize, entry: usize| match capacity {
            0 => 0,
            capacity => (capacity * 8 / 7).next_power_of_two() * (entry + 1),
        };
        let narrow = table(self.counts.capacity(), size_of::<(u64, u64)>());
        (narrow + table(self.wide.capacity(), size_of::<((u32, u64), u64)>())) as u64
    }

    /// Adds another thread's counts.
    pub fn merge(&mut self, other: &HashProfile) {
        for (method, path, count) in other.counts() {
            self.add(method, path, count);
        }
    }
}

impl HashProfile {
    #[inline]
    fn add(&mut self, method: u32, path: u64, count: u64) {
        match u32::try_from(path) {
            Ok(path) => *self.counts.entry(key(method, path)).or_default() += count,
            Err(_) => *self.wide.entry((method, path)).or_default() += count,
        }
    }
}

fn key(method: u32, path: u32) -> u64 {
    u64::from(method) << 32 | u64::from(path)
}

impl PathSink for HashProfile {
    type Activation = u32;
    const COMMUTES: bool = true;

    #[inline]
    fn begin(&self, method: u32) -> u32 {
        method
    }

    #[inline]
    fn path(&mut self, &mut method: &mut u32, path: u64) {
        self.add(method, path, 1);
    }
}

/// Reads every event and forgets it: what is left of an overhead when it is used is the stream's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullActivations;

impl ActivationAnalysis for NullActivations {
    const COMMUTES: bool = true;

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
