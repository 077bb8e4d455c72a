//! Contexts from the event stream of a run.

use std::num::{NonZeroU32, NonZeroU64};

use trodden_profile::events::{Event, EventKinds, Kind, ThreadInfo, Word};
use trodden_profile::options::{Burst, ContextAlgorithm as Algorithm, ContextWeight, ProfileOptions};
use trodden_profile::{Profile, facts};

use super::live::BurstWords;
use super::section;
use super::{
    BucketSpaceSaving, BurstKind, BurstTally, ContextBursts, ContextError, ContextSink, ContextStats,
    ContextTreeBuilder, Exact, Frame, LazySpaceSaving, LossyCounting, Monitor, NullContexts, Snapshot,
    StickySampling, Thresholds, UNKNOWN_SITE, WeightedSpaceSaving,
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

/// What is counted, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextOptions {
    /// What decides which contexts stay.
    pub algorithm: Algorithm,
    /// The guarantee.
    pub thresholds: Thresholds,
    /// What is counted.
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
    /// What the profile's options say.
    ///
    /// # Errors
    /// If `phi` and `epsilon` do not go together.
    pub fn of(options: &ProfileOptions) -> Result<Self, ContextError> {
        let (phi, epsilon) = options.thresholds();
        Ok(ContextOptions {
            algorithm: options.contexts.algorithm,
            thresholds: Thresholds::new(phi, epsilon)?,
            weight: options.contexts.weight,
            bursts: BurstOptions::of(options.stream.burst),
            in_program: Some(options.stream.burst).filter(|burst| matches!(burst, Burst::Timed { .. })),
            seed: options.seed,
        })
    }
}

impl BurstOptions {
    fn of(burst: Burst) -> Option<Self> {
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

/// What is known of several threads.
#[derive(Clone, Debug, Default)]
pub struct ContextResult {
    /// The contexts.
    pub contexts: Snapshot,
    /// What did not fit together in the streams.
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

/// What is known of one thread.
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
        result.contexts.merge(&known.snapshot)?;
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
            let (section, lost) = section::of(result, &self.options, places);
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

/// What can be driven, and asked afterwards.
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

/// Calls and returns from words.
struct Words<S> {
    sink: S,
    /// Methods of the open activations.
    methods: Vec<u32>,
    /// If the stream has paths to calls: of each activation, the path to its current call.
    along: Vec<Option<u32>>,
    /// How many of them, the lowest ones, are from before profiling: the stream's depths do not count these.
    before: usize,
    /// Where the topmost one of those has its call under way.
    call: Option<u16>,
    /// Open activations below those, of which nothing is known.
    below: usize,
    /// Weight of a call.
    per_call: u64,
    prefix: Option<u32>,
    /// `Enter` words to come that rebuild the stack.
    rebuild: u32,
    tally: StackTally,
}

impl<S: ContextSink> Words<S> {
    fn new(sink: S, weight: ContextWeight) -> Self {
        Words {
            sink,
            methods: Vec::new(),
            along: Vec::new(),
            before: 0,
            call: None,
            below: 0,
            per_call: u64::from(weight == ContextWeight::Calls),
            prefix: None,
            rebuild: 0,
            tally: StackTally::default(),
        }
    }

    #[inline]
    fn enter(&mut self, method: u32, site: Option<u16>) {
        let site = site.or_else(|| self.call_from_before());
        let mut frame = Frame::new(method, site.unwrap_or(UNKNOWN_SITE));
        if self.prefix.is_some() || !self.along.is_empty() {
            self.tell_prefix(&mut frame);
        }
        self.methods.push(method);
        if self.rebuild > 0 {
            self.rebuild -= 1;
            self.sink.place(frame);
        } else {
            self.sink.enter(frame, self.per_call);
        }
    }

    /// The call site of what an activation from before profiling calls: it has no probes, so it reports none.
    #[cold]
    fn call_from_before(&self) -> Option<u16> {
        let calls = self.before > 0 && self.methods.len() == self.before;
        self.call.filter(|_| calls)
    }

    /// No activation with probes is open. Next come as many activations from before profiling as this word
    /// says.
    #[cold]
    fn forget_before(&mut self) {
        self.abandon(0);
        self.along.clear();
    }

    #[cold]
    fn begun_before(&mut self, method: u32, call: Option<u16>) {
        // Between the list's words there is no other word.
        let frame = Frame::new(method, self.call_from_before().unwrap_or(UNKNOWN_SITE));
        self.methods.push(method);
        self.before = self.methods.len();
        self.call = call;
        self.sink.place(frame);
    }

    /// The path that led to a call: the word right before it, or as for the caller's last callee, if it is
    /// still the same call (code without probes calls back). The JVM calls initialisers by itself: no path is
    /// theirs.
    #[inline(never)]
    fn tell_prefix(&mut self, frame: &mut Frame) {
        // Its own, and of no activation that was there before.
        self.along.truncate(self.methods.len());
        self.along.resize(self.methods.len() + 1, None);
        let Some(caller) = self.methods.len().checked_sub(1) else {
            self.prefix = None;
            return;
        };
        let path = self.prefix.take().or(self.along[caller]);
        self.along[caller] = path;
        if frame.site != UNKNOWN_SITE {
            frame.prefix = path.map(u64::from);
        }
    }

    /// The topmost activation must be one of `method`. If not, one of `method` begins whose callers are not
    /// known.
    #[inline]
    fn surface(&mut self, method: u32) {
        if self.methods.last() != Some(&method) {
            self.orphan(method);
        }
    }

    #[cold]
    fn orphan(&mut self, method: u32) {
        // As many are open as before, of which the topmost one is now known.
        self.abandon(self.open().saturating_sub(1));
        self.tally.orphans += 1;
        self.enter(method, None);
    }

    /// As the stream counts.
    fn open(&self) -> usize {
        self.below + self.methods.len() - self.before
    }

    /// Forgets all activations; only their number is known.
    fn abandon(&mut self, open: usize) {
        self.rebuild = 0;
        self.before = 0;
        self.below = open;
        if !self.methods.is_empty() {
            self.methods.clear();
            self.sink.gap();
        }
    }

    #[inline]
    fn exit(&mut self) {
        self.methods.pop();
        self.sink.exit();
    }

    #[cold]
    fn lost_exit(&mut self) {
        self.tally.lost_exits += 1;
        self.abandon(self.open().saturating_sub(1));
    }

    #[cold]
    fn unwound(&mut self, depth: usize) {
        match depth.checked_sub(self.below) {
            Some(known) if known + self.before <= self.methods.len() => {
                let known = known + self.before;
                self.methods.truncate(known);
                self.sink.unwind(known as u32);
            }
            // None is left that is known; or more are than were ever entered: those on the stack may be any
            // of them.
            _ => self.abandon(depth),
        }
    }

    #[cold]
    fn gap(&mut self, word: Word) {
        self.tally.gaps += 1;
        self.abandon(0);
        self.rebuild = word.argument();
    }

    #[inline]
    fn event(&mut self, event: Event) {
        match event {
            Event::Enter { method, call_site } => self.enter(method, call_site),
            Event::Exit { method } if self.methods.last() == Some(&method) => self.exit(),
            Event::Exit { .. } => self.lost_exit(),
            Event::Prefix { register, .. } => {
                self.prefix = Some(register);
                return;
            }
            Event::PathEnd { method, .. } => self.surface(method),
            Event::LastPath { method, .. } => {
                self.surface(method);
                self.exit();
            }
            Event::OnlyPath { method, .. } => {
                self.enter(method, None);
                self.exit();
            }
            Event::Unwound { depth } => self.unwound(depth as usize),
            Event::Charge { weight } => {
                // Of what nobody knows the context, nobody is charged.
                if !self.methods.is_empty() {
                    self.sink.charge(weight.into());
                }
                return;
            }
            Event::Before { .. } => self.forget_before(),
            Event::Below { method, call } => self.begun_before(method, call),
            Event::Gap | Event::Block { .. } => {}
            // Of bursts by the clock, which have a driver of their own.
            Event::Call { .. } | Event::Burst { .. } => self.tally.bad_words += 1,
        }
        // A register belongs to the very next call.
        self.prefix = None;
    }
}

impl<S: QueryableSink> Driver for Words<S> {
    fn consume(&mut self, words: &[u64]) {
        for &word in words {
            let word = Word(word);
            if word.kind() == Some(Kind::Gap) {
                self.gap(word);
                continue;
            }
            match word.decode() {
                Ok(event) => self.event(event),
                Err(_) => self.tally.bad_words += 1,
            }
        }
    }

    fn reset(&mut self) {
        self.tally = StackTally::default();
        self.sink.forget();
    }

    fn tally(&self) -> StackTally {
        self.tally
    }

    fn known(&self) -> Option<Known> {
        self.sink.known()
    }
}
