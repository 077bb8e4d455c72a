//! The samples of many threads as one, and what it says.

use std::collections::BTreeMap;

use trodden_profile::SubpathRun;

use super::draws::Draws;
use super::estimate::Estimate;
use super::options::SubpathOptions;
use super::order::{Order, OrderTally};
use super::runs::{self, Run};
use super::sampler::Sampler;
use crate::MethodPlaces;

/// The samples of several threads.
///
/// Threads and lengths are sampled at different distances `f`. Their elements stay apart by `f`: so those of
/// a short thread keep their weight compared with those of a long one. Only when the whole exceeds [`LIMIT`]
/// footprints, the densest ones are resampled to twice their distance.
#[derive(Clone, Debug)]
pub struct MergedSubpaths {
    entries: BTreeMap<u64, Entry>,
    draws: Draws,
    stats: SubpathStats,
}

/// A merged sample may have this many times a thread's footprint.
pub const LIMIT: usize = 16;

#[derive(Clone, Debug)]
struct Entry {
    text: Box<[u8]>,
    strata: Vec<Stratum>,
}

#[derive(Clone, Copy, Debug)]
struct Stratum {
    f: u64,
    elsewhere: u64,
    header: u64,
}

/// Statistics of sampling as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SubpathStats {
    /// Threads that executed any block.
    pub threads: u64,
    /// Blocks. With ageing, old ones count less.
    pub blocks: f64,
    /// Places where subpaths might begin: the blocks, or the loop headers if only those count.
    pub places: f64,
    /// Samples ever taken.
    pub drawn: u64,
    /// Blocks in them.
    pub drawn_blocks: u64,
    /// Mean distances between samples at the end: the smallest and the largest of any thread and length.
    pub f: (u64, u64),
    /// Bytes of the largest sample of a thread.
    pub peak_bytes: u64,
    /// Further bytes that a thread needed, at most: for samples that are being taken ...
    pub working_bytes: u64,
    /// ... and for the order of blocks.
    pub order_bytes: u64,
    /// Path ends of unknown methods, or impossible ones.
    pub unknown: u64,
    /// Gaps in the streams.
    pub gaps: u64,
    /// Words that no probe writes.
    pub bad_words: u64,
}

/// A subpath of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Subpath {
    /// Its identity.
    pub key: u64,
    /// Blocks.
    pub length: u32,
    /// How often it is in the sample.
    pub sampled: u64,
    /// How often it was executed.
    pub estimate: Estimate,
    /// The same as a share of the places where it might have begun.
    pub share: f64,
    /// Its runs of paths: a rotation that was sampled. None, if it came once and there was no room.
    pub runs: Vec<Run>,
    /// Blocks at its end that are not kept, because `runs` would take too much memory.
    pub missing: u32,
}

/// The part of a sample that is reported (OSP section 2.3, "Reporting the Results").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// At most this number of subpaths.
    pub top: usize,
    /// Only such as are in the sample at least so often.
    pub least: u64,
    /// Half the width of intervals, in standard deviations.
    pub z: f64,
}

impl Default for Report {
    /// All, with intervals that hold the true count in 95 % of all cases.
    fn default() -> Self {
        Report {
            top: usize::MAX,
            least: 1,
            z: 1.96,
        }
    }
}

impl MergedSubpaths {
    /// No thread.
    pub fn new(options: &SubpathOptions) -> Self {
        MergedSubpaths {
            entries: BTreeMap::new(),
            draws: Draws::new(options.seed, u64::MAX),
            stats: SubpathStats::default(),
        }
    }

    /// Statistics of sampling as a whole.
    pub fn stats(&self) -> SubpathStats {
        self.stats
    }

    /// Takes note of what did not fit, and of a thread's memory for the order of blocks.
    pub(super) fn note(&mut self, tally: OrderTally, bytes: usize) {
        self.stats.unknown += tally.unknown;
        self.stats.gaps += tally.gaps;
        self.stats.bad_words += tally.bad_words;
        self.stats.order_bytes = self.stats.order_bytes.max(bytes as u64);
    }

    /// Subpaths in the sample, with and without repetitions.
    pub fn sampled(&self) -> (u64, u64) {
        let total = self.entries.values().map(Entry::sampled).sum();
        (total, self.entries.len() as u64)
    }

    /// Adds a thread's sample. All samplers must have the same options.
    pub fn add(&mut self, sampler: &Sampler) {
        let own = sampler.sample().map(|found| {
            let stratum = Stratum {
                f: sampler.distance(runs::length(&found.text)),
                elsewhere: u64::from(found.elsewhere),
                header: u64::from(found.header),
            };
            (found.key, found.text.into_owned().into(), stratum)
        });
        own.for_each(|(key, text, stratum)| self.count(key, text, stratum));
        let stats = &mut self.stats;
        if sampler.has_run() {
            let (least, most) = sampler.distances();
            let least = if stats.threads == 0 {
                least
            } else {
                stats.f.0.min(least)
            };
            stats.f = (least, stats.f.1.max(most));
            stats.threads += 1;
        }
        stats.blocks += sampler.blocks();
        stats.places += sampler.places();
        stats.drawn += sampler.tally().drawn;
        stats.drawn_blocks += sampler.tally().drawn_blocks;
        let (_, peak, working) = sampler.bytes();
        stats.peak_bytes = stats.peak_bytes.max(peak as u64);
        stats.working_bytes = stats.working_bytes.max(working as u64);
        self.fit(sampler.options());
    }

    /// Adds what is known of other threads.
    pub fn merge(&mut self, other: &MergedSubpaths, options: &SubpathOptions) {
        for (&key, entry) in &other.entries {
            entry
                .strata
                .iter()
                .for_each(|&stratum| self.count(key, entry.text.clone(), stratum));
        }
        let (own, more) = (&mut self.stats, &other.stats);
        if more.threads > 0 {
            let least = if own.threads == 0 {
                more.f.0
            } else {
                own.f.0.min(more.f.0)
            };
            own.f = (least, own.f.1.max(more.f.1));
        }
        own.threads += more.threads;
        own.blocks += more.blocks;
        own.places += more.places;
        own.drawn += more.drawn;
        own.drawn_blocks += more.drawn_blocks;
        own.peak_bytes = own.peak_bytes.max(more.peak_bytes);
        own.working_bytes = own.working_bytes.max(more.working_bytes);
        own.order_bytes = own.order_bytes.max(more.order_bytes);
        own.unknown += more.unknown;
        own.gaps += more.gaps;
        own.bad_words += more.bad_words;
        self.fit(options);
    }

    fn count(&mut self, key: u64, text: Box<[u8]>, stratum: Stratum) {
        let entry = self.entries.entry(key).or_insert_with(|| Entry {
            text: text.clone(),
            strata: Vec::new(),
        });
        if runs::describes_nothing(&entry.text) && !runs::describes_nothing(&text) {
            entry.text = text;
        }
        match entry.strata.iter_mut().find(|known| known.f == stratum.f) {
            Some(known) => {
                known.elsewhere += stratum.elsewhere;
                known.header += stratum.header;
            }
            None => entry.strata.push(stratum),
        }
    }

    /// Bytes held, roughly.
    pub fn bytes(&self) -> usize {
        let of = |entry: &Entry| entry.text.len() + entry.strata.len() * size_of::<Stratum>();
        self.entries
            .values()
            .map(|entry| of(entry) + size_of::<(u64, Entry)>())
            .sum()
    }

    /// Resamples until it is not too large.
    fn fit(&mut self, options: &SubpathOptions) {
        while self.bytes() > LIMIT * options.footprint {
            let all = self.entries.values().flat_map(|entry| &entry.strata);
            let Some(densest) = all.map(|stratum| stratum.f).min() else {
                return;
            };
            let keep = options.rates(2 * densest).keep(options.rates(densest));
            for entry in self.entries.values_mut() {
                let Some(at) = entry.strata.iter().position(|stratum| stratum.f == densest) else {
                    continue;
                };
                let mut thinned = entry.strata.remove(at);
                thinned.f *= 2;
                thinned.elsewhere = self.draws.survivors(thinned.elsewhere, keep.elsewhere);
                thinned.header = self.draws.survivors(thinned.header, keep.header);
                match entry.strata.iter_mut().find(|known| known.f == thinned.f) {
                    Some(known) => {
                        known.elsewhere += thinned.elsewhere;
                        known.header += thinned.header;
                    }
                    None if thinned.elsewhere + thinned.header > 0 => entry.strata.push(thinned),
                    None => {}
                }
            }
            self.entries.retain(|_, entry| !entry.strata.is_empty());
            self.stats.f.0 = self.stats.f.0.max(2 * densest);
            self.stats.f.1 = self.stats.f.1.max(self.stats.f.0);
        }
    }

    /// The hot subpaths, by estimated count.
    pub fn report(&self, options: &SubpathOptions, report: &Report) -> Vec<Subpath> {
        let enough = |entry: &&Entry| entry.sampled() >= report.least;
        let estimate = |entry: &Entry| {
            let length = runs::length(&entry.text);
            let probability = options.lengths.probability(length);
            let samples = entry.strata.iter().flat_map(|stratum| {
                let rates = options.rates(stratum.f);
                let pairs = [
                    (stratum.elsewhere, rates.elsewhere),
                    (stratum.header, rates.header),
                ];
                // Where one count serves for both, the other is no sample of its own.
                pairs.into_iter().filter(|&(count, rate)| count > 0 && rate > 0.0)
            });
            let weighted = samples.map(|(count, rate)| (count, 1.0 / (rate * probability)));
            Estimate::new(weighted, report.z)
        };
        let mut ranking: Vec<(u64, Estimate, &Entry)> = (self.entries.iter())
            .filter(|(_, entry)| enough(entry))
            .map(|(&key, entry)| (key, estimate(entry), entry))
            .collect();
        // Of equal ones the shorter first, then by identity, so that the order is always the same.
        ranking.sort_by(|a, b| {
            let length = |x: &(u64, Estimate, &Entry)| runs::length(&x.2.text);
            (b.1.value.total_cmp(&a.1.value)).then_with(|| (length(a), a.0).cmp(&(length(b), b.0)))
        });
        ranking.truncate(report.top);
        let described = ranking.into_iter().filter_map(|(key, estimate, entry)| {
            let (length, runs, missing) = runs::unpack(&entry.text)?;
            let places = self.stats.places;
            Some(Subpath {
                key,
                length,
                sampled: entry.sampled(),
                estimate,
                share: if places > 0.0 {
                    (estimate.value / places).min(1.0)
                } else {
                    0.0
                },
                runs,
                missing,
            })
        });
        described.collect()
    }
}

/// For a profile.
impl MergedSubpaths {
    /// The section of a profile whose methods are at these places. Samples of other methods are left out and
    /// counted in `unknown`.
    pub(super) fn section(
        &self,
        options: &SubpathOptions,
        order: Order,
        places: &MethodPlaces,
        unknown: &mut u64,
    ) -> trodden_profile::Subpaths {
        let stats = self.stats;
        let mut section = trodden_profile::Subpaths {
            lengths: options.lengths.to_string(),
            order: order.name().to_owned(),
            identity: options.identity.name().to_owned(),
            starts: options.starts.to_string(),
            footprint: options.footprint as u64,
            half_life: options.half_life,
            sliding_window: options.window,
            bursts: options.bursts.clone(),
            threads: stats.threads,
            blocks: stats.blocks.round() as u64,
            places: stats.places.round() as u64,
            drawn: stats.drawn,
            drawn_blocks: stats.drawn_blocks,
            distance: stats.f,
            peak_bytes: stats.peak_bytes,
            working_bytes: stats.working_bytes + stats.order_bytes,
            subpaths: Vec::new(),
        };
        for found in self.report(options, &Report::default()) {
            let runs: Option<Vec<SubpathRun>> = found.runs.iter().map(|run| placed(run, places)).collect();
            let Some(runs) = runs else {
                *unknown += found.sampled;
                continue;
            };
            let Estimate { value, low, high } = found.estimate;
            section.subpaths.push(trodden_profile::Subpath {
                length: found.length,
                sampled: found.sampled,
                estimate: value.round() as u64,
                low: low.floor() as u64,
                high: high.ceil() as u64,
                runs,
                missing: found.missing,
            });
        }
        section
    }
}

pub(super) fn placed(run: &Run, places: &MethodPlaces) -> Option<SubpathRun> {
    let (class, method) = places.place(run.method)?;
    Some(SubpathRun {
        class,
        method,
        path: u64::from(run.path),
        from: run.from,
        blocks: run.blocks,
        times: run.times,
    })
}

impl Entry {
    fn sampled(&self) -> u64 {
        self.strata
            .iter()
            .map(|stratum| stratum.elsewhere + stratum.header)
            .sum()
    }
}
