//! Latencies in bands, and what the requests of each band do: for readers who choose a band of their own.

use trodden_profile::RequestName;

use super::choose::{Predicate, Search};
use super::features::Feature;
use super::table::{Table, own_ns};
use super::{CauseKind, Decoded, kind, waited};

/// Bands at most, but for one on either side of the limit of slow requests.
const BANDS: usize = 48;
/// Limits whose answers are among the things, as shares of the requests.
const CUTS: [f64; 4] = [0.5, 0.9, 0.95, 0.99];
/// Things that are added because their shares differ most from band to band.
const MAX_MORE: usize = 24;
/// Correlation from which a thing is as good as named by another one.
const ALIKE: f64 = 0.8;
/// Part of the latency that collections or waiting have, from which they are counted.
const MIN_PART: f64 = 0.1;

/// Latencies of one kind of requests in bands.
#[derive(Clone, Debug, PartialEq)]
pub struct Bands {
    /// Bounds of the bands in nanoseconds, one more than there are bands: a latency is above the lower one and at most the
    /// upper one.
    pub bounds_ns: Vec<u64>,
    /// Requests of each band.
    pub counts: Vec<u64>,
    /// Sums of the weights of each band's samples, and of their squares.
    pub weights: Vec<[f64; 2]>,
    /// Things that requests of some bands do more often, each with the sums of the weights of those that do it.
    pub things: Vec<(CauseKind, Vec<f64>)>,
}

impl Bands {
    /// The bands of requests, of which those over a limit are slow.
    pub(super) fn new(decoded: &Decoded, name: &RequestName, over_ns: u64) -> Self {
        let bounds_ns = bounds(name, over_ns);
        let bands = bounds_ns.len().saturating_sub(1);
        let band = |ns: u64| {
            bounds_ns
                .partition_point(|&bound| bound < ns)
                .clamp(1, bands.max(1))
                - 1
        };
        let mut counts = vec![0u64; bands];
        for &(latency, count) in &name.latencies {
            let sum = &mut counts[band(latency)];
            *sum = sum.saturating_add(count);
        }
        let table = Table::new(name, &decoded.features);
        let mut weights = vec![[0.0; 2]; bands];
        let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); table.rows];
        // A sample without its latency in the histogram is in no band.
        for (sample, &row) in table.samples.iter().zip(&table.row_of).filter(|_| bands > 0) {
            let at = band(sample.latency_ns);
            weights[at][0] += sample.weight;
            weights[at][1] += sample.weight * sample.weight;
            rows[row as usize].push((at, sample.weight));
        }
        let by_band = ByBand {
            table: &table,
            rows: &rows,
            weights: &weights,
        };
        let mut things: Vec<(CauseKind, Vec<f64>)> = Vec::new();
        for (at, feature) in by_band.chosen(decoded, name, over_ns) {
            let kind = kind(decoded.spot(feature), feature.what, at.limit);
            things.push((kind, by_band.of(at)));
        }
        let mut of_samples = |kind: CauseKind, part: &dyn Fn(&trodden_profile::RequestSample) -> f64| {
            let mut sums = vec![0.0; bands];
            for sample in table.samples {
                if bands > 0 && part(sample) >= MIN_PART * sample.latency_ns as f64 {
                    sums[band(sample.latency_ns)] += sample.weight;
                }
            }
            if sums.iter().any(|sum| *sum > 0.0) {
                things.push((kind, sums));
            }
        };
        of_samples(CauseKind::Collections(0), &|sample| {
            // One without collections does not count, be it as short as can be.
            if sample.collections_ns > 0 {
                (sample.latency_ns - own_ns(sample)) as f64
            } else {
                -1.0
            }
        });
        of_samples(CauseKind::Waiting(0), &|sample| {
            waited(sample).filter(|ns| *ns > 0.0).unwrap_or(-1.0)
        });
        Bands {
            bounds_ns,
            counts,
            weights,
            things,
        }
    }
}

/// Bounds in equal steps of the logarithm, one of them where slow requests begin.
fn bounds(name: &RequestName, over_ns: u64) -> Vec<u64> {
    let (Some(&(first, _)), Some(&(last, _))) = (name.latencies.first(), name.latencies.last()) else {
        return Vec::new();
    };
    let (low, high) = (first.saturating_sub(1), last);
    let ln = |ns: u64| (ns.max(1) as f64).ln();
    let step = ((ln(high) - ln(low)) / BANDS as f64).max(f64::MIN_POSITIVE);
    let mut bounds = vec![low];
    let mut ends = vec![high];
    if low < over_ns && over_ns < high {
        ends.insert(0, over_ns);
    }
    for end in ends {
        let from = bounds[bounds.len() - 1];
        let steps = ((ln(end) - ln(from)) / step).round().clamp(1.0, BANDS as f64) as u32;
        let width = (ln(end) - ln(from)) / f64::from(steps);
        for at in 1..steps {
            bounds.push((ln(from) + width * f64::from(at)).exp() as u64);
        }
        bounds.push(end);
    }
    bounds.dedup();
    // Short ones may be out of order by rounding.
    bounds.sort_unstable();
    bounds.dedup();
    bounds
}

/// Rows of requests, spread over bands.
struct ByBand<'a> {
    table: &'a Table<'a>,
    /// Per row: bands with the weights of their samples.
    rows: &'a [Vec<(usize, f64)>],
    weights: &'a [[f64; 2]],
}

impl ByBand<'_> {
    /// The weight of those in each band that do it.
    fn of(&self, predicate: Predicate) -> Vec<f64> {
        let mut sums = vec![0.0; self.weights.len()];
        for &(row, _) in self.table.columns[predicate.column].above(predicate.limit) {
            for &(band, weight) in &self.rows[row as usize] {
                sums[band] += weight;
            }
        }
        sums
    }

    /// The answers for some limits; then what differs most from band to band and is like none of these.
    fn chosen(&self, decoded: &Decoded, name: &RequestName, over_ns: u64) -> Vec<(Predicate, Feature)> {
        let order = decoded.order(name);
        let search = Search::new(decoded.profile, &decoded.features, self.table, &order);
        let mut chosen: Vec<(Predicate, Feature)> = Vec::new();
        let cuts = CUTS.iter().filter_map(|&share| name.quantile(share));
        let mut cuts: Vec<u64> = std::iter::once(over_ns).chain(cuts).collect();
        cuts.sort_unstable();
        cuts.dedup();
        for over_ns in cuts {
            let is_slow = |at: &usize| self.table.samples[*at].latency_ns > over_ns;
            let (slow, others): (Vec<usize>, Vec<usize>) = (0..self.table.samples.len()).partition(is_slow);
            let not_collected = |at: &usize| own_ns(&self.table.samples[*at]) > over_ns;
            let slow: Vec<usize> = slow.into_iter().filter(not_collected).collect();
            for found in search.answer(over_ns, &slow, &others).found {
                if chosen.iter().all(|(predicate, _)| *predicate != found.predicate) {
                    chosen.push((found.predicate, found.feature));
                }
            }
        }
        let everyone: Vec<usize> = (0..self.table.samples.len()).collect();
        let mut ranked: Vec<(f64, Predicate)> = search
            .predicates(&everyone)
            .into_iter()
            .map(|predicate| (self.difference(predicate), predicate))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let weights: Vec<f64> = self
            .rows
            .iter()
            .map(|row| row.iter().map(|(_, weight)| weight).sum())
            .collect();
        let mut taken: Vec<Vec<bool>> = chosen
            .iter()
            .map(|(predicate, _)| self.rows_with(*predicate))
            .collect();
        for (difference, predicate) in ranked {
            if taken.len() >= chosen.len().max(MAX_MORE) || difference <= 0.0 {
                break;
            }
            let rows = self.rows_with(predicate);
            if taken
                .iter()
                .any(|other| correlation(&rows, other, &weights) >= ALIKE)
            {
                continue;
            }
            taken.push(rows);
            chosen.extend(search.first(predicate).map(|feature| (predicate, feature)));
        }
        chosen
    }

    fn rows_with(&self, predicate: Predicate) -> Vec<bool> {
        let mut has = vec![false; self.table.rows];
        for &(row, _) in self.table.columns[predicate.column].above(predicate.limit) {
            has[row as usize] = true;
        }
        has
    }

    /// Measure of how its share differs from band to band: chi-squared, but for a factor that all have.
    fn difference(&self, predicate: Predicate) -> f64 {
        let with = self.of(predicate);
        let all: f64 = self.weights.iter().map(|weights| weights[0]).sum();
        let share = with.iter().sum::<f64>() / all.max(f64::MIN_POSITIVE);
        let spread = share * (1.0 - share);
        if spread <= 0.0 {
            return 0.0;
        }
        let bands = with
            .iter()
            .zip(self.weights)
            .filter(|(_, weights)| weights[0] > 0.0);
        // In equal weights, as the samples of a band are worth.
        bands
            .map(|(with, [weight, squares])| {
                (with / weight - share).powi(2) / spread * weight * weight / squares
            })
            .sum()
    }
}

fn correlation(one: &[bool], other: &[bool], weights: &[f64]) -> f64 {
    let (mut all, mut first, mut second, mut both) = (0.0, 0.0, 0.0, 0.0);
    for ((&one, &other), weight) in one.iter().zip(other).zip(weights) {
        all += weight;
        first += if one { *weight } else { 0.0 };
        second += if other { *weight } else { 0.0 };
        both += if one && other { *weight } else { 0.0 };
    }
    let spread = (first * (all - first) * second * (all - second)).sqrt();
    // One outcome of two tells as much as the other.
    if spread > 0.0 {
        ((both * all - first * second) / spread).abs()
    } else {
        0.0
    }
}
