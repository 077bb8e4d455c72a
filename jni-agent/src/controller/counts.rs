//! What the counters say at one moment.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::agent::Agent;
use crate::blocks::Block;
use crate::jvm::{Jni, JvmError};
use crate::registry::ClassEntry;
use crate::shim::Shim;

/// Path number to count.
pub type PathCounts = BTreeMap<u64, u64>;

/// All counters, summed over threads. Resets of the profile do not change them.
pub struct Snapshot {
    /// When.
    pub at: Instant,
    dense: Vec<u64>,
    hashed: BTreeMap<(u32, u32), u64>,
}

impl Snapshot {
    /// Before anything was counted.
    pub fn empty(at: Instant) -> Self {
        Snapshot {
            at,
            dense: Vec::new(),
            hashed: BTreeMap::new(),
        }
    }

    /// Now. Threads go on counting meanwhile, so counts of different methods may be some microseconds apart.
    pub fn take(agent: &Agent, shim: &Shim, jni: Jni<'_>) -> Result<Self, JvmError> {
        let at = Instant::now();
        let last = agent.registry.counters().max(Block::HEADER);
        let dense = agent.blocks.sums(0..last);
        let hashed = shim.hashed_counts(jni)?;
        let positive = |(method, path, count): (u32, u32, i64)| ((method, path), count.max(0) as u64);
        Ok(Snapshot {
            at,
            dense,
            hashed: hashed.into_iter().map(positive).collect(),
        })
    }

    fn slots(&self, class: &ClassEntry, method: usize) -> Option<&[u64]> {
        let base = class.layout.base[method]?;
        let first = (class.ids.first_counter + base) as usize;
        let paths = class.map.methods[method].num_paths() as usize;
        // Registered after the counters were read: nothing was counted yet.
        Some(self.dense.get(first..first + paths).unwrap_or_default())
    }

    /// Path ends of a method.
    pub fn total(&self, class: &ClassEntry, method: usize) -> u64 {
        match self.slots(class, method) {
            Some(slots) => slots.iter().sum(),
            None => self.of_hashed(class, method).map(|(_, count)| count).sum(),
        }
    }

    /// Counts of a method's paths that were taken.
    pub fn paths(&self, class: &ClassEntry, method: usize) -> PathCounts {
        match self.slots(class, method) {
            Some(slots) => (0..)
                .zip(slots.iter().copied())
                .filter(|&(_, count)| count > 0)
                .collect(),
            None => self
                .of_hashed(class, method)
                .filter(|&(_, count)| count > 0)
                .collect(),
        }
    }

    fn of_hashed(&self, class: &ClassEntry, method: usize) -> impl Iterator<Item = (u64, u64)> {
        let id = class.ids.first_method + method as u32;
        let paths = class.map.methods[method].num_paths();
        let range = self.hashed.range((id, 0)..=(id, u32::MAX));
        let entry = |(&(_, path), &count): (&(u32, u32), &u64)| (u64::from(path), count);
        range.map(entry).filter(move |&(path, _)| path < paths)
    }
}
