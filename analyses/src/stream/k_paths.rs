//! k-iteration path forests of the event stream.

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};

use trodden_profile::events::{EventKinds, ThreadInfo};
use trodden_profile::options::{Burst, ProfileOptions};
use trodden_profile::{BURST_GROUPS, ForestProblem, Forests, PathForest, Profile, Schedule, facts};

use super::timed::{Tails, TimedBursts};
use super::{ActivationWords, Pipeline, StackTally, StreamAnalysis, StreamError};
use crate::MethodPlaces;
use crate::kpaths::{
    ActivationBursts, Activations, BoundedForest, ChunkPairs, ForestError, IterationForest, PathSink,
    SlabForest,
};

/// How k-iteration paths are profiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KPathsOptions {
    /// Longest sequence that is counted, in paths; from 2.
    pub k: u32,
    /// Most nodes below the roots: of each thread's forest while it runs, and of the result. See
    /// [`BoundedForest`]. Without it, all nodes that there are.
    pub nodes: Option<u32>,
    /// Only activations that begin in windows. Without it, all.
    pub bursts: Option<BurstWindows>,
    /// The stream is of these bursts by the clock alone. Without it, it is whole.
    pub timed: Option<Burst>,
}

impl Default for KPathsOptions {
    fn default() -> Self {
        KPathsOptions {
            k: 10,
            nodes: None,
            bursts: None,
            timed: None,
        }
    }
}

impl KPathsOptions {
    /// Options from those of the profile.
    pub fn from_options(options: &ProfileOptions) -> Self {
        KPathsOptions {
            k: options.kpaths.k,
            nodes: options.kpaths.budget,
            bursts: match options.burst {
                Burst::Off => None,
                Burst::Static { interval, length } => BurstWindows::new(interval, length),
                // The first is refused when options are checked.
                Burst::Adaptive { .. } | Burst::Timed { .. } => None,
            },
            timed: Some(options.burst).filter(|_| options.has_bursts_in_program()),
        }
    }

    /// Are groups of bursts kept apart? Pruned forests of them would not add up.
    fn groups(&self) -> bool {
        self.timed.is_some() && self.nodes.is_none()
    }
}

/// Windows of activations of a thread; see [`ActivationBursts::every`].
///
/// Before each window some activations are skipped, in rotation (Arnold and Grove's stride, simplified as in
/// PEP section 4.4), so that windows do not fall in step with what the program repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstWindows {
    interval: NonZeroU64,
    length: NonZeroU32,
}

impl BurstWindows {
    /// After every `interval` activations, `length` of them. `None` if that does not fit.
    pub fn new(interval: NonZeroU64, length: NonZeroU32) -> Option<Self> {
        (u64::from(length.get()) <= interval.get()).then_some(BurstWindows { interval, length })
    }

    /// Which activations of an interval are taken.
    pub fn schedule(&self) -> Schedule {
        let room = self.interval.get() - u64::from(self.length.get());
        let stride = Schedule::PEP
            .stride()
            .min(u32::try_from(room + 1).unwrap_or(u32::MAX));
        Schedule::Sag {
            samples: self.length,
            stride: NonZeroU32::new(stride).unwrap_or(NonZeroU32::MIN),
        }
    }
}

impl fmt::Display for BurstWindows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (interval, length) = (self.interval, self.length);
        Burst::Static { interval, length }.fmt(f)
    }
}

/// A sink that can be kept per thread: with or without a budget.
pub trait KSink: PathSink<Activation: Send> + Clone + Send + 'static {
    /// The forest that it is merged into.
    type Forest: KForest;

    /// An empty one.
    ///
    /// # Errors
    /// If the options are out of range.
    fn empty(options: &KPathsOptions) -> Result<Self, ForestError>;

    /// Adds this thread's paths; `open` are its open activations.
    ///
    /// # Errors
    /// If there would be too many nodes.
    fn add_to(&self, open: &[Self::Activation], forest: &mut Self::Forest) -> Result<(), ForestError>;

    /// Bytes held.
    fn bytes(&self) -> u64;
}

/// The merged paths of all threads.
pub trait KForest: Clone + Send + 'static {
    /// An empty one.
    ///
    /// # Errors
    /// If the options are out of range.
    fn empty(options: &KPathsOptions) -> Result<Self, ForestError>;

    /// The k-IPF.
    fn iteration_forest(&self) -> IterationForest;

    /// Paths in no counter.
    fn dropped(&self) -> u64;

    /// Nodes of the k-SF; with a budget, of the k-IPF.
    fn nodes(&self) -> u64;
}

impl KSink for ChunkPairs {
    type Forest = SlabForest;

    fn empty(options: &KPathsOptions) -> Result<Self, ForestError> {
        ChunkPairs::new(options.k)
    }

    fn add_to(&self, open: &[Self::Activation], forest: &mut SlabForest) -> Result<(), ForestError> {
        ChunkPairs::add_to(self, open, forest)
    }

    fn bytes(&self) -> u64 {
        ChunkPairs::bytes(self)
    }
}

impl KSink for SlabForest {
    type Forest = SlabForest;

    fn empty(options: &KPathsOptions) -> Result<Self, ForestError> {
        SlabForest::new(options.k)
    }

    fn add_to(&self, _: &[Self::Activation], forest: &mut SlabForest) -> Result<(), ForestError> {
        forest.merge(self)
    }

    fn bytes(&self) -> u64 {
        self.size().1
    }
}

impl KForest for SlabForest {
    fn empty(options: &KPathsOptions) -> Result<Self, ForestError> {
        SlabForest::new(options.k)
    }

    fn iteration_forest(&self) -> IterationForest {
        IterationForest::from_slabs(self)
    }

    fn dropped(&self) -> u64 {
        SlabForest::dropped(self)
    }

    fn nodes(&self) -> u64 {
        self.size().0
    }
}

impl KSink for BoundedForest {
    type Forest = BoundedForest;

    fn empty(options: &KPathsOptions) -> Result<Self, ForestError> {
        BoundedForest::new(options.k, options.nodes.unwrap_or(u32::MAX))
    }

    fn add_to(&self, _: &[Self::Activation], forest: &mut BoundedForest) -> Result<(), ForestError> {
        forest.merge(self)
    }

    fn bytes(&self) -> u64 {
        self.size().1
    }
}

impl KForest for BoundedForest {
    fn empty(options: &KPathsOptions) -> Result<Self, ForestError> {
        <Self as KSink>::empty(options)
    }

    fn iteration_forest(&self) -> IterationForest {
        BoundedForest::iteration_forest(self)
    }

    fn dropped(&self) -> u64 {
        BoundedForest::dropped(self)
    }

    fn nodes(&self) -> u64 {
        self.size().0
    }
}

impl Pipeline {
    /// Adds the analysis of k-iteration paths.
    ///
    /// # Errors
    /// If the options are out of range.
    pub fn with_k_paths(self, options: &KPathsOptions) -> Result<Pipeline, ForestError> {
        Ok(match options.nodes {
            None => self.with(KPathStream::<ChunkPairs>::new(options)?),
            Some(_) => self.with(KPathStream::<BoundedForest>::new(options)?),
        })
    }
}

/// The analysis: each thread alone, merged in the result.
#[derive(Clone, Debug)]
pub struct KPathStream<S: KSink> {
    options: KPathsOptions,
    empty: S,
    none: S::Forest,
}

/// The state of a thread.
#[derive(Clone)]
pub enum KPathsThread<S: KSink> {
    /// All its activations are analysed.
    All(ActivationWords<Activations<S>>),
    /// The sampled ones are analysed.
    Bursts(ActivationWords<ActivationBursts<Activations<S>>>),
    /// Those of bursts by the clock are analysed, each group of bursts apart.
    Timed(Box<TimedBursts<S>>),
}

/// The result of several threads.
#[derive(Clone, Debug)]
pub struct KPathsResult<F> {
    /// The merged forest; of bursts by the clock that of each group, with the tails that these cut.
    pub forests: Vec<(F, Tails)>,
    /// Bytes that the threads' paths took while they ran, summed.
    pub bytes: u64,
    /// Counts of inconsistencies.
    pub tally: StackTally,
    /// With bursts: activations entered and, of these, sampled.
    pub activations: Option<(u64, u64)>,
}

impl<S: KSink> KPathStream<S> {
    /// The analysis with these options.
    ///
    /// # Errors
    /// If they are out of range.
    pub fn new(options: &KPathsOptions) -> Result<Self, ForestError> {
        Ok(KPathStream {
            options: *options,
            empty: S::empty(options)?,
            none: S::Forest::empty(options)?,
        })
    }
}

impl<S: KSink<Forest: Sync> + Sync> StreamAnalysis for KPathStream<S> {
    type Thread = KPathsThread<S>;
    type Result = KPathsResult<S::Forest>;

    fn needs(&self) -> EventKinds {
        EventKinds::ACTIVATION_PATHS
    }

    fn thread(&self, _: &ThreadInfo) -> KPathsThread<S> {
        let all = Activations::new(self.empty.clone());
        match self.options.bursts {
            None if self.options.groups() => {
                KPathsThread::Timed(Box::new(TimedBursts::new(&self.empty, self.options.k)))
            }
            None => KPathsThread::All(ActivationWords::new(all)),
            Some(windows) => {
                let bursts = ActivationBursts::every(windows.interval, windows.schedule(), all);
                KPathsThread::Bursts(ActivationWords::new(bursts))
            }
        }
    }

    fn consume(&self, thread: &mut KPathsThread<S>, words: &[u64]) {
        match thread {
            KPathsThread::All(all) => all.consume(words),
            KPathsThread::Bursts(bursts) => bursts.consume(words),
            KPathsThread::Timed(bursts) => bursts.consume(words),
        }
    }

    fn reset(&self, thread: &mut KPathsThread<S>) {
        match thread {
            KPathsThread::All(all) => {
                let (activations, methods, tally) = all.parts_mut();
                activations.restart(self.empty.clone(), methods);
                *tally = StackTally::default();
            }
            KPathsThread::Bursts(bursts) => {
                let (bursts, _, tally) = bursts.parts_mut();
                bursts.restart().restart(self.empty.clone(), &[]);
                *tally = StackTally::default();
            }
            KPathsThread::Timed(bursts) => **bursts = TimedBursts::new(&self.empty, self.options.k),
        }
    }

    fn result(&self) -> KPathsResult<S::Forest> {
        KPathsResult {
            forests: vec![
                (self.none.clone(), Tails::default());
                if self.options.groups() { BURST_GROUPS } else { 1 }
            ],
            bytes: 0,
            tally: StackTally::default(),
            activations: self.options.bursts.map(|_| (0, 0)),
        }
    }

    fn add(&self, result: &mut KPathsResult<S::Forest>, thread: &KPathsThread<S>) -> Result<(), StreamError> {
        let (activations, tally) = match thread {
            KPathsThread::All(all) => (all.analysis(), all.tally()),
            KPathsThread::Bursts(words) => {
                let bursts = words.analysis();
                let (entered, sampled) = result.activations.unwrap_or_default();
                let own = bursts.activations();
                result.activations = Some((entered + own.0, sampled + own.1));
                (bursts.inner(), words.tally())
            }
            KPathsThread::Timed(bursts) => {
                result.bytes += bursts.bytes();
                result.tally.add(&bursts.tally());
                return Ok(bursts.add_to(&mut result.forests)?);
            }
        };
        result.bytes += activations.sink().bytes();
        result.tally.add(&tally);
        Ok(activations
            .sink()
            .add_to(activations.open(), &mut result.forests[0].0)?)
    }

    fn write(
        &self,
        result: &KPathsResult<S::Forest>,
        places: &MethodPlaces,
        profile: &mut Profile,
    ) -> Result<(), StreamError> {
        let sum = |of: fn(&S::Forest) -> u64| result.forests.iter().map(|(forest, _)| of(forest)).sum();
        let dropped = sum(S::Forest::dropped);
        let mut section = trodden_profile::KPaths {
            k: self.options.k,
            slab_nodes: sum(S::Forest::nodes),
            slab_bytes: result.bytes,
            budget: self.options.nodes.map(u64::from),
            bursts: (self.options.bursts.map(|windows| windows.to_string()))
                .or_else(|| Some(self.options.timed?.to_string())),
            orphans: result.tally.orphans,
            dropped,
            ..trodden_profile::KPaths::default()
        };
        let mut unknown = 0;
        let forests = result.forests.iter();
        let forests = forests.map(|(forest, tails)| self.placed(forest, tails, places, &mut unknown));
        let mut forests: Vec<Forests> = forests.collect::<Result<_, _>>()?;
        match &mut forests[..] {
            [all] => section.methods = std::mem::take(all),
            _ => section = section.with_groups(forests)?,
        }
        // Bursts by the clock go without other counts of paths.
        profile.run.exact &= self.options.timed.is_none();
        for (&(class, index), forest) in &section.methods {
            // Level 1 is the plain path profile.
            let paths = &mut profile.classes[class].counts[index].paths;
            if paths.is_empty() {
                paths.extend(forest.roots().map(|(_, root)| (root.path, root.count)));
                profile.run.exact &= self.options.bursts.is_none();
            }
        }
        profile.kpaths = Some(section);
        profile.run.facts.add(facts::KPATHS_UNKNOWN, unknown);
        profile.run.facts.add(facts::KPATHS_DROPPED, dropped);
        profile.run.facts.add(facts::ORPHANS, result.tally.orphans);
        profile.run.facts.add(facts::LOST_EXITS, result.tally.lost_exits);
        profile.run.facts.add(facts::GAPS, result.tally.gaps);
        profile.run.facts.add(facts::BAD_WORDS, result.tally.bad_words);
        if let Some((entered, sampled)) = result.activations {
            profile.run.facts.add(facts::ACTIVATIONS, entered);
            profile.run.facts.add(facts::ACTIVATIONS_SAMPLED, sampled);
        }
        Ok(())
    }
}

impl<S: KSink> KPathStream<S> {
    /// A forest as methods of a profile. Path ends of methods that are not in it count as `unknown`.
    fn placed(
        &self,
        forest: &S::Forest,
        tails: &Tails,
        places: &MethodPlaces,
        unknown: &mut u64,
    ) -> Result<Forests, ForestProblem> {
        let forest = forest.iteration_forest();
        let mut methods = Forests::new();
        for rows in forest.preorder().chunk_by(|a, b| a.0 == b.0) {
            let method = rows[0].0;
            let Some(place) = places.place(method) else {
                *unknown += rows.iter().filter(|row| row.1 == 1).map(|row| row.3).sum::<u64>();
                continue;
            };
            let missing = (2..=self.options.k as usize).map(|length| forest.missing(method, length));
            let trees = PathForest::from_preorder(rows.iter().map(|row| (row.1, row.2, row.3)))?;
            let trees = trees.with_missing(missing.collect()).with_cuts(tails.of(method));
            methods.insert(place, trees);
        }
        Ok(methods)
    }
}
