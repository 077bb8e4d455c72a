//! What the counters say at one moment.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use trodden_instrumenter::{CounterSlot, MethodId};
use trodden_numbering::StartKind;
use trodden_profile::MethodMap;

use crate::classes::registry::{ClassEntry, Slots};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::sampling::PathCounts;
use crate::structural::Windows;
use crate::threads::shim::Shim;

/// All counts at one moment. Resets of the profile do not change exact ones; estimates begin anew.
pub struct Snapshot {
    /// When.
    pub at: Instant,
    counts: Counts,
}

enum Counts {
    /// Every path end, summed over threads.
    Exact {
        dense: Vec<u64>,
        hashed: BTreeMap<(MethodId, u32), u64>,
    },
    /// Of structure graphs, by method; a path's number is its [`key`](crate::structural::key). And which
    /// methods' windows are full.
    Windows {
        counts: FxHashMap<MethodId, PathCounts>,
        full: FxHashSet<MethodId>,
    },
}

/// Path ends of a method that began where it was entered, and all others, among those of counts of Ball-Larus
/// paths.
pub fn entered(map: &MethodMap, counts: &PathCounts) -> (u64, u64) {
    let of_entry = |s: &&trodden_numbering::PathStart| s.kind == StartKind::Entry;
    let entries: Vec<_> = map.dag.starts().iter().filter(of_entry).collect();
    split(counts, |path| {
        let mut entries = entries.iter();
        entries.any(|s| (s.value..s.value + s.paths).contains(&path))
    })
}

/// Counts of the paths that are wanted, and of all others.
fn split(counts: &PathCounts, wanted: impl Fn(u64) -> bool) -> (u64, u64) {
    let sum: u64 = counts.values().sum();
    let some = counts.iter().filter(|(path, _)| wanted(**path));
    let some: u64 = some.map(|(_, count)| count).sum();
    (some, sum - some)
}

impl Snapshot {
    /// Before anything was counted.
    pub fn empty(at: Instant) -> Self {
        Snapshot {
            at,
            counts: Counts::Exact {
                dense: Vec::new(),
                hashed: BTreeMap::new(),
            },
        }
    }

    /// Now. Threads go on counting meanwhile, so counts of different methods may be some microseconds apart.
    pub fn take(host: &Host, shim: &Shim, jni: Jni<'_>) -> Result<Self, JvmError> {
        let at = Instant::now();
        let last = host.registry.counters();
        let dense = host.blocks.sums(CounterSlot(0)..last);
        let hashed = shim.hashed_counts(jni)?;
        let positive =
            |(method, path, count): (u32, u32, i64)| ((MethodId(method), path), count.max(0) as u64);
        let hashed = hashed.into_iter().map(positive).collect();
        Ok(Snapshot {
            at,
            counts: Counts::Exact { dense, hashed },
        })
    }

    /// Now, of structure graphs, with windows of so many paths.
    pub fn of_windows(
        host: &Host,
        windows: &Mutex<Windows>,
        window: NonZeroU32,
        shim: &Shim,
        jni: Jni<'_>,
    ) -> Result<Self, JvmError> {
        let at = Instant::now();
        let (counts, full) = lock(windows).snapshot(host, Some(window), shim, jni)?;
        Ok(Snapshot {
            at,
            counts: Counts::Windows { counts, full },
        })
    }

    /// Are the windows of a method full? `None` where there are none.
    pub fn is_full(&self, method: MethodId) -> Option<bool> {
        match &self.counts {
            Counts::Exact { .. } => None,
            Counts::Windows { full, .. } => Some(full.contains(&method)),
        }
    }

    /// Path ends of a method that began where it was entered, and all others, among those of some counts.
    pub fn entered(&self, map: &MethodMap, counts: &PathCounts) -> (u64, u64) {
        match self.counts {
            Counts::Exact { .. } => entered(map, counts),
            // One path of the outline per activation.
            Counts::Windows { .. } => split(counts, |path| path >> 32 == 0),
        }
    }

    fn of_windows_of(&self, class: &ClassEntry, method: usize) -> Option<&PathCounts> {
        match &self.counts {
            Counts::Windows { counts, .. } => counts.get(&class.ids.first_method.at(method)),
            Counts::Exact { .. } => None,
        }
    }

    fn slots(&self, class: &ClassEntry, method: usize) -> Option<&[u64]> {
        let Counts::Exact { dense, .. } = &self.counts else {
            return None;
        };
        let Slots::Paths(layout) = &class.slots else {
            return None;
        };
        let base = layout.base[method]?;
        let first = class.ids.first_counter.plus(base).index();
        let paths = class.map.methods[method].num_paths() as usize;
        // Registered after the counters were read: nothing was counted yet.
        Some(dense.get(first..first + paths).unwrap_or_default())
    }

    /// Path ends of a method.
    pub fn total(&self, class: &ClassEntry, method: usize) -> u64 {
        if let Some(counts) = self.of_windows_of(class, method) {
            return counts.values().sum();
        }
        match self.slots(class, method) {
            Some(slots) => slots.iter().sum(),
            None => self.of_hashed(class, method).map(|(_, count)| count).sum(),
        }
    }

    /// Counts of a method's paths that were taken.
    pub fn paths(&self, class: &ClassEntry, method: usize) -> PathCounts {
        if let Some(counts) = self.of_windows_of(class, method) {
            return counts.clone();
        }
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
        let hashed = match &self.counts {
            Counts::Exact { hashed, .. } => Some(hashed),
            Counts::Windows { .. } => None,
        };
        let id = class.ids.first_method.at(method);
        let paths = class.map.methods[method].num_paths();
        let range = hashed.map(|hashed| hashed.range((id, 0)..=(id, u32::MAX)));
        let entry = |(&(_, path), &count): (&(MethodId, u32), &u64)| (u64::from(path), count);
        let all = range.into_iter().flatten().map(entry);
        all.filter(move |&(path, _)| path < paths)
    }
}
