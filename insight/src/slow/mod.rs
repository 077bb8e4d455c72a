//! Differences between slow requests and the others: outcomes of branches, numbers of rounds, paths;
//! collections and waiting.
//!
//! *Slow* are the requests over a latency. Their samples are compared with those of the others, weighted by the number of
//! requests that each represents. In this order: a slow request that would not be one without the
//! collections in it is explained by these, and no code is. Of the rest, the search finds what they do
//! significantly more often and what costs enough to matter. Those that nothing in the code explains may
//! have waited.

mod bands;
mod choose;
mod exact;
mod features;
mod fit;
mod order;
mod table;

use std::cell::OnceCell;

use trodden_profile::{Profile, RequestName, RequestSample, Requests};

use crate::decisions::{Decision, Decisions};
use crate::route::route;
use crate::source::{SourceText, Sources};
use crate::view::PathView;
pub use bands::Bands;
use choose::{Found, Search};
use features::{Feature, Features, What};
use order::{CallOrder, Calls};
use table::{Table, own_ns};

/// Part of what a slow request takes longer than the others that is waiting, from which it is said to have
/// waited.
const MIN_WAITING: f64 = 0.5;
/// Least share of the slow requests that collections or waiting explain, to be named.
const MIN_SHARE: f64 = 0.005;

/// From where on requests are slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Over this latency, in nanoseconds.
    Latency(u64),
    /// Over the latency that this share of the requests (0 to 1) does not exceed.
    Quantile(f64),
}

impl Default for Limit {
    /// The slowest hundredth.
    fn default() -> Self {
        Limit::Quantile(0.99)
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum SlowError {
    /// Requests were not recorded.
    #[error(
        "the profile has no requests: record them with `trodden run --requests http -o server.trodden -- java …`"
    )]
    NoRequests,
}

/// Differences between the slow requests of a profile and the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Slow {
    /// By name, those with most requests first.
    pub requests: Vec<SlowRequests>,
    /// Nanoseconds that reading paths took in the threads of requests.
    pub reading_ns: u64,
    /// Nanoseconds that all requests took.
    pub all_ns: u64,
}

/// Requests of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowRequests {
    /// The method that handled them, or the name of a span.
    pub name: String,
    /// Number of them.
    pub count: u64,
    /// Those whose paths cannot be read.
    pub unreadable: u64,
    /// Latencies that a half, 99 of 100, and 999 of 1,000 do not exceed; nanoseconds.
    pub quantiles_ns: [u64; 3],
    /// Slow requests took longer than this, in nanoseconds.
    pub over_ns: u64,
    /// Number of slow requests.
    pub slow: u64,
    /// Samples of slow and of other requests.
    pub samples: [usize; 2],
    /// Equal weights that the samples of each are worth.
    pub effective: [f64; 2],
    /// False if there are too few samples for any answer that chance does not give as well.
    pub is_enough: bool,
    /// Causes: code first, by the number of requests that it explains, then collections, then waiting.
    pub causes: Vec<Cause>,
    /// Share of the slow requests that nothing explains.
    pub unexplained: f64,
}

/// A cause of slow requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The thing.
    pub kind: CauseKind,
    /// Share of the slow requests that have it.
    pub slow_share: f64,
    /// Share of the others that have it.
    pub other_share: f64,
    /// Time of one more; of collections and waiting the median of the slow requests that have it.
    /// Nanoseconds.
    pub cost_ns: f64,
    /// Bounds of the cost in 95 of 100 draws; of collections and waiting from the 5th to the 95th of 100
    /// requests.
    pub interval_ns: [f64; 2],
    /// Share of the slow requests that are taken for explained by this and by none before.
    pub explains: f64,
    /// The probability of such a difference by chance, corrected for the number of things that were looked
    /// at; none of collections and waiting.
    pub p_value: Option<f64>,
    /// Things that come together with it; each with the number of times that is not enough.
    pub with: Vec<(Spot, u64)>,
}

/// The thing that explains slow requests.
#[derive(Clone, Debug, PartialEq)]
pub enum CauseKind {
    /// They take an outcome that others do not.
    Outcome(Spot),
    /// They take an outcome more often than this.
    Size(Spot, u64),
    /// They take a path; more often than this.
    Path(Spot, u64),
    /// Collections overlapped them, of this number of nanoseconds or more.
    Collections(u64),
    /// Their threads had no processor, for this number of nanoseconds or more.
    Waiting(u64),
}

/// A place in the code, and what is done there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Internal name of the class.
    pub class: String,
    /// Name of the method.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The class's SourceFile attribute.
    pub source_file: Option<String>,
    /// Line, if the class file has it.
    pub line: Option<u32>,
    /// Bytecode index of the branch, or where the path begins.
    pub bci: u32,
    /// The condition in the source's terms, if it is known.
    pub condition: Option<String>,
    /// The outcome; none of a path.
    pub outcome: Option<String>,
    /// Number and route of a path; none of an outcome.
    pub path: Option<(u64, String)>,
}

/// The requests of a profile with their paths decoded, once for all questions.
pub struct Decoded<'p> {
    profile: &'p Profile,
    sources: &'p Sources,
    requests: &'p Requests,
    features: Features,
    calls: OnceCell<Calls>,
}

impl<'p> Decoded<'p> {
    /// Decodes each path once.
    ///
    /// # Errors
    /// If the profile has no requests.
    pub fn new(profile: &'p Profile, sources: &'p Sources) -> Result<Self, SlowError> {
        Ok(Decoded {
            profile,
            sources,
            requests: profile.requests.as_ref().ok_or(SlowError::NoRequests)?,
            features: Features::new(profile),
            calls: OnceCell::new(),
        })
    }

    /// Compares slow requests with the others.
    pub fn slow(&self, limit: Limit) -> Slow {
        let names = &self.requests.names;
        let mut all: Vec<SlowRequests> = names.iter().map(|name| self.of_name(name, limit)).collect();
        all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        let latencies = names.iter().flat_map(|name| &name.latencies);
        let all_ns = latencies.fold(0u64, |sum, &(latency, count)| {
            sum.saturating_add(latency.saturating_mul(count))
        });
        Slow {
            requests: all,
            reading_ns: self.requests.reading_ns,
            all_ns,
        }
    }

    /// Latencies in bands, with what requests of each do: parallel to [`Slow::requests`].
    pub fn bands(&self, slow: &Slow) -> Vec<Bands> {
        let names = &self.requests.names;
        let of = |of: &SlowRequests| {
            let name = names.iter().find(|name| name.name == of.name)?;
            Some(Bands::new(self, name, of.over_ns))
        };
        slow.requests.iter().filter_map(of).collect()
    }

    /// Counts of each request.
    pub fn vectors(&self) -> Vectors<'p> {
        let features = &self.features;
        let mut order: Vec<u32> = (0..features.list.len() as u32).collect();
        let is_outcome = |at: &u32| matches!(features.list[*at as usize].what, What::Outcome(_));
        order.retain(is_outcome);
        order.sort_unstable_by_key(|&at| features.list[at as usize]);
        let mut place = vec![None; features.list.len()];
        for (&at, new) in order.iter().zip(0u32..) {
            place[at as usize] = Some(new);
        }
        let row = |row: &Vec<(u32, u64)>| {
            let outcomes = row
                .iter()
                .filter_map(|&(at, count)| Some((place[at as usize]?, count)));
            let mut outcomes: Vec<(u32, u64)> = outcomes.collect();
            outcomes.sort_unstable();
            outcomes
        };
        let names = self.requests.names.iter();
        Vectors {
            outcomes: order
                .iter()
                .map(|&at| self.spot(features.list[at as usize]))
                .collect(),
            rows: features.rows.iter().map(row).collect(),
            samples: names
                .flat_map(|name| name.samples.iter().map(|sample| (name.name.as_str(), sample)))
                .collect(),
        }
    }

    /// The order in which requests of a name come to their decisions.
    fn order(&self, name: &RequestName) -> CallOrder {
        let calls = self.calls.get_or_init(|| order::calls(self.profile));
        CallOrder::new(self.profile, calls, &name.name)
    }

    fn of_name(&self, name: &RequestName, limit: Limit) -> SlowRequests {
        let over_ns = match limit {
            Limit::Latency(ns) => ns,
            Limit::Quantile(share) => name.quantile(share).unwrap_or(0),
        };
        let slow = name.latencies.iter().filter(|&&(latency, _)| latency > over_ns);
        let slow = slow.fold(0u64, |sum, &(_, count)| sum.saturating_add(count));
        let table = Table::new(name, &self.features);
        let is_used = |at: &usize| table.samples[*at].weight > 0.0;
        let (slow_samples, others): (Vec<usize>, Vec<usize>) = (0..table.samples.len())
            .filter(is_used)
            .partition(|&at| table.samples[at].latency_ns > over_ns);
        let groups = Groups {
            samples: table.samples,
            slow: &slow_samples,
            others: &others,
        };
        let (collected, rest): (Vec<usize>, Vec<usize>) = slow_samples
            .iter()
            .partition(|&&at| own_ns(&table.samples[at]) <= over_ns);
        let order = self.order(name);
        let search = Search::new(self.profile, &self.features, &table, &order);
        let answer = search.answer(over_ns, &rest, &others);
        let fit = search.fit(&answer.found);
        let costs = fit.costs.iter().copied().zip(fit.intervals.iter().copied());
        // The search left out those that collections explain.
        let part = groups.of_slow(&rest);
        let cause = |(found, (cost_ns, interval_ns)): (&Found, (f64, [f64; 2]))| Cause {
            kind: kind(
                self.spot(found.feature),
                found.feature.what,
                found.predicate.limit,
            ),
            slow_share: search.share(found.predicate, &slow_samples),
            other_share: search.share(found.predicate, &others),
            cost_ns,
            interval_ns,
            explains: found.explains * part,
            p_value: Some(found.p_value.min(1.0)),
            with: found
                .with
                .iter()
                .map(|&(feature, limit)| (self.spot(feature), limit))
                .collect(),
        };
        let mut causes: Vec<Cause> = answer.found.iter().zip(costs).map(cause).collect();
        causes.sort_by(|a, b| b.explains.total_cmp(&a.explains));
        causes.extend(groups.collections(&collected));
        let waiting = groups.waiting(&answer.rest);
        causes.extend(waiting);
        let explained: f64 = causes.iter().map(|cause| cause.explains).sum();
        SlowRequests {
            name: name.name.clone(),
            count: name.count(),
            unreadable: name.unreadable,
            quantiles_ns: [0.5, 0.99, 0.999].map(|share| name.quantile(share).unwrap_or(0)),
            over_ns,
            slow,
            samples: [slow_samples.len(), others.len()],
            effective: [&slow_samples, &others]
                .map(|group| exact::effective(group.iter().map(|&at| table.samples[at].weight))),
            is_enough: answer.is_enough,
            unexplained: if slow_samples.is_empty() {
                0.0
            } else {
                (1.0 - explained).max(0.0)
            },
            causes,
        }
    }

    /// A feature as a place in the code.
    fn spot(&self, feature: Feature) -> Spot {
        let class = &self.profile.classes[feature.class as usize].map;
        let map = &class.methods[feature.method as usize];
        let source = self.sources.find(&class.name, class.source_file.as_deref());
        let conditions = self.profile.conditions.get(&(feature.class, feature.method));
        let file = source.as_deref().map(SourceText::file);
        let decisions = conditions.map(|conditions| Decisions::new(map, conditions, file));
        let decisions = decisions.unwrap_or_default();
        let (bci, condition, outcome, path) = match feature.what {
            What::Outcome(edge) => {
                let decision = decisions.of(edge.from.index());
                let condition = decision.and_then(Decision::phrase);
                let outcome = decisions.outcome_or_label(map, edge);
                (map.blocks[edge.from.index()].last, condition, Some(outcome), None)
            }
            What::Path(number, stopped) => {
                let path = map.path(number, stopped).ok();
                let view = path.map(|path| PathView::new(map, path, number, 0));
                let start = view.as_ref().map_or(0, |view| view.description.start.bci);
                let text = view.map_or_else(String::new, |view| route(&view, map, &decisions));
                (start, None, None, Some((number, text)))
            }
        };
        Spot {
            class: class.name.clone(),
            method: map.name.clone(),
            descriptor: map.descriptor.clone(),
            source_file: class.source_file.clone(),
            line: map.line(bci),
            bci,
            condition,
            outcome,
            path,
        }
    }
}

/// Counts of each request whose paths were read.
#[derive(Clone, Debug)]
pub struct Vectors<'p> {
    /// Outcomes of branches and switches, in the order of classes, methods and bytecode.
    pub outcomes: Vec<Spot>,
    /// Per vector: outcomes with their counts, ascending.
    pub rows: Vec<Vec<(u32, u64)>>,
    /// The samples, with their names.
    pub samples: Vec<(&'p str, &'p RequestSample)>,
}

/// The samples of slow and of other requests.
struct Groups<'a> {
    samples: &'a [RequestSample],
    slow: &'a [usize],
    others: &'a [usize],
}

impl Groups<'_> {
    fn weight(&self, group: &[usize]) -> f64 {
        group.iter().map(|&at| self.samples[at].weight).sum()
    }

    /// The part of all slow requests.
    fn of_slow(&self, group: &[usize]) -> f64 {
        self.weight(group) / self.weight(self.slow).max(f64::MIN_POSITIVE)
    }

    /// The share of a group with at least this value.
    fn at_least(&self, group: &[usize], least: f64, value: impl Fn(&RequestSample) -> f64) -> f64 {
        let with: Vec<usize> = group
            .iter()
            .copied()
            .filter(|&at| value(&self.samples[at]) >= least)
            .collect();
        self.weight(&with) / self.weight(group).max(f64::MIN_POSITIVE)
    }

    /// The value that a share of a group does not exceed.
    fn quantile(&self, group: &[usize], share: f64, value: impl Fn(&RequestSample) -> f64) -> f64 {
        let mut all: Vec<(f64, f64)> = group
            .iter()
            .map(|&at| (value(&self.samples[at]), self.samples[at].weight))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let wanted = share * self.weight(group);
        let mut seen = 0.0;
        let reached = all.iter().find(|(_, weight)| {
            seen += weight;
            seen >= wanted
        });
        reached.or(all.last()).map_or(0.0, |(value, _)| *value)
    }

    /// Collections, without which these would not be slow.
    fn collections(&self, explained: &[usize]) -> Option<Cause> {
        let value = |sample: &RequestSample| sample.collections_ns as f64;
        self.measured(explained, value, |least| CauseKind::Collections(least as u64))
    }

    /// Waiting, of those among the rest for which it is most of what they take longer than others.
    fn waiting(&self, rest: &[usize]) -> Option<Cause> {
        let usual = self.quantile(self.others, 0.5, |sample| own_ns(sample) as f64);
        let known: Vec<usize> = self
            .others
            .iter()
            .copied()
            .filter(|&at| waited(&self.samples[at]).is_some())
            .collect();
        let usual_wait = self.quantile(&known, 0.5, |sample| waited(sample).unwrap_or(0.0));
        let explained: Vec<usize> = rest
            .iter()
            .copied()
            .filter(|&at| {
                let sample = &self.samples[at];
                let more = own_ns(sample) as f64 - usual;
                waited(sample).is_some_and(|wait| wait - usual_wait >= MIN_WAITING * more && wait > 0.0)
            })
            .collect();
        let value = |sample: &RequestSample| waited(sample).unwrap_or(0.0);
        self.measured(&explained, value, |least| CauseKind::Waiting(least as u64))
    }

    /// A cause that each request's own figure shows.
    fn measured(
        &self,
        explained: &[usize],
        value: impl Fn(&RequestSample) -> f64 + Copy,
        kind: impl Fn(f64) -> CauseKind,
    ) -> Option<Cause> {
        let explains = self.of_slow(explained);
        if explained.is_empty() || explains < MIN_SHARE {
            return None;
        }
        let least = self.quantile(explained, 0.0, value);
        let bound = |share| self.quantile(explained, share, value);
        Some(Cause {
            kind: kind(least),
            slow_share: self.at_least(self.slow, least, value),
            other_share: self.at_least(self.others, least, value),
            cost_ns: bound(0.5),
            interval_ns: [bound(0.05), bound(0.95)],
            explains,
            p_value: None,
            with: Vec::new(),
        })
    }
}

fn kind(spot: Spot, what: What, limit: u64) -> CauseKind {
    match (what, limit) {
        (What::Path(..), _) => CauseKind::Path(spot, limit),
        (What::Outcome(_), 0) => CauseKind::Outcome(spot),
        (What::Outcome(_), _) => CauseKind::Size(spot, limit),
    }
}

/// Nanoseconds without a processor and without a collection, if that is known.
fn waited(sample: &RequestSample) -> Option<f64> {
    Some(own_ns(sample).saturating_sub(sample.cpu_ns?) as f64)
}
