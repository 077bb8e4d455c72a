//! Requests by bands of latency: how many there were, and which outcomes those took whose paths were read. As large as
//! the program, however many requests there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trodden_profile::{Key, MethodPart, Profile, RequestSample};

use super::classes::{Class, Classes};
use super::extract::Known;
use super::signatures::Signature;

/// Units of a request: sums of whole numbers are the same in any order.
const UNITS: f64 = 1000.0;
/// Lower bounds of the bands of an octave.
const STEPS: [f64; 4] = [
    1.0,
    1.189_207_115_002_721,
    std::f64::consts::SQRT_2,
    1.681_792_830_507_429,
];

/// Requests of a name with latencies of a quarter of an octave.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Band {
    pub request: Arc<str>,
    /// The least latency, in nanoseconds.
    pub from_ns: u64,
}

/// The requests of a band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BandSum {
    pub requests: u64,
    /// Of a name, whatever their latency: those whose paths cannot be read.
    pub unreadable: u64,
    pub samples: u64,
    /// Thousandths of the requests that the samples represent.
    pub weight: u64,
    /// The same of the squares of what each represents.
    pub squares: u64,
    /// Nanoseconds that these requests took.
    pub latency_ns: u64,
    /// Of the weight: half of their time the program was stopped by collections.
    pub collected: u64,
    /// Of the weight: half of their time their thread had no processor, and there was no collection.
    pub waited: u64,
}

/// An outcome that requests of a band took.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Taken {
    pub band: Band,
    pub signature: Signature,
    pub graph: Key,
    pub edge: Key,
}

/// Sums of an outcome over the requests of a band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TakenSum {
    pub samples: u64,
    /// Thousandths of the requests that took it.
    pub weight: u64,
    /// Thousandths of the times that they did.
    pub times: u64,
    /// Nanoseconds that these requests took.
    pub latency_ns: u64,
}

/// The requests of a profile.
#[derive(Debug, Default)]
pub(crate) struct RequestRows {
    pub bands: BTreeMap<Band, BandSum>,
    pub taken: FxHashMap<Taken, TakenSum>,
}

/// An outcome of a set of paths, and how often it is in it.
type Outcome = (Signature, Key, Key, u64);

impl RequestRows {
    /// `of`: the profile's classes.
    pub fn of(profile: &Profile, of: &[Arc<Class>], classes: &Classes) -> RequestRows {
        let mut rows = RequestRows::default();
        let Some(requests) = &profile.requests else {
            return rows;
        };
        let vectors = requests.vectors.iter();
        let vectors: Vec<Vec<Outcome>> = vectors
            .map(|vector| outcomes(profile, vector, of, classes))
            .collect();
        for name in &requests.names {
            let request: Arc<str> = name.name.as_str().into();
            let band = |latency_ns: u64| Band {
                request: Arc::clone(&request),
                from_ns: from_ns(latency_ns),
            };
            for &(latency, count) in &name.latencies {
                plus(&mut rows.bands.entry(band(latency)).or_default().requests, count);
            }
            if name.unreadable > 0 {
                let least = name.latencies.first().map_or(0, |&(latency, _)| latency);
                rows.bands.entry(band(least)).or_default().unreadable = name.unreadable;
            }
            for sample in &name.samples {
                let band = band(sample.latency_ns);
                let weight = units(sample.weight);
                let latency_ns = (sample.weight * sample.latency_ns as f64) as u64;
                rows.bands.entry(band.clone()).or_default().add_sample(sample);
                for &(signature, graph, edge, times) in &vectors[sample.vector as usize] {
                    let taken = Taken {
                        band: band.clone(),
                        signature,
                        graph,
                        edge,
                    };
                    rows.taken.entry(taken).or_default().add(&TakenSum {
                        samples: 1,
                        weight,
                        times: units(sample.weight * times as f64),
                        latency_ns,
                    });
                }
            }
        }
        rows
    }
}

impl BandSum {
    fn add_sample(&mut self, sample: &RequestSample) {
        let own_ns = sample.latency_ns.saturating_sub(sample.collections_ns);
        let half = sample.latency_ns.div_ceil(2);
        let collected = sample.collections_ns > 0 && sample.collections_ns >= half;
        let waited = sample.collections_ns == 0
            && sample
                .cpu_ns
                .is_some_and(|cpu| own_ns.saturating_sub(cpu) >= half);
        let weight = units(sample.weight);
        self.add(&BandSum {
            samples: 1,
            weight,
            squares: units(sample.weight * sample.weight),
            latency_ns: (sample.weight * sample.latency_ns as f64) as u64,
            collected: if collected { weight } else { 0 },
            waited: if waited { weight } else { 0 },
            ..BandSum::default()
        });
    }

    pub fn add(&mut self, other: &BandSum) {
        plus(&mut self.requests, other.requests);
        plus(&mut self.unreadable, other.unreadable);
        plus(&mut self.samples, other.samples);
        plus(&mut self.weight, other.weight);
        plus(&mut self.squares, other.squares);
        plus(&mut self.latency_ns, other.latency_ns);
        plus(&mut self.collected, other.collected);
        plus(&mut self.waited, other.waited);
    }
}

impl TakenSum {
    pub fn add(&mut self, other: &TakenSum) {
        plus(&mut self.samples, other.samples);
        plus(&mut self.weight, other.weight);
        plus(&mut self.times, other.times);
        plus(&mut self.latency_ns, other.latency_ns);
    }
}

fn plus(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn units(requests: f64) -> u64 {
    (requests * UNITS).round() as u64
}

/// The outcomes of a set of paths. Paths that cannot be read are left out, as are ways out that the probes do not report.
fn outcomes(profile: &Profile, vector: &[MethodPart], of: &[Arc<Class>], classes: &Classes) -> Vec<Outcome> {
    let mut found = Vec::new();
    for part in vector {
        let class = &of[part.class as usize];
        let index = part.method as usize;
        let (method, map) = (&class.methods[index], &class.map.methods[index]);
        let mut times = vec![0u64; method.ways.len()];
        let whole = part.counts.paths.iter();
        let whole = whole.map(|(&number, &count)| ((number, None), count));
        let partial = part.counts.partial.iter();
        let partial = partial.map(|(&(block, number), &count)| ((number, Some(block)), count));
        for (number, count) in whole.chain(partial).filter(|&(_, count)| count > 0) {
            let path = classes.path(class, index, number);
            for &way in path.iter().flat_map(|path| &path.ways) {
                plus(&mut times[way as usize], count);
            }
        }
        // By the counts of the whole run, as which blocks they tell of depends on what ran.
        let counts = profile.classes[part.class as usize].counts.get(index);
        let known = counts.and_then(|counts| Known::of(map, counts));
        let ways = method.ways.iter().zip(times).filter(|&(_, times)| times > 0);
        let ways = ways.filter(|(way, _)| known.as_ref().is_none_or(|known| known.edge(map, way.edge)));
        found.extend(ways.map(|(way, times)| (method.signature, method.graph, way.key, times)));
    }
    found
}

/// The least latency of the band that this one is in.
fn from_ns(latency_ns: u64) -> u64 {
    let latency_ns = latency_ns.max(1);
    let octave = (1u64 << latency_ns.ilog2()) as f64;
    let bounds = STEPS.iter().rev().map(|step| (octave * step).ceil() as u64);
    let below = bounds.into_iter().find(|&bound| bound <= latency_ns);
    below.unwrap_or(latency_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_quarters_of_octaves() {
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 7, 8].map(from_ns),
            [1, 1, 2, 3, 4, 5, 6, 7, 8]
        );
        let ms = 1_000_000;
        let of =
            [1.0, 1.04, 1.05, 1.2, 1.25, 1.48, 1.49].map(|latency| from_ns((latency * ms as f64) as u64));
        assert_eq!(
            of,
            [
                881_744, 881_744, 1_048_576, 1_048_576, 1_246_975, 1_246_975, 1_482_911
            ]
        );
        assert_eq!(from_ns(u64::MAX), from_ns(u64::MAX - 1));
        // Each bound is in its own band, and what is just below is not.
        for latency in (1..2_000u64).map(|n| n * n * n) {
            let from = from_ns(latency);
            assert!(from <= latency && from_ns(from) == from, "{latency}: {from}");
            assert!(from == 1 || from_ns(from - 1) < from, "{latency}: {from}");
        }
    }

    #[test]
    fn samples_add_up() {
        let mut sum = BandSum::default();
        let sample = |latency_ns, cpu_ns, collections_ns, weight| RequestSample {
            latency_ns,
            cpu_ns,
            collections_ns,
            weight,
            vector: 0,
        };
        sum.add_sample(&sample(100, Some(90), 0, 1.5));
        sum.add_sample(&sample(100, Some(50), 0, 2.0));
        sum.add_sample(&sample(100, Some(10), 60, 4.0));
        sum.add_sample(&sample(100, None, 0, 1.0));
        let expected = BandSum {
            samples: 4,
            weight: 8_500,
            squares: 2_250 + 4_000 + 16_000 + 1_000,
            latency_ns: 850,
            collected: 4_000,
            waited: 2_000,
            ..BandSum::default()
        };
        assert_eq!(sum, expected);
    }
}
