//! The counts at one moment.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use trodden_instrumenter::MethodId;
use trodden_numbering::StartKind;
use trodden_profile::MethodMap;

use crate::classes::{ClassEntry, Slots};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::sampling::PathCounts;
use crate::structural::Windows;
use crate::threads::{Hashed, Shim};

/// All counts at one moment. Resets of the profile do not change exact ones; estimates begin again.
pub struct CounterReading {
    /// When.
    pub at: Instant,
    /// Every path end, summed over threads.
    dense: Vec<u64>,
    hashed: BTreeMap<Hashed, u64>,
    /// In place of these where structure graphs are counted.
    windows: Option<Estimates>,
}

/// Counts of structure graphs, by method; a path's number is its [`key`](crate::structural::key). And the
/// methods whose windows are full.
type Estimates = (FxHashMap<MethodId, PathCounts>, FxHashSet<MethodId>);

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

impl CounterReading {
    /// Before anything was counted.
    pub fn empty(at: Instant) -> Self {
        CounterReading {
            at,
            dense: Vec::new(),
            hashed: BTreeMap::new(),
            windows: None,
        }
    }

    /// Now. Threads go on counting meanwhile, so counts of different methods may be some microseconds apart.
    pub fn take(host: &Host, shim: &Shim, jni: Jni<'_>) -> Result<Self, JvmError> {
        let at = Instant::now();
        let dense = host.counters();
        let hashed = shim.hashed_counts(jni)?.into_iter();
        Ok(CounterReading {
            dense,
            hashed: hashed.map(|(path, count)| (path, count.max(0) as u64)).collect(),
            ..CounterReading::empty(at)
        })
    }

    /// Now, of structure graphs, with windows of this many paths.
    pub fn of_windows(
        host: &Host,
        windows: &Mutex<Windows>,
        window: NonZeroU32,
        shim: &Shim,
        jni: Jni<'_>,
    ) -> Result<Self, JvmError> {
        let at = Instant::now();
        Ok(CounterReading {
            windows: Some(lock(windows).snapshot(host, Some(window), shim, jni)?),
            ..CounterReading::empty(at)
        })
    }

    /// True if the windows of a method are full. `None` where there are none.
    pub fn is_full(&self, method: MethodId) -> Option<bool> {
        self.windows.as_ref().map(|(_, full)| full.contains(&method))
    }

    /// Path ends of a method that began where it was entered, and all others, among those of some counts.
    pub fn entered(&self, map: &MethodMap, counts: &PathCounts) -> (u64, u64) {
        match self.windows {
            None => entered(map, counts),
            // One path of the outline per activation.
            Some(_) => split(counts, |path| path >> 32 == 0),
        }
    }

    /// Path ends of a method.
    pub fn total(&self, class: &ClassEntry, method: usize) -> u64 {
        self.counts(class, method).map(|(_, count)| count).sum()
    }

    /// Counts of a method's paths that were taken.
    pub fn paths(&self, class: &ClassEntry, method: usize) -> PathCounts {
        self.counts(class, method)
            .filter(|&(_, count)| count > 0)
            .collect()
    }

    fn counts(&self, class: &ClassEntry, method: usize) -> Box<dyn Iterator<Item = (u64, u64)> + '_> {
        let id = class.ids.first_method.at(method);
        if let Some((counts, _)) = &self.windows {
            let counts = counts.get(&id).into_iter().flatten();
            return Box::new(counts.map(|(&path, &count)| (path, count)));
        }
        let paths = class.map.methods[method].num_paths();
        let base = match &class.slots {
            Slots::Paths(layout) => layout.base[method],
            Slots::Graphs(_) | Slots::Coverage(_) => None,
        };
        if let Some(base) = base {
            let first = class.ids.first_counter.plus(base).index();
            // Registered after the counters were read: nothing was counted yet.
            let slots = self.dense.get(first..first + paths as usize).unwrap_or_default();
            return Box::new((0..).zip(slots.iter().copied()));
        }
        let hashed = self.hashed.range((id, 0)..=(id, u32::MAX));
        let hashed = hashed.map(|(&(_, path), &count)| (u64::from(path), count));
        Box::new(hashed.filter(move |&(path, _)| path < paths))
    }
}
