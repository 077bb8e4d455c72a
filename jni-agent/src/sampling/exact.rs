//! Exact counts: of path ends, in dense slots or by hash, of paths that exceptions cut off, and of open ones.

use std::collections::BTreeMap;

use trodden_instrumenter::CounterSlot;
use trodden_numbering::BlockId;
use trodden_profile::{MethodCounts, MethodMap};

use crate::classes::{ClassEntry, Slots};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::sampling::open::OpenPaths;
use crate::threads::{Cut, Hashed, Shim};

/// All exact counts at one moment.
#[derive(Default)]
pub struct ExactCounts {
    /// By slot.
    pub dense: Vec<u64>,
    /// Paths without slots.
    pub hashed: BTreeMap<Hashed, i64>,
    /// Paths that exceptions cut off, and open ones.
    pub cut: BTreeMap<Cut, i64>,
    /// True if nothing is concluded about constructors that an exception has left: one in progress may still
    /// end.
    pub without_died: bool,
}

impl ExactCounts {
    /// Nothing yet, with room for slots below a number.
    pub fn none(slots: CounterSlot) -> Self {
        ExactCounts {
            dense: vec![0; slots.index()],
            ..ExactCounts::default()
        }
    }

    /// Reads what path ends and exceptions have counted.
    pub fn read(host: &Host, shim: &Shim, jni: Jni<'_>) -> Result<Self, JvmError> {
        Self::after(host.counters(), shim, jni)
    }

    /// The same, with dense counters that have been read already.
    pub fn after(dense: Vec<u64>, shim: &Shim, jni: Jni<'_>) -> Result<Self, JvmError> {
        Ok(ExactCounts {
            dense,
            hashed: shim.hashed_counts(jni)?.into_iter().collect(),
            cut: shim.cut_paths(jni)?.into_iter().collect(),
            without_died: false,
        })
    }

    /// Adds open paths.
    pub fn add_open(&mut self, open: &OpenPaths) {
        for (&path, &frames) in &open.paths {
            *self.cut.entry(path).or_default() += frames as i64;
        }
    }

    /// The counts of a method since a former reading.
    pub fn of_method(&self, before: &Self, entry: &ClassEntry, method: usize) -> MethodCounts {
        let map = &entry.map.methods[method];
        let id = entry.ids.first_method.at(method);
        let paths = map.num_paths();
        let Slots::Paths(layout) = &entry.slots else {
            return MethodCounts::default();
        };
        let base = layout.base[method];
        let counts = match base {
            Some(base) => {
                let first = entry.ids.first_counter.plus(base).index();
                let at = |counts: &[u64], path: u64| counts.get(first + path as usize).copied().unwrap_or(0);
                let count = |path| (path, at(&self.dense, path).wrapping_sub(at(&before.dense, path)));
                (0..paths).map(count).filter(|&(_, count)| count > 0).collect()
            }
            None => {
                let of_method = self.hashed.range((id, 0)..=(id, u32::MAX));
                let more =
                    of_method.map(|(key, count)| (key.1, count - before.hashed.get(key).unwrap_or(&0)));
                more.filter_map(positive)
                    .map(|(path, count)| (u64::from(path), count))
                    .filter(|(path, _)| *path < paths)
                    .collect()
            }
        };
        let of_method = self.cut.range((id, 0, 0)..=(id, u32::MAX, u32::MAX));
        let more = of_method.map(|(key, count)| (*key, count - before.cut.get(key).unwrap_or(&0)));
        // The register of a method with dense slots runs from its first slot in its part on.
        let (_, first) = layout.in_part(method);
        let prefix = |((_, register, block), count): (Cut, u64)| {
            let number = u64::from(register.checked_sub(first.unwrap_or(0))?);
            let at = ((block as usize) < map.blocks.len()).then(|| BlockId::new(block as usize))?;
            map.dag.regenerate_partial(&map.graph, number, at).ok()?;
            Some(((block, number), count))
        };
        let mut counts = MethodCounts {
            paths: counts,
            partial: more.filter_map(positive).filter_map(prefix).collect(),
        };
        if let Some(slot) = layout.begun[method].filter(|_| !self.without_died) {
            let slot = entry.ids.first_counter.plus(slot).index();
            let at = |counts: &[u64]| counts.get(slot).copied().unwrap_or(0);
            add_died(
                map,
                &mut counts,
                at(&self.dense).saturating_sub(at(&before.dense)),
            );
        }
        counts
    }
}

/// Where a constructor was begun more often than paths from its entry are known, an exception has left its
/// call of `super(…)` or `this(…)`, where no handler may be: its first block ran.
fn add_died(map: &MethodMap, counts: &mut MethodCounts, begun: u64) {
    if begun == 0 {
        return;
    }
    let entry = &map.dag.starts()[0];
    if map.dag.end_cause(entry.block).is_some() {
        // A loop's header: paths from the entry have no length, and are not counted.
        return;
    }
    let whole = counts.paths.iter().map(|(&number, &count)| (number, count));
    let cut = (counts.partial.iter()).map(|(&(_, number), &count)| (number, count));
    let known = whole.chain(cut).filter(|&(number, _)| number < entry.paths);
    let known = known.fold(0u64, |sum, (_, count)| sum.saturating_add(count));
    let died = begun.saturating_sub(known);
    if died > 0 {
        let prefix = (entry.block.index() as u32, entry.value);
        *counts.partial.entry(prefix).or_default() += died;
    }
}

fn positive<K>((key, count): (K, i64)) -> Option<(K, u64)> {
    let count = u64::try_from(count).ok().filter(|&count| count > 0)?;
    Some((key, count))
}
