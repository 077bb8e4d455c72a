//! What was counted or sampled so far, and turning it into a profile's counts.

use std::collections::BTreeMap;

use trodden_analyses::{PathAnalysis, PathEdgeProfile, PathEvent};
use trodden_instrumenter::ProbeKind;
use trodden_profile::{ClassProfile, MethodCounts, Schedule};

use crate::blocks::Blocks;
use crate::jvm::{Jni, JvmError};
use crate::registry::{ClassEntry, Registry};
use crate::shim::Shim;

/// How the recording itself went; all of it goes into the profile's facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Ticks of the clock.
    pub ticks: u64,
    /// Ticks that came more than half an interval late.
    pub overruns: u64,
    /// Windows that were not full when the next tick came.
    pub short_windows: u64,
    /// Path ends seen in windows.
    pub window_path_ends: u64,
    /// Ring entries that racing threads left empty.
    pub holes: u64,
    /// `safepoint`: frames of instrumented methods looked at.
    pub frames: u64,
    /// `safepoint`: frames whose path register could not be read.
    pub invalid_slots: u64,
    /// `safepoint`: frames at a place where no block could be told, or whose value is no path.
    pub implausible: u64,
}

/// Collected counts.
#[derive(Default)]
pub struct Collector {
    samples: PathEdgeProfile,
    /// How it went.
    pub tally: Tally,
    /// Exact counts at the last reset, to be subtracted: only threads themselves write their counters.
    dense_baseline: Vec<u64>,
    hashed_baseline: BTreeMap<(u32, u32), i64>,
}

impl Collector {
    /// Takes in a window of the ring, opened at tick number `tick`.
    pub fn window(&mut self, registry: &Registry, schedule: Schedule, tick: u64, armed: u64, ring: &[i64]) {
        self.tally.window_path_ends += ring.len() as u64;
        if (ring.len() as u64) < armed {
            self.tally.short_windows += 1;
        }
        for index in schedule.sample_indices(tick) {
            match ring.get(index as usize) {
                None => break,
                Some(-1) => self.tally.holes += 1,
                Some(&entry) => self.samples.sample(
                    registry,
                    PathEvent {
                        method: (entry >> 32) as u32,
                        path: u64::from(entry as u32),
                    },
                ),
            }
        }
    }

    /// Takes in a path stopped in a block.
    pub fn stopped(&mut self, registry: &Registry, method: u32, block: u32, register: u64) {
        let unknown = self.samples.unknown();
        self.samples.sample_partial(registry, method, block, register);
        self.tally.implausible += self.samples.unknown() - unknown;
    }

    /// Samples taken, and samples that named no known path.
    pub fn sampled(&self) -> (u64, u64) {
        (self.samples.samples(), self.samples.unknown())
    }

    /// Forgets everything.
    pub fn reset(
        &mut self,
        probe: ProbeKind,
        registry: &Registry,
        blocks: &Blocks,
        shim: &Shim,
        jni: Jni<'_>,
    ) -> Result<(), JvmError> {
        self.samples.reset();
        self.tally = Tally::default();
        if probe == ProbeKind::Counters {
            self.dense_baseline = blocks.sums(0..registry.counters());
            self.hashed_baseline = hashed(shim, jni)?;
        }
        Ok(())
    }

    /// Counts of all classes of the current configuration, as a profile wants them.
    pub fn classes(
        &self,
        probe: ProbeKind,
        registry: &Registry,
        blocks: &Blocks,
        shim: &Shim,
        jni: Jni<'_>,
    ) -> Result<Vec<ClassProfile>, JvmError> {
        // Counts first: a class that is registered in between is then a class without counts, not a count without class.
        let (dense, hashed) = match probe {
            ProbeKind::Counters => (blocks.sums(0..registry.counters()), hashed(shim, jni)?),
            _ => Default::default(),
        };
        let profile = |entry: ClassEntry| {
            let method = |m: usize| match probe {
                ProbeKind::Counters => self.exact_counts(&dense, &hashed, &entry, m),
                _ => self.samples.method_counts(entry.ids.first_method + m as u32),
            };
            ClassProfile {
                counts: (0..entry.map.methods.len()).map(method).collect(),
                map: entry.map,
            }
        };
        let mut classes: Vec<ClassProfile> = registry.classes().into_iter().map(profile).collect();
        classes.sort_by(|a, b| (&a.map.name, a.map.sha256).cmp(&(&b.map.name, b.map.sha256)));
        Ok(classes)
    }

    fn exact_counts(
        &self,
        dense: &[u64],
        hashed: &BTreeMap<(u32, u32), i64>,
        entry: &ClassEntry,
        method: usize,
    ) -> MethodCounts {
        let paths = entry.map.methods[method].num_paths();
        let counts = match entry.layout.base[method] {
            Some(base) => {
                let first = (entry.ids.first_counter + base) as usize;
                let at = |counts: &[u64], path: u64| counts.get(first + path as usize).copied().unwrap_or(0);
                let count = |path| (path, at(dense, path).wrapping_sub(at(&self.dense_baseline, path)));
                (0..paths).map(count).filter(|&(_, count)| count > 0).collect()
            }
            None => {
                let index = entry.ids.first_method + method as u32;
                let count = |(key, count): (&(u32, u32), &i64)| {
                    (
                        u64::from(key.1),
                        count - self.hashed_baseline.get(key).copied().unwrap_or(0),
                    )
                };
                let range = hashed.range((index, 0)..=(index, u32::MAX));
                range
                    .map(count)
                    .filter(|(path, _)| *path < paths)
                    .filter_map(positive)
                    .collect()
            }
        };
        MethodCounts {
            paths: counts,
            partial: BTreeMap::new(),
        }
    }
}

fn positive((path, count): (u64, i64)) -> Option<(u64, u64)> {
    u64::try_from(count)
        .ok()
        .filter(|&count| count > 0)
        .map(|count| (path, count))
}

fn hashed(shim: &Shim, jni: Jni<'_>) -> Result<BTreeMap<(u32, u32), i64>, JvmError> {
    Ok(shim
        .hashed_counts(jni)?
        .into_iter()
        .map(|(method, path, count)| ((method, path), count))
        .collect())
}
