//! Contexts from the event stream of a run.

use std::num::{NonZeroU32, NonZeroU64};

use trodden_profile::events::{EventKinds, ThreadInfo};
use trodden_profile::options::{Burst, ContextAlgorithm as Algorithm, ContextWeight, ProfileOptions};
use trodden_profile::{Profile, facts};

use super::live::BurstWords;
use super::section;
use super::words::Words;
use super::{
    BucketSpaceSaving, BurstKind, BurstTally, ContextBursts, ContextError, ContextSink, ContextStats,
    ContextTreeBuilder, Exact, Grouped, LazySpaceSaving, LossyCounting, Monitor, NullContexts, Snapshot,
    StickySampling, Thresholds, WeightedSpaceSaving,
};
use crate::MethodPlaces;
use crate::stream::{StackTally, StreamAnalysis, StreamError};

/// When bursts take place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstOptions {
    /// Events of a thread from the start of a burst to the next.
    pub interval: NonZeroU64,
    /// Events of a burst.
    pub length: NonZeroU64,
    /// Which of them.
    pub kind: BurstKind,
}

/// The options of the analysis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextOptions {
    /// The algorithm that decides which contexts stay.
    pub algorithm: Algorithm,
    /// The guarantee.
    pub thresholds: Thresholds,
    /// The weight that is counted.
    pub weight: ContextWeight,
    /// `None`: every call of the stream is counted.
    pub bursts: Option<BurstOptions>,
    /// Bursts of the program itself, which make the stream: by the clock, [`Burst::Timed`].
    pub in_program: Option<Burst>,
    /// For whatever is random. Mixed with each thread's number.
    pub seed: u64,
}

impl Default for ContextOptions {
    /// Lazy Space Saving with the default thresholds, of all calls.
    fn default() -> Self {
        ContextOptions {
            algorithm: Algorithm::LazySpaceSaving,
            thresholds: Thresholds::default(),
            weight: ContextWeight::Calls,
            bursts: None,
            in_program: None,
            seed: 0,
        }
    }
}

impl ContextOptions {
    /// Options from those of the profile.
    ///
    /// # Errors
    /// If `phi` and `epsilon` exclude each other.
    pub fn from_options(options: &ProfileOptions) -> Result<Self, ContextError> {
        let (phi, epsilon) = options.thresholds();
        Ok(ContextOptions {
            algorithm: options.contexts.algorithm,
            thresholds: Thresholds::new(phi, epsilon)?,
            weight: options.contexts.weight,
            bursts: BurstOptions::new(options.burst),
            in_program: Some(options.burst).filter(|burst| matches!(burst, Burst::Timed { .. })),
            seed: options.seed,
        })
    }
}

impl BurstOptions {
    fn new(burst: Burst) -> Option<Self> {
        let (interval, length, kind) = match burst {
            Burst::Off | Burst::Timed { .. } => return None,
            Burst::Static { interval, length } => (interval, length, BurstKind::Static),
            Burst::Adaptive {
                interval,
                length,
                reenable,
            } => (interval, length, BurstKind::Adaptive { reenable }),
        };
        Some(BurstOptions {
            interval,
            length: length.into(),
            kind,
        })
    }

    /// In option syntax.
    fn text(&self) -> String {
        let length = NonZeroU32::try_from(self.length).unwrap_or(NonZeroU32::MAX);
        let interval = self.interval;
        match self.kind {
            BurstKind::Static => Burst::Static { interval, length },
            BurstKind::Adaptive { reenable } => Burst::Adaptive {
                interval,
                length,
                reenable,
            },
        }
        .to_string()
    }
}

/// Counts calling contexts in an event stream ([`StreamAnalysis`]).
///
/// Words become calls and returns as [`ActivationWords`](crate::stream::ActivationWords) has it. `OnlyPath`
/// is a call and a return from an unknown call site. A `Prefix` word makes the next `Enter` path-sensitive.
/// `Enter` words after a `Gap` count as calls, except for as many as the gap's argument says: those rebuild
/// the stack. `Charge` words are weights of the current context; calls have none of their own then. `Before`
/// and `Below` words place activations from before profiling, which count no calls. With
/// [`in_program`](ContextOptions::in_program) the stream is one of bursts.
///
/// The profile gets the section [`contexts`](trodden_profile::Contexts), unless the algorithm is the null
/// one, and facts whose names begin with `contexts_`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContextStream {
    options: ContextOptions,
}

/// The result of several threads.
#[derive(Clone, Debug, Default)]
pub struct ContextResult {
    /// The contexts.
    pub contexts: Snapshot,
    /// Counts of inconsistencies in the streams.
    pub tally: StackTally,
    /// Sum of the threads' peaks: most contexts at a time.
    pub peak_contexts: u64,
    /// Bytes that they needed.
    pub peak_bytes: u64,
    /// Calls in no counter.
    pub dropped: u64,
    /// Bursts, if there were to be any.
    pub bursts: BurstTally,
}

/// The state of one thread.
pub struct ContextThread(Box<dyn Driver>);

impl ContextStream {
    /// Fails if bursts are longer than their intervals.
    pub fn new(options: ContextOptions) -> Result<Self, ContextError> {
        if let Some(bursts) = options.bursts {
            ContextBursts::new(NullContexts, bursts.interval, bursts.length, bursts.kind, 0)?;
        }
        Ok(ContextStream { options })
    }

    /// The options.
    pub fn options(&self) -> ContextOptions {
        self.options
    }

    /// Words of this stream into that sink.
    fn words<S: QueryableSink + 'static>(&self, sink: S) -> Box<dyn Driver> {
        match self.options.in_program {
            Some(_) => Box::new(BurstWords::new(sink)),
            None => Box::new(Words::new(sink, self.options.weight)),
        }
    }

    fn driver<A: Monitor + Send + 'static>(&self, algorithm: A, seed: u64) -> Box<dyn Driver> {
        if self.options.in_program.is_some() {
            return self.words(ContextTreeBuilder::new(Grouped::new(algorithm)));
        }
        let contexts = ContextTreeBuilder::new(algorithm);
        let Some(BurstOptions {
            interval,
            length,
            kind,
        }) = self.options.bursts
        else {
            return self.words(contexts);
        };
        match ContextBursts::new(contexts, interval, length, kind, seed) {
            Ok(bursts) => self.words(bursts),
            Err(_) => self.words(NullContexts), // `new` has refused these options
        }
    }
}

impl StreamAnalysis for ContextStream {
    type Thread = ContextThread;
    type Result = ContextResult;

    fn needs(&self) -> EventKinds {
        EventKinds {
            activations: true,
            call_sites: true,
            ..EventKinds::default()
        }
    }

    fn thread(&self, info: &ThreadInfo) -> ContextThread {
        let ContextOptions {
            algorithm,
            thresholds,
            weight,
            ..
        } = self.options;
        let seed = self.options.seed ^ info.id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ContextThread(match algorithm {
            Algorithm::Null => self.words(NullContexts),
            Algorithm::Exact => self.driver(Exact, seed),
            Algorithm::LazySpaceSaving if weight != ContextWeight::Calls => {
                self.driver(WeightedSpaceSaving::new(thresholds), seed)
            }
            Algorithm::LazySpaceSaving => self.driver(LazySpaceSaving::new(thresholds), seed),
            Algorithm::BucketSpaceSaving => self.driver(BucketSpaceSaving::new(thresholds), seed),
            Algorithm::LossyCounting => self.driver(LossyCounting::new(thresholds), seed),
            Algorithm::StickySampling => match StickySampling::new(thresholds, 1e-6, seed) {
                Ok(sampling) => self.driver(sampling, seed),
                Err(_) => self.words(NullContexts), // 1e-6 is a probability
            },
        })
    }

    fn consume(&self, thread: &mut ContextThread, words: &[u64]) {
        thread.0.consume(words);
    }

    fn reset(&self, thread: &mut ContextThread) {
        thread.0.reset();
    }

    fn result(&self) -> ContextResult {
        ContextResult::default()
    }

    fn add(&self, result: &mut ContextResult, thread: &ContextThread) -> Result<(), StreamError> {
        result.tally.add(&thread.0.tally());
        let Some(known) = thread.0.known() else {
            return Ok(());
        };
        result.contexts.merge(known.snapshot)?;
        result.peak_contexts += known.stats.peak_contexts;
        result.peak_bytes += known.stats.peak_bytes;
        result.dropped += known.stats.dropped;
        result.bursts.add(&known.bursts);
        Ok(())
    }

    fn write(
        &self,
        result: &ContextResult,
        places: &MethodPlaces,
        profile: &mut Profile,
    ) -> Result<(), StreamError> {
        let mut unknown = 0;
        if self.options.algorithm != Algorithm::Null {
            let (section, lost) = section::contexts(result, &self.options, places);
            unknown = lost;
            profile.contexts = Some(trodden_profile::Contexts {
                bursts: (self.options.bursts.map(|bursts| bursts.text()))
                    .or_else(|| self.options.in_program.map(|burst| burst.to_string())),
                ..section
            });
        }
        let tally = result.tally;
        for (fact, value) in [
            (facts::CONTEXTS_UNKNOWN, unknown),
            (facts::CONTEXTS_DROPPED, result.dropped),
            (facts::CONTEXTS_ORPHANS, tally.orphans),
            (facts::CONTEXTS_LOST_EXITS, tally.lost_exits),
            (facts::CONTEXTS_GAPS, tally.gaps),
            (facts::CONTEXTS_BAD_WORDS, tally.bad_words),
        ] {
            profile.run.facts.add(fact, value);
        }
        if self.options.bursts.is_some() {
            for (fact, value) in [
                (facts::CONTEXTS_EVENTS, result.bursts.events),
                (facts::CONTEXTS_EVENTS_IN_BURSTS, result.bursts.taken),
                (facts::CONTEXTS_BURSTS, result.bursts.bursts),
                (facts::CONTEXTS_BURSTS_SKIPPED, result.bursts.skipped),
            ] {
                profile.run.facts.add(fact, value);
            }
        }
        if self.options.in_program.is_some() {
            for (fact, value) in [
                (facts::CONTEXTS_EVENTS_IN_BURSTS, result.bursts.taken),
                (facts::CONTEXTS_BURSTS, result.bursts.bursts),
                (facts::CONTEXTS_FRAMES_WALKED, result.bursts.walked),
            ] {
                profile.run.facts.add(fact, value);
            }
        }
        Ok(())
    }
}

pub(super) struct Known {
    pub snapshot: Snapshot,
    pub stats: ContextStats,
    pub bursts: BurstTally,
}

/// A thread's state, of unknown algorithm.
pub(super) trait Driver: Send {
    fn consume(&mut self, words: &[u64]);
    fn reset(&mut self);
    fn tally(&self) -> StackTally;
    fn known(&self) -> Option<Known>;
}

/// A sink that can be driven, and asked afterwards.
pub(super) trait QueryableSink: ContextSink + Send {
    fn known(&self) -> Option<Known>;
    fn forget(&mut self);
}

impl QueryableSink for NullContexts {
    fn known(&self) -> Option<Known> {
        None
    }

    fn forget(&mut self) {}
}

impl<A: Monitor + Send> QueryableSink for ContextTreeBuilder<A> {
    fn known(&self) -> Option<Known> {
        Some(Known {
            snapshot: self.snapshot(),
            stats: self.stats(),
            bursts: BurstTally::default(),
        })
    }

    fn forget(&mut self) {
        self.reset();
    }
}

impl<A: Monitor + Send> QueryableSink for ContextBursts<ContextTreeBuilder<A>> {
    fn known(&self) -> Option<Known> {
        let known = self.inner().known()?;
        Some(Known {
            bursts: self.tally(),
            ..known
        })
    }

    fn forget(&mut self) {
        self.reset(ContextTreeBuilder::reset);
    }
}
