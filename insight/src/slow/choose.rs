//! The search for what slow requests do differently: one thing after the other, the one that explains most first.

use rustc_hash::{FxHashMap, FxHashSet};
use trodden_numbering::FlowGraph;
use trodden_profile::Profile;

use super::exact::{Factorials, effective};
use super::features::{Feature, Features, What};
use super::fit::{self, Fit, MAX_TERMS, Point};
use super::order::CallOrder;
use super::table::{Table, own_ns};

/// Share of requests without any difference for which one may be claimed.
const ERROR: f64 = 0.01;
/// Least share of the slow requests that a thing explains.
const MIN_EXPLAINED: f64 = 0.02;
/// Least part of the time between slow and other requests that a thing costs, by a fit.
const MIN_PART: f64 = 0.25;
/// Or the least share of the slow requests that would not be there without it, if nothing else changed.
const MIN_ATTRIBUTABLE: f64 = 0.5;
/// Correlation from which things come together.
const TOGETHER: f64 = 0.9;
/// Part of the best one's correlation with slowness that a thing has which is named in its place.
const AS_GOOD: f64 = 0.95;
/// Part of the best one's correlation that a thing has at least which includes it, to be named in its place.
const INCLUDES: f64 = 0.7;
/// Part of the requests that do the best one which do a thing that includes it.
const INCLUDED: f64 = 0.95;
/// Part of its own correlation that an outcome has to exceed a path by, which is harder to read.
const OF_PATH: f64 = 0.9;
/// Part of the times that a number explains beyond an outcome, to be named in its place.
const MORE_EXPLAINED: f64 = 0.1;
/// Share of the others that come to a branch which go the other way, from which it decides.
const MIN_OTHER_WAY: f64 = 0.5;
/// Things that are named with one, at most.
const MAX_WITH: usize = 5;
/// Quantiles of the others' counts from which more is *more of the same*.
const QUANTILES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 1.0];

/// A thing that requests do more often than `limit` times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// Position of the column in the table.
    pub column: usize,
    /// Number of times that is not enough: 0 for doing it at all.
    pub limit: u64,
}

/// A thing that was found.
pub struct Found {
    /// The thing.
    pub predicate: Predicate,
    /// The one of the column's features that decides.
    pub feature: Feature,
    /// Share of the slow requests that are taken for explained by it, and not by one before it.
    pub explains: f64,
    /// The probability of such a difference by chance, times the number of things that were looked at.
    pub p_value: f64,
    /// Features that come with it.
    pub with: Vec<(Feature, u64)>,
}

/// Things that slow requests do differently.
pub struct Answer {
    /// The things, in the order in which they were found.
    pub found: Vec<Found>,
    /// Slow samples that nothing explains.
    pub rest: Vec<usize>,
    /// False if there are too few samples for any answer.
    pub is_enough: bool,
}

/// Samples of one kind of requests, in which causes are searched.
pub struct Search<'a> {
    profile: &'a Profile,
    features: &'a Features,
    table: &'a Table<'a>,
    order: &'a CallOrder,
    /// Per feature of the table: its column.
    column_of: FxHashMap<u32, usize>,
}

/// The sums of a column over the requests of a round.
#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    squares: f64,
    with_time: f64,
}

/// A predicate, and how it goes with slowness.
#[derive(Clone, Copy)]
struct Candidate {
    predicate: Predicate,
    score: f64,
    shares: [f64; 2],
}

/// The requests of a round.
struct Round {
    slow: Vec<f64>,
    other: Vec<f64>,
    /// Their sums.
    weights: [f64; 2],
    /// Their sizes, in equal weights.
    sizes: [usize; 2],
    moments: Vec<Moments>,
    time: f64,
    /// The time between slow and other requests.
    gap: f64,
}

impl<'a> Search<'a> {
    /// Prepares the search.
    pub fn new(profile: &'a Profile, features: &'a Features, table: &'a Table, order: &'a CallOrder) -> Self {
        let columns = table.columns.iter().enumerate();
        let column_of =
            columns.flat_map(|(at, column)| column.features.iter().map(move |&feature| (feature, at)));
        Search {
            profile,
            features,
            table,
            order,
            column_of: column_of.collect(),
        }
    }

    /// Compares the slow ones among the samples with the others.
    pub fn answer(&self, over_ns: u64, slow: &[usize], others: &[usize]) -> Answer {
        let mut answer = Answer {
            found: Vec::new(),
            rest: slow.to_vec(),
            is_enough: false,
        };
        let samples = self.table.samples;
        let weight = |at: &usize| samples[*at].weight;
        let all_slow: f64 = slow.iter().map(weight).sum();
        let sizes = [slow, others].map(|group| effective(group.iter().map(weight)) as usize);
        // Equal weights are worth most, and a later round may have equal ones where the first has not.
        let factorials = Factorials::up_to(slow.len() + others.len());
        let predicates = self.predicates(others);
        let looked_at = (predicates.len() * MAX_TERMS).max(1) as f64;
        answer.is_enough = factorials.at_least([sizes[0], 0], sizes) * looked_at <= ERROR;
        let mut times: Vec<f64> = samples.iter().map(|sample| own_ns(sample) as f64).collect();
        let mut used: FxHashSet<usize> = FxHashSet::default();
        while answer.found.len() < MAX_TERMS && !answer.rest.is_empty() {
            let round = self.round(&answer.rest, others, &times);
            let mut candidates: Vec<Candidate> = predicates
                .iter()
                .filter(|predicate| !used.contains(&predicate.column))
                .filter_map(|predicate| round.candidate(self, *predicate, all_slow))
                .collect();
            candidates.sort_by(|a, b| {
                let score =
                    |of: &Candidate| of.score * if self.is_path(of.predicate) { OF_PATH } else { 1.0 };
                let place = |of: &Candidate| (of.predicate.column, of.predicate.limit);
                score(b)
                    .total_cmp(&score(a))
                    .then_with(|| place(a).cmp(&place(b)))
            });
            let by_chance = |shares: [f64; 2], of: [f64; 2]| {
                let sizes = [0, 1].map(|which| (of[which] * round.sizes[which] as f64).round() as usize);
                let hits = [
                    (shares[0] * sizes[0] as f64 + 1e-9).floor() as usize,
                    ((shares[1] * sizes[1] as f64 - 1e-9).ceil() as usize).min(sizes[1]),
                ];
                factorials.at_least(hits, sizes) * looked_at
            };
            let best = candidates
                .iter()
                .find_map(|of| (by_chance(of.shares, [1.0; 2]) <= ERROR).then_some(*of));
            let Some(best) = best else {
                break;
            };
            let group = self.group(&round, &candidates, best, |one| {
                let both = round.both(self, one.predicate, best.predicate);
                let included = [0, 1].map(|which| both[which] / one.shares[which].max(f64::MIN_POSITIVE));
                both[0] >= INCLUDED * best.shares[0]
                    && both[1] >= INCLUDED * best.shares[1]
                    && by_chance(one.shares, [1.0; 2]) <= ERROR
                    && by_chance(included.map(|share| share.min(1.0)), one.shares) > ERROR
            });
            used.extend(group.iter().map(|(candidate, _)| candidate.predicate.column));
            let (chosen, feature) = group[0];
            let p_value = by_chance(chosen.shares, [1.0; 2]);
            let with = group[1..]
                .iter()
                .map(|(of, feature)| (*feature, of.predicate.limit));
            answer.found.push(Found {
                predicate: chosen.predicate,
                feature,
                explains: 0.0,
                p_value,
                with: with.take(MAX_WITH).collect(),
            });
            times = self.times_without(&answer.found, others);
            let is_left = self.not_in(chosen.predicate);
            let before = answer.rest.len();
            let left = |&at: &usize| is_left[self.table.row_of[at] as usize] && times[at] > over_ns as f64;
            let (rest, gone): (Vec<usize>, Vec<usize>) = answer.rest.iter().partition(|at| left(at));
            answer.rest = rest;
            if let Some(found) = answer.found.last_mut() {
                found.explains = gone.iter().map(weight).sum::<f64>() / all_slow;
            }
            if answer.rest.len() == before {
                break;
            }
        }
        answer
    }

    /// All predicates: each column once for doing it at all, and for doing it more often than most others do.
    pub fn predicates(&self, others: &[usize]) -> Vec<Predicate> {
        let mut is_other = vec![false; self.table.samples.len()];
        others.iter().for_each(|&at| is_other[at] = true);
        let weights = self
            .table
            .by_row(|at, sample| if is_other[at] { sample.weight } else { 0.0 });
        let all: f64 = weights.iter().sum();
        let mut predicates = Vec::new();
        for (at, column) in self.table.columns.iter().enumerate() {
            let most = column.entries.first().map_or(0, |entry| entry.1);
            let mut limits = vec![0];
            let mut above = 0.0;
            let mut open: Vec<f64> = QUANTILES.to_vec();
            for &(row, count) in &column.entries {
                above += weights[row as usize];
                // With this row more of the others are above than the quantile leaves.
                while open
                    .last()
                    .is_some_and(|quantile| above > (1.0 - quantile) * all * (1.0 + 1e-9))
                {
                    open.pop();
                    limits.push(count);
                }
            }
            limits.sort_unstable();
            limits.dedup();
            let useful = limits.into_iter().filter(|&limit| limit < most);
            predicates.extend(useful.map(|limit| Predicate { column: at, limit }));
        }
        predicates
    }

    fn round(&self, slow: &[usize], others: &[usize], times: &[f64]) -> Round {
        let table = self.table;
        let mut rows = [vec![0.0; table.rows], vec![0.0; table.rows]];
        let mut time_of_row = vec![0.0; table.rows];
        let mut time = [0.0; 2];
        for (which, group) in [slow, others].into_iter().enumerate() {
            for &at in group {
                let (row, weight) = (table.row_of[at] as usize, table.samples[at].weight);
                rows[which][row] += weight;
                time_of_row[row] += weight * times[at];
                time[which] += weight * times[at];
            }
        }
        let [slow_rows, other_rows] = rows;
        let moments = table.columns.iter().map(|column| {
            column
                .entries
                .iter()
                .fold(Moments::default(), |sum, &(row, count)| {
                    let (row, count) = (row as usize, count as f64);
                    let weighted = (slow_rows[row] + other_rows[row]) * count;
                    Moments {
                        count: sum.count + weighted,
                        squares: sum.squares + weighted * count,
                        with_time: sum.with_time + time_of_row[row] * count,
                    }
                })
        });
        let moments = moments.collect();
        let weights = [slow_rows.iter().sum(), other_rows.iter().sum()];
        let weight = |at: &usize| table.samples[*at].weight;
        let [in_slow, in_others] =
            [0, 1].map(|which| time[which] / f64::max(weights[which], f64::MIN_POSITIVE));
        Round {
            sizes: [slow, others].map(|group| effective(group.iter().map(weight)) as usize),
            slow: slow_rows,
            other: other_rows,
            weights,
            moments,
            time: time[0] + time[1],
            gap: in_slow - in_others,
        }
    }

    /// True if all features of the column are paths.
    fn is_path(&self, predicate: Predicate) -> bool {
        let features = self.table.columns[predicate.column].features.iter();
        features
            .map(|&feature| self.features.list[feature as usize])
            .all(|feature| matches!(feature.what, What::Path(..)))
    }

    /// The candidates that come together with the best one, or include it where it tells no more than they do, each with a
    /// feature: the one that decides first.
    fn group(
        &self,
        round: &Round,
        candidates: &[Candidate],
        best: Candidate,
        includes: impl Fn(&Candidate) -> bool,
    ) -> Vec<(Candidate, Feature)> {
        let mut of_column: FxHashMap<usize, (Candidate, bool)> = FxHashMap::default();
        for &one in candidates {
            let is_as_good = one.score >= AS_GOOD * best.score;
            if round.correlation(self, one, best) >= TOGETHER {
                // The best come first.
                of_column.entry(one.predicate.column).or_insert((one, is_as_good));
            } else if one.score >= INCLUDES * best.score && includes(&one) {
                of_column.entry(one.predicate.column).or_insert((one, true));
            }
        }
        let named = of_column.values().flat_map(|&(one, is_as_good)| {
            let features = self.table.columns[one.predicate.column].features.iter();
            features.map(move |&feature| (one, self.features.list[feature as usize], is_as_good))
        });
        let mut ranked: Vec<(Ranked, bool)> = named
            .map(|(one, feature, is_as_good)| (self.ranked(round, one, feature), is_as_good))
            .collect();
        let outcomes = ranked
            .iter()
            .map(|(one, _)| one)
            .filter(|one| one.decides && one.candidate.predicate.limit == 0);
        let explained = outcomes.map(|one| one.explained).fold(0.0, f64::max);
        ranked.sort_by_cached_key(|(one, is_as_good)| {
            let is_number = one.candidate.predicate.limit > 0 && one.explained < explained + MORE_EXPLAINED;
            let is_path = matches!(one.feature.what, What::Path(..));
            (
                !is_as_good,
                is_path,
                !one.decides,
                is_number,
                one.position.clone(),
                one.feature,
            )
        });
        ranked
            .into_iter()
            .map(|(one, _)| (one.candidate, one.feature))
            .collect()
    }

    /// The first of a predicate's features in the order of calls; a path if there is no outcome.
    pub fn first(&self, predicate: Predicate) -> Option<Feature> {
        let features = self.table.columns[predicate.column].features.iter();
        features
            .map(|&feature| self.features.list[feature as usize])
            .min_by_key(|feature| {
                let is_path = matches!(feature.what, What::Path(..));
                (
                    is_path,
                    self.order.of((feature.class, feature.method), self.bci(*feature)),
                    *feature,
                )
            })
    }

    /// Where a branch is; 0 of a path.
    fn bci(&self, feature: Feature) -> u32 {
        let map = &self.profile.classes[feature.class as usize].map.methods[feature.method as usize];
        match feature.what {
            What::Path(..) => 0,
            What::Outcome(edge) => map.blocks[edge.from.index()].last,
        }
    }

    fn ranked(&self, round: &Round, candidate: Candidate, feature: Feature) -> Ranked {
        let map = &self.profile.classes[feature.class as usize].map.methods[feature.method as usize];
        let decides = match feature.what {
            What::Path(..) => false,
            What::Outcome(edge) => {
                let ways = map.graph.successors(edge.from).len();
                let mut reached = vec![false; self.table.rows];
                for outcome in self.features.outcomes(feature, edge.from, ways) {
                    let column = self.column_of.get(&outcome).map(|&at| &self.table.columns[at]);
                    for &(row, _) in column.into_iter().flat_map(|column| &column.entries) {
                        reached[row as usize] = true;
                    }
                }
                let is_left = self.not_in(candidate.predicate);
                let (mut come, mut other_way) = (0.0, 0.0);
                for row in (0..self.table.rows).filter(|&row| reached[row]) {
                    come += round.other[row];
                    if is_left[row] {
                        other_way += round.other[row];
                    }
                }
                come > 0.0 && other_way >= MIN_OTHER_WAY * come
            }
        };
        Ranked {
            candidate,
            feature,
            decides,
            explained: round.explained(candidate.predicate.column),
            position: self.order.of((feature.class, feature.method), self.bci(feature)),
        }
    }

    /// Rows that do not do it.
    fn not_in(&self, predicate: Predicate) -> Vec<bool> {
        let mut is_left = vec![true; self.table.rows];
        for &(row, _) in self.table.columns[predicate.column].above(predicate.limit) {
            is_left[row as usize] = false;
        }
        is_left
    }

    /// The share of these samples that do it.
    pub fn share(&self, predicate: Predicate, group: &[usize]) -> f64 {
        let is_left = self.not_in(predicate);
        let (mut all, mut with) = (0.0, 0.0);
        for &at in group {
            let weight = self.table.samples[at].weight;
            all += weight;
            if !is_left[self.table.row_of[at] as usize] {
                with += weight;
            }
        }
        if all > 0.0 { with / all } else { 0.0 }
    }

    /// Costs of the things, in nanoseconds.
    pub fn fit(&self, found: &[Found]) -> Fit {
        fit::fit(&self.points(found), found.len())
    }

    fn points(&self, found: &[Found]) -> Vec<Point> {
        let counts: Vec<Vec<u64>> = found
            .iter()
            .map(|found| self.table.columns[found.predicate.column].counts(self.table.rows))
            .collect();
        let points = self
            .table
            .samples
            .iter()
            .zip(&self.table.row_of)
            .map(|(sample, &row)| {
                let mut point = Point {
                    time: own_ns(sample) as f64,
                    weight: sample.weight,
                    counts: [0.0; MAX_TERMS],
                    is_marked: false,
                };
                for ((count, of), found) in point.counts.iter_mut().zip(&counts).zip(found) {
                    *count = of[row as usize] as f64;
                    point.is_marked |= of[row as usize] > found.predicate.limit;
                }
                point
            });
        points.collect()
    }

    /// Per sample: its time if it had done what was found as often as the others do.
    fn times_without(&self, found: &[Found], others: &[usize]) -> Vec<f64> {
        let costs = fit::costs(&self.points(found), found.len());
        let samples = self.table.samples;
        let mut times: Vec<f64> = samples.iter().map(|sample| own_ns(sample) as f64).collect();
        for (found, cost) in found.iter().zip(&costs) {
            let counts = self.table.columns[found.predicate.column].counts(self.table.rows);
            let count = |at: usize| counts[self.table.row_of[at] as usize] as f64;
            let all: f64 = others.iter().map(|&at| samples[at].weight).sum();
            let usual = others
                .iter()
                .map(|&at| samples[at].weight * count(at))
                .sum::<f64>();
            let usual = usual / all.max(f64::MIN_POSITIVE);
            for (at, time) in times.iter_mut().enumerate() {
                *time -= cost * (count(at) - usual);
            }
        }
        times
    }
}

/// A feature that may be named for a group.
struct Ranked {
    candidate: Candidate,
    feature: Feature,
    decides: bool,
    explained: f64,
    position: (bool, Vec<u32>, (u32, u32), u32),
}

impl Round {
    /// The predicate, if it is worth a test.
    fn candidate(&self, search: &Search, predicate: Predicate, all_slow: f64) -> Option<Candidate> {
        let column = &search.table.columns[predicate.column];
        let (mut slow, mut other, mut count) = (0.0, 0.0, 0.0);
        for &(row, times) in column.above(predicate.limit) {
            slow += self.slow[row as usize];
            other += self.other[row as usize];
            count += self.slow[row as usize] * times as f64;
        }
        let shares = [
            slow / self.weights[0],
            other / self.weights[1].max(f64::MIN_POSITIVE),
        ];
        if slow < MIN_EXPLAINED * all_slow || shares[0] <= shares[1] {
            return None;
        }
        let moments = self.moments[predicate.column];
        let all = self.weights[0] + self.weights[1];
        let usual = moments.count / all;
        let more = count / slow - usual;
        let costs = self.slope(predicate.column) * more;
        let attributable = (shares[0] - shares[1]) / (1.0 - shares[1]);
        if costs < MIN_PART * self.gap && attributable < MIN_ATTRIBUTABLE {
            return None;
        }
        let with = slow + other;
        let spread = (self.weights[0] * self.weights[1] * with * (all - with)).sqrt();
        let score = (slow * self.weights[1] - other * self.weights[0]) / spread.max(f64::MIN_POSITIVE);
        Some(Candidate {
            predicate,
            score,
            shares,
        })
    }

    /// Shares of the slow and of the others that do both.
    fn both(&self, search: &Search, one: Predicate, other: Predicate) -> [f64; 2] {
        let is_left = search.not_in(other);
        let rows = search.table.columns[one.column].above(one.limit).iter();
        let mut both = [0.0; 2];
        for row in rows.map(|(row, _)| *row as usize).filter(|&row| !is_left[row]) {
            both[0] += self.slow[row];
            both[1] += self.other[row];
        }
        [0, 1].map(|which| both[which] / self.weights[which].max(f64::MIN_POSITIVE))
    }

    /// Correlation of a candidate with another one.
    fn correlation(&self, search: &Search, one: Candidate, other: Candidate) -> f64 {
        let weight = |shares: [f64; 2]| shares[0] * self.weights[0] + shares[1] * self.weights[1];
        let (with_one, with_other) = (weight(one.shares), weight(other.shares));
        let all = self.weights[0] + self.weights[1];
        let spread = (with_one * (all - with_one) * with_other * (all - with_other)).sqrt();
        // It is at most that of two of which one includes the other.
        let least = with_one.min(with_other);
        if (least * all - with_one * with_other) < TOGETHER * spread {
            return 0.0;
        }
        let both = weight(self.both(search, one.predicate, other.predicate));
        if spread > 0.0 {
            (both * all - with_one * with_other) / spread
        } else {
            // All do both, or none does.
            f64::from(u8::from(with_one == with_other))
        }
    }

    fn covariance(&self, column: usize) -> (f64, f64) {
        let moments = self.moments[column];
        let all = self.weights[0] + self.weights[1];
        let spread = moments.squares - moments.count * moments.count / all;
        (moments.with_time - moments.count * self.time / all, spread)
    }

    /// Time of one more, by a fit of this alone.
    fn slope(&self, column: usize) -> f64 {
        let (together, spread) = self.covariance(column);
        if spread > 0.0 { together / spread } else { 0.0 }
    }

    /// A measure of how much of the times the counts explain: proportional to the square of their correlation.
    fn explained(&self, column: usize) -> f64 {
        let (together, spread) = self.covariance(column);
        if spread > 0.0 {
            together * together / spread
        } else {
            0.0
        }
    }
}
