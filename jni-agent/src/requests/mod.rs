//! Requests: latencies of all, and the paths of a random part.
//!
//! The shim calls when a request has ended (`TroddenRequests.record`). Its latency goes into a histogram.
//! If it was chosen at its beginning, its paths go into a [reservoir](reservoir): the chance to be chosen
//! is what the [budget](budget) allows, and the reservoir keeps as many of slow requests as of fast ones.

mod budget;
mod collections;
mod lines;
mod parts;
mod readings;
mod reservoir;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hdrhistogram::Histogram;
use trodden_instrumenter::ROLE_SHIFT;
use trodden_profile as profile;
use trodden_profile::{RequestName, RequestSample};

use crate::classes::Registry;
use crate::locks::lock;
use crate::sampling::Placement;
use budget::Budget;
pub use collections::Collections;
use parts::Parts;
pub use readings::{Counts, Reading, Readings};
use reservoir::{Kept, Reservoir};

/// The longest latency that is not recorded as this one: an hour.
const MAX_LATENCY_NS: u64 = 3_600_000_000_000;

/// Three digits: a bucket is at most a thousandth wide.
const DIGITS: u8 = 3;

/// Requests go into one of these by thread, so that threads seldom wait for each other.
const SHARDS: usize = 8;

/// All requests so far.
#[derive(Default)]
pub struct Requests {
    on: AtomicBool,
    shards: [Mutex<Latencies>; SHARDS],
    samples: Mutex<Reservoir>,
    budget: Budget,
    /// Counts of threads at the beginnings of requests.
    pub readings: Readings,
    /// When collections stopped the program.
    pub collections: Collections,
}

/// Latencies of requests, by the number of their name.
type Latencies = BTreeMap<u32, OfName>;

struct OfName {
    latencies: Histogram<u64>,
    unreadable: u64,
}

/// A request that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The number of its name.
    pub name: u32,
    /// When it began and ended, in nanoseconds of the monotonic clock.
    pub began: u64,
    /// See `began`.
    pub ended: u64,
    /// True if it was, or would be, impossible to read its paths.
    pub is_unreadable: bool,
    /// What was read of it, if it was chosen.
    pub reading: Option<Reading>,
}

impl Requests {
    /// Begins, or continues.
    pub fn begin(&self) {
        self.budget.begin();
        self.on.store(true, Ordering::Release);
    }

    /// Requests that end from now on are not recorded.
    pub fn end(&self) {
        self.on.store(false, Ordering::Release);
    }

    /// Forgets all requests.
    pub fn reset(&self) {
        self.readings.forget();
        for shard in &self.shards {
            lock(shard).clear();
        }
        *lock(&self.samples) = Reservoir::default();
        self.budget.reset();
    }

    /// Takes a request in. Returns the chance of the next ones to be chosen, from 0 to 1. `thread`: any
    /// number that threads differ in.
    pub fn record(&self, thread: usize, ended: Ended) -> f64 {
        if !self.on.load(Ordering::Acquire) {
            return 0.0;
        }
        let name = ended.name & ((1 << ROLE_SHIFT) - 1);
        let latency_ns = ended.ended.saturating_sub(ended.began);
        {
            let mut shard = lock(&self.shards[thread % SHARDS]);
            let of_name = shard.entry(name).or_insert_with(OfName::new);
            of_name.latencies.saturating_record(latency_ns.max(1));
            of_name.unreadable += u64::from(ended.is_unreadable);
        }
        let mut took_ns = None;
        if let Some(reading) = ended.reading {
            let sample = Kept {
                latency_ns,
                cpu_ns: reading.cpu_ns,
                collections_ns: self.collections.overlap(ended.began, ended.ended),
                counts: reading.counts,
            };
            lock(&self.samples).add(name, sample, 1.0 / reading.chance);
            took_ns = Some(reading.cost.until_now());
        }
        self.budget.spend(took_ns)
    }

    /// The requests for a profile; `None` if there were none. `placement`: where methods are in it.
    pub fn of_profile(&self, registry: &Registry, placement: &Placement) -> Option<profile::Requests> {
        let mut sums: BTreeMap<u32, OfName> = BTreeMap::new();
        for shard in &self.shards {
            for (&name, one) in lock(shard).iter() {
                let sum = sums.entry(name).or_insert_with(OfName::new);
                // All histograms have the same bounds.
                let added = sum.latencies.add(&one.latencies);
                debug_assert!(added.is_ok());
                sum.unreadable += one.unreadable;
            }
        }
        if sums.is_empty() {
            return None;
        }
        let samples = lock(&self.samples);
        let mut parts = Parts::new(registry, placement);
        // Overloads have one name.
        let mut names: BTreeMap<String, RequestName> = BTreeMap::new();
        for (number, of_name) in sums {
            let text = registry.requests.name(number);
            let name = names.entry(text.clone()).or_default();
            name.name = text;
            name.latencies.extend(of_name.counts());
            name.unreadable += of_name.unreadable;
            for (sample, weight) in samples.of_name(number) {
                name.samples.push(RequestSample {
                    latency_ns: sample.latency_ns,
                    cpu_ns: sample.cpu_ns,
                    collections_ns: sample.collections_ns,
                    weight,
                    vector: parts.vector(&sample.counts),
                });
            }
        }
        Some(profile::Requests {
            names: names.into_values().collect(),
            vectors: parts.vectors(),
            reading_ns: self.budget.spent_ns(),
        })
    }
}

impl OfName {
    fn new() -> Self {
        let latencies = Histogram::new_with_bounds(1, MAX_LATENCY_NS, DIGITS);
        OfName {
            latencies: latencies.expect("bounds that a histogram takes"),
            unreadable: 0,
        }
    }

    /// Latencies and how many requests had them, ascending.
    fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let buckets = self.latencies.iter_recorded();
        buckets.map(|bucket| (bucket.value_iterated_to(), bucket.count_since_last_iteration()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(latency_ns: u64) -> Ended {
        Ended {
            name: 3 | 2 << ROLE_SHIFT,
            began: 1_000,
            ended: 1_000 + latency_ns,
            is_unreadable: latency_ns.is_multiple_of(10),
            reading: None,
        }
    }

    #[test]
    fn requests_are_recorded_while_it_is_on() {
        let requests = Requests::default();
        assert_eq!(requests.record(0, request(5)), 0.0);
        requests.begin();
        for thread in 0..100 {
            assert!(requests.record(thread, request(1_000 + thread as u64)) > 0.0);
        }
        requests.end();
        requests.record(0, request(5));
        let counted: u64 = (requests.shards.iter())
            .flat_map(|shard| {
                lock(shard)
                    .values()
                    .map(|name| name.latencies.len())
                    .collect::<Vec<_>>()
            })
            .sum();
        assert_eq!(counted, 100);
        let unreadable: u64 = (requests.shards.iter())
            .flat_map(|shard| {
                lock(shard)
                    .values()
                    .map(|name| name.unreadable)
                    .collect::<Vec<_>>()
            })
            .sum();
        assert_eq!(unreadable, 10);
        requests.reset();
        assert!(requests.shards.iter().all(|shard| lock(shard).is_empty()));
    }

    /// A bucket's latency is at most a thousandth above that of a request in it.
    #[test]
    fn latencies_are_exact_to_a_thousandth() {
        let mut name = OfName::new();
        let mut latency = 1u64;
        let mut all = Vec::new();
        while latency < MAX_LATENCY_NS {
            name.latencies.saturating_record(latency);
            all.push(latency);
            latency = latency * 17 / 13 + 1;
        }
        let counts: Vec<u64> = name
            .counts()
            .flat_map(|(value, count)| std::iter::repeat_n(value, count as usize))
            .collect();
        assert_eq!(counts.len(), all.len());
        for (shown, own) in counts.iter().zip(&all) {
            assert!((*own..=own + own / 1_000).contains(shown), "{shown} for {own}");
        }
    }
}
