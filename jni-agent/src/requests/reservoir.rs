//! Samples of requests in bounded memory, as many of each band of latency.
//!
//! A band is half of an octave. A full band drops the sample of the least priority, which is its weight
//! over a uniform random number; a sample that is kept then represents at least the threshold below which
//! samples were dropped. Sums of weights stay unbiased for any part of the requests (Duffield, Lund,
//! Thorup:
//! *Priority sampling for estimation of arbitrary subset sums*, J. ACM 54(6), 2007).

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use crate::requests::parts::Delta;
use crate::sampling::SplitMix;

/// Most samples of a name and band.
const BAND: usize = 512;

/// The least that bands are cut to, if samples are large.
const MIN_BAND: usize = 16;

/// Most bytes of all samples.
const MAX_BYTES: usize = 32 << 20;

/// A request whose paths are known.
#[derive(Debug)]
pub struct Kept {
    /// How long it took, in nanoseconds.
    pub latency_ns: u64,
    /// CPU time of its thread, in nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Nanoseconds of collections in it.
    pub collections_ns: u64,
    /// Its counts.
    pub counts: Delta,
}

/// Samples by name and band.
pub struct Reservoir {
    bands: BTreeMap<(u32, u32), Band>,
    /// Most samples of a band now.
    room: usize,
    bytes: usize,
    random: SplitMix,
}

#[derive(Default)]
struct Band {
    /// That of the least priority is at the top.
    samples: BinaryHeap<Reverse<Entry>>,
    /// The highest priority that was dropped.
    threshold: f64,
}

/// A sample of a band, ordered by its priority.
struct Entry {
    priority: f64,
    weight: f64,
    sample: Kept,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.priority.total_cmp(&other.priority)
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl Default for Reservoir {
    fn default() -> Self {
        Reservoir {
            bands: BTreeMap::new(),
            room: BAND,
            bytes: 0,
            random: SplitMix::new(0),
        }
    }
}

impl Reservoir {
    /// Adds a sample that represents `weight` requests.
    pub fn add(&mut self, name: u32, sample: Kept, weight: f64) {
        self.bytes += sample.counts.bytes();
        let priority = weight / self.random.unit().max(f64::MIN_POSITIVE);
        let band = self.bands.entry((name, band_of(sample.latency_ns))).or_default();
        band.samples.push(Reverse(Entry {
            priority,
            weight,
            sample,
        }));
        self.bytes -= band.shrink(self.room);
        while self.bytes > MAX_BYTES && self.room > MIN_BAND {
            self.room /= 2;
            for band in self.bands.values_mut() {
                self.bytes -= band.shrink(self.room);
            }
        }
    }

    /// The samples of a name, with the number of requests that each represents.
    pub fn of_name(&self, name: u32) -> impl Iterator<Item = (&Kept, f64)> {
        let bands = self.bands.range((name, 0)..=(name, u32::MAX));
        bands.flat_map(|(_, band)| {
            (band.samples.iter()).map(|Reverse(entry)| (&entry.sample, entry.weight.max(band.threshold)))
        })
    }
}

impl Band {
    /// Drops samples until there are at most `room`. Returns their bytes.
    fn shrink(&mut self, room: usize) -> usize {
        let mut bytes = 0;
        while self.samples.len() > room {
            let Some(Reverse(least)) = self.samples.pop() else {
                break;
            };
            self.threshold = self.threshold.max(least.priority);
            bytes += least.sample.counts.bytes();
        }
        bytes
    }
}

/// The band of a latency: twice its binary logarithm.
fn band_of(latency_ns: u64) -> u32 {
    let latency = latency_ns.max(1);
    let octave = latency.ilog2();
    // The square root of two is 1.414.
    let upper = latency as f64 >= (octave as f64).exp2() * std::f64::consts::SQRT_2;
    2 * octave + u32::from(upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(latency_ns: u64) -> Kept {
        Kept {
            latency_ns,
            cpu_ns: None,
            collections_ns: 0,
            counts: Delta::default(),
        }
    }

    #[test]
    fn bands_are_half_octaves() {
        assert_eq!([1, 2, 3, 4, 5, 6].map(band_of), [0, 2, 3, 4, 4, 5]);
        assert_eq!(band_of(0), 0);
        assert_eq!(band_of(u64::MAX), 127);
        assert!((1..100_000).is_sorted_by_key(band_of));
    }

    /// The weights of a band add up to the requests that were in it, and each part's to its own.
    #[test]
    fn sums_of_weights_are_unbiased() {
        let mut parts = [0.0f64; 2];
        const ROUNDS: u64 = 60;
        for round in 0..ROUNDS {
            let mut reservoir = Reservoir {
                random: SplitMix::new(round),
                ..Reservoir::default()
            };
            // 4,000 in one band: a tenth of them at its lower end, with twice the weight.
            for number in 0..4_000u64 {
                let rare = number % 10 == 0;
                let latency = if rare { 1_048_576 } else { 1_200_000 };
                reservoir.add(7, sample(latency), if rare { 2.0 } else { 1.0 });
            }
            assert_eq!(reservoir.of_name(7).count(), BAND);
            for (sample, weight) in reservoir.of_name(7) {
                parts[usize::from(sample.latency_ns > 1_100_000)] += weight / ROUNDS as f64;
            }
        }
        assert!((parts[0] - 800.0).abs() < 20.0, "{parts:?}");
        assert!((parts[1] - 3_600.0).abs() < 60.0, "{parts:?}");
    }

    #[test]
    fn slow_requests_are_kept_as_well_as_fast_ones() {
        let mut reservoir = Reservoir::default();
        for number in 0..100_000u64 {
            let latency = if number % 1_000 == 0 {
                50_000_000
            } else {
                1_000_000
            };
            reservoir.add(1, sample(latency), 1.0);
        }
        let slow = reservoir
            .of_name(1)
            .filter(|(sample, _)| sample.latency_ns > 2_000_000);
        let (number, weight) = slow.fold((0, 0.0), |(n, sum), (_, weight)| (n + 1, sum + weight));
        assert_eq!((number, weight), (100, 100.0));
    }

    #[test]
    fn memory_is_bounded() {
        let mut reservoir = Reservoir::default();
        for number in 0..5_000u64 {
            let counts = Delta {
                dense: vec![(1, 1); 4_000].into(),
                ..Delta::default()
            };
            let sample = Kept {
                counts,
                ..sample(1 << (number % 40))
            };
            reservoir.add(1, sample, 1.0);
        }
        assert!(reservoir.bytes <= MAX_BYTES, "{}", reservoir.bytes);
        let kept: usize = reservoir
            .of_name(1)
            .map(|(sample, _)| sample.counts.bytes())
            .sum();
        assert_eq!(kept, reservoir.bytes);
        let weights: f64 = reservoir.of_name(1).map(|(_, weight)| weight).sum();
        assert!((3_500.0..6_500.0).contains(&weights), "{weights}");
    }
}
