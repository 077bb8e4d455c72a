//! Samples so far, and turning counts into those of a profile.

use std::collections::BTreeMap;
use std::time::Duration;

use trodden_analyses::{PathAnalysis, PathEdgeProfile, PathEvent};
use trodden_instrumenter::MethodId;
use trodden_profile::facts::{self, Facts};
use trodden_profile::{ClassProfile, MethodCounts, Schedule};

use crate::classes::{ClassEntry, Registry};
use crate::sampling::clock::Tick;
use crate::threads::Strata;

/// How the recording itself went; all of it goes into the profile's facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Ticks of the clock.
    pub ticks: u64,
    /// Ticks that came more than half an interval late.
    pub overruns: u64,
    /// Windows that were not full when the next tick came; of fixed duration: that saw no path end.
    pub short_windows: u64,
    /// Windows of fixed duration that were dropped because it is not known how long they were open.
    pub blocked_windows: u64,
    /// Nanoseconds for which windows of fixed duration were open.
    pub window_ns: u64,
    /// Path ends seen in windows.
    pub window_path_ends: u64,
    /// Ring entries that racing threads left empty.
    pub holes: u64,
    /// `safepoint`: frames of instrumented methods looked at.
    pub frames: u64,
    /// `safepoint`: frames whose path register could not be read.
    pub invalid_slots: u64,
    /// `safepoint`: frames at a place that belongs to no block, or whose value is no path.
    pub implausible: u64,
}

/// Collected samples.
#[derive(Default)]
pub struct Collector {
    samples: PathEdgeProfile,
    /// How it went.
    pub tally: Tally,
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
                Some(&entry) => self.samples.sample(registry, event(entry)),
            }
        }
    }

    /// Takes in a window of fixed duration that saw `seen` path ends; each of them represents `scale` of the
    /// run.
    pub fn span(
        &mut self,
        registry: &Registry,
        strata: Strata,
        seen: u64,
        ring: &[i64],
        open: Duration,
        scale: f64,
    ) {
        self.tally.window_path_ends += seen;
        self.tally.window_ns += open.as_nanos() as u64;
        self.tally.short_windows += u64::from(seen == 0);
        let (samples, holes) = weigh(strata, seen, ring, scale);
        self.tally.holes += holes;
        for (event, weight) in samples {
            self.samples.sample_weighted(registry, event, weight);
        }
    }

    /// Takes in a path stopped in a block.
    pub fn stopped(&mut self, registry: &Registry, method: MethodId, block: u32, register: u64) {
        let unknown = self.samples.unknown();
        self.samples.sample_partial(registry, method.0, block, register);
        self.tally.implausible += self.samples.unknown() - unknown;
    }

    /// Samples taken, and samples that named no known path.
    fn sampled(&self) -> (u64, u64) {
        (self.samples.samples(), self.samples.unknown())
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.samples.reset();
        self.tally = Tally::default();
    }

    /// A tick of the clock has been dealt with.
    pub fn ticked(&mut self, tick: Tick) {
        self.tally.ticks += 1;
        self.tally.overruns += u64::from(tick.late);
    }

    /// Says in a profile's facts how many samples there are.
    pub fn note(&self, facts: &mut Facts) {
        let (samples, unknown) = self.sampled();
        facts.set(facts::TICKS, self.tally.ticks);
        facts.set(facts::OVERRUNS, self.tally.overruns);
        facts.set(facts::SAMPLES, samples);
        facts.set(facts::UNKNOWN_SAMPLES, unknown);
    }

    /// Lines of an answer about it.
    pub fn status(&self) -> Vec<(&'static str, String)> {
        vec![
            ("ticks", self.tally.ticks.to_string()),
            ("samples", self.sampled().0.to_string()),
        ]
    }

    /// The samples of all classes, as [`classes`] has them.
    pub fn classes(&self, registry: &Registry) -> (Vec<ClassProfile>, Vec<MethodId>) {
        classes(registry, |entry, method| {
            self.samples.method_counts(entry.ids.first_method.at(method).0)
        })
    }
}

/// Where the methods of a profile are.
pub struct Placement(BTreeMap<MethodId, (u32, u32)>);

impl Placement {
    /// From the classes of a profile and the number of each one's first method. Of a class that came twice
    /// only the first is there.
    pub fn new(classes: &[ClassProfile], first_methods: &[MethodId]) -> Self {
        let mut places = BTreeMap::new();
        for (class, (profile, first)) in classes.iter().zip(first_methods).enumerate() {
            for method in 0..profile.map.methods.len() {
                places.insert(first.at(method), (class as u32, method as u32));
            }
        }
        Placement(places)
    }

    /// The class and the method, if the profile has them.
    pub fn of(&self, method: MethodId) -> Option<(u32, u32)> {
        self.0.get(&method).copied()
    }
}

/// Counts of all classes of the current configuration, as a profile wants them, and the number of each one's
/// first method. `counts`: of a class's method. What it was counted from has to be read before: a class that
/// is registered in between is then a class without counts, not a count without class.
pub fn classes(
    registry: &Registry,
    counts: impl Fn(&ClassEntry, usize) -> MethodCounts,
) -> (Vec<ClassProfile>, Vec<MethodId>) {
    let profile = |entry: ClassEntry| {
        let class = ClassProfile {
            counts: (0..entry.map.methods.len())
                .map(|method| counts(&entry, method))
                .collect(),
            map: entry.map,
        };
        (class, entry.ids.first_method)
    };
    let mut classes: Vec<(ClassProfile, MethodId)> = registry.classes().into_iter().map(profile).collect();
    classes.sort_by(|(a, _), (b, _)| (&a.map.name, a.map.sha256).cmp(&(&b.map.name, b.map.sha256)));
    // The same class may come in several outputs that were instrumented ahead.
    classes.dedup_by(|(next, _), (first, _)| next.map == first.map && add_class(first, next));
    classes.into_iter().unzip()
}

/// Adds the counts of the same class.
fn add_class(to: &mut ClassProfile, from: &ClassProfile) -> bool {
    for (to, from) in to.counts.iter_mut().zip(&from.counts) {
        add_counts(to, from);
    }
    true
}

/// Adds the counts of the same method.
pub fn add_counts(to: &mut MethodCounts, from: &MethodCounts) {
    for (path, count) in &from.paths {
        *to.paths.entry(*path).or_default() += count;
    }
    for (place, count) in &from.partial {
        *to.partial.entry(*place).or_default() += count;
    }
}

/// The samples in a window's entries with the number of path ends that each represents, and the number of
/// empty entries.
///
/// A sample represents a whole number of path ends, but sums are not rounded: the remainder goes to the next
/// one.
fn weigh(strata: Strata, seen: u64, ring: &[i64], scale: f64) -> (Vec<(PathEvent, u64)>, u64) {
    let (mut samples, mut holes) = (Vec::with_capacity(ring.len()), 0);
    let mut rest = 0.5;
    for (index, &entry) in ring.iter().enumerate() {
        if entry == -1 {
            // Threads raced, or one that was suspended in an earlier window wrote its old number back:
            // neither says how many path ends there were.
            holes += 1;
            continue;
        }
        let numbers = strata.path_ends(index);
        let here = numbers.end.min(seen).saturating_sub(numbers.start);
        let exact = here as f64 * scale + rest;
        let weight = exact.floor();
        rest = exact - weight;
        if weight >= 1.0 {
            samples.push((event(entry), weight as u64));
        }
    }
    (samples, holes)
}

fn event(entry: i64) -> PathEvent {
    PathEvent {
        method: (entry >> 32) as u32,
        path: u64::from(entry as u32),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    /// What the shim writes in a window that sees path ends of method 1 with these numbers.
    fn ring(strata: Strata, paths: impl Iterator<Item = u32>) -> (u64, Vec<i64>) {
        let mut ring = Vec::new();
        let mut seen = 0;
        for (at, path) in (0..).zip(paths) {
            let entry = strata.entry(at);
            ring.resize(entry + 1, -1);
            ring[entry] = 1 << 32 | i64::from(path);
            seen = at + 1;
        }
        (seen, ring)
    }

    #[test]
    fn weights_add_up_to_what_the_window_saw() {
        let strata = Strata::of(NonZeroU32::new(64).unwrap());
        for seen in [1, 2, 63, 64, 65, 1_000, 12_345] {
            for scale in [1.0, 1.7, 100.0, 103.3] {
                let (seen, ring) = ring(strata, 0..seen);
                assert_eq!(ring.len(), strata.entries(seen));
                let (samples, holes) = weigh(strata, seen, &ring, scale);
                let sum: u64 = samples.iter().map(|s| s.1).sum();
                assert_eq!(holes, 0);
                assert!(
                    (sum as f64 - seen as f64 * scale).abs() <= 1.0,
                    "{seen} {scale}: {sum}"
                );
            }
        }
    }

    /// A phase with paths a hundred times as frequent weighs a hundred times as much, and shares within a
    /// phase are kept, whichever comes first.
    #[test]
    fn weights_are_in_proportion_to_frequencies() {
        let strata = Strata::of(NonZeroU32::new(256).unwrap());
        let fast = (0..20_000).map(|n| n % 4);
        let slow = (0..200).map(|n| 10 + n % 2);
        let orders: [Vec<u32>; 2] = [
            fast.clone().chain(slow.clone()).collect(),
            slow.chain(fast).collect(),
        ];
        for order in orders {
            let (seen, ring) = ring(strata, order.iter().copied());
            let (samples, _) = weigh(strata, seen, &ring, 10.0);
            let weight = |path: u64| -> u64 {
                let of_path = samples.iter().filter(|s| s.0.path == path);
                of_path.map(|s| s.1).sum()
            };
            for path in 0..4 {
                assert!(weight(path).abs_diff(50_000) < 5_000, "{path}: {}", weight(path));
            }
            let slow = weight(10) + weight(11);
            assert!(slow.abs_diff(2_000) < 1_500, "{slow}");
        }
    }

    #[test]
    fn holes_weigh_nothing() {
        let strata = Strata::of(NonZeroU32::new(4).unwrap());
        let (seen, mut ring) = ring(strata, 0..20);
        let (all, _) = weigh(strata, seen, &ring, 1.0);
        ring[2] = -1;
        let (samples, holes) = weigh(strata, seen, &ring, 1.0);
        assert_eq!(holes, 1);
        assert_eq!(samples.len(), all.len() - 1);
        let hole = strata.path_ends(2);
        let sum: u64 = samples.iter().map(|s| s.1).sum();
        assert_eq!(sum, 20 - (hole.end - hole.start));
    }
}
