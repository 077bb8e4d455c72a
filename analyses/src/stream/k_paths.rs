//! k-iteration path forests of the event stream.

use std::num::NonZeroU64;

use trodden_profile::events::{EventKinds, ThreadInfo};
use trodden_profile::{Profile, Schedule};

use super::{ActivationWords, Pipeline, StackTally, StreamAnalysis, StreamError, add_fact};
use crate::MethodPlaces;
use crate::kpaths::{
    Activations, BoundedSlabForest, Bursts, ForestError, IterationForest, PathSink, SlabForest,
};

/// How k-iteration paths are profiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KPathsOptions {
    /// Longest sequence that is counted, in paths; from 2.
    pub k: u32,
    /// Most nodes below the roots: of each thread's forest while it runs, and of the result. See
    /// [`BoundedSlabForest`]. Without it, all nodes that there are.
    pub nodes: Option<u32>,
    /// Only activations that begin in windows. Without it, all.
    pub bursts: Option<BurstWindows>,
}

impl Default for KPathsOptions {
    fn default() -> Self {
        KPathsOptions {
            k: 10,
            nodes: None,
            bursts: None,
        }
    }
}

/// Windows of activations; see [`Bursts::every`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstWindows {
    /// From the beginning of a window to that of the next, in activations of the thread.
    pub every: NonZeroU64,
    /// Which of them are taken.
    pub schedule: Schedule,
}

/// A forest that can be kept per thread: with or without a budget.
pub trait KSink: PathSink<Activation: Send> + Clone + Send + 'static {
    /// An empty one.
    ///
    /// # Errors
    /// If the options are out of range.
    fn empty(options: &KPathsOptions) -> Result<Self, ForestError>;

    /// Adds another thread's.
    ///
    /// # Errors
    /// If there would be too many nodes.
    fn add(&mut self, other: &Self) -> Result<(), ForestError>;

    /// The k-IPF.
    fn iteration_forest(&self) -> IterationForest;

    /// Paths in no counter.
    fn dropped(&self) -> u64;
}

impl KSink for SlabForest {
    fn empty(options: &KPathsOptions) -> Result<Self, ForestError> {
        SlabForest::new(options.k)
    }

    fn add(&mut self, other: &Self) -> Result<(), ForestError> {
        self.merge(other)
    }

    fn iteration_forest(&self) -> IterationForest {
        IterationForest::of(self)
    }

    fn dropped(&self) -> u64 {
        SlabForest::dropped(self)
    }
}

impl KSink for BoundedSlabForest {
    fn empty(options: &KPathsOptions) -> Result<Self, ForestError> {
        BoundedSlabForest::new(options.k, options.nodes.unwrap_or(u32::MAX))
    }

    fn add(&mut self, other: &Self) -> Result<(), ForestError> {
        self.merge(other)
    }

    fn iteration_forest(&self) -> IterationForest {
        BoundedSlabForest::iteration_forest(self)
    }

    fn dropped(&self) -> u64 {
        self.slabs().dropped()
    }
}

impl Pipeline {
    /// Adds the analysis of k-iteration paths.
    ///
    /// # Errors
    /// If the options are out of range.
    pub fn with_k_paths(self, options: &KPathsOptions) -> Result<Pipeline, ForestError> {
        Ok(match options.nodes {
            None => self.with(KPaths::<SlabForest>::new(options)?),
            Some(_) => self.with(KPaths::<BoundedSlabForest>::new(options)?),
        })
    }
}

/// The analysis: a forest per thread, merged in the result.
#[derive(Clone, Debug)]
pub struct KPaths<S> {
    bursts: Option<BurstWindows>,
    empty: S,
}

/// What is known of a thread.
#[derive(Clone)]
pub enum KPathsThread<S: KSink> {
    /// Of all its activations.
    All(ActivationWords<Activations<S>>),
    /// Of the sampled ones.
    Bursts(ActivationWords<Bursts<Activations<S>>>),
}

/// What is known of several threads.
#[derive(Clone, Debug)]
pub struct KPathsResult<S> {
    /// The merged forest.
    pub forest: S,
    /// Number of threads in it.
    pub threads: u64,
    /// What did not fit together.
    pub tally: StackTally,
    /// With bursts: activations entered and, of these, sampled.
    pub activations: Option<(u64, u64)>,
}

impl<S: KSink> KPaths<S> {
    /// The analysis with these options.
    ///
    /// # Errors
    /// If they are out of range.
    pub fn new(options: &KPathsOptions) -> Result<Self, ForestError> {
        Ok(KPaths {
            bursts: options.bursts,
            empty: S::empty(options)?,
        })
    }
}

impl<S: KSink + Sync> StreamAnalysis for KPaths<S> {
    type Thread = KPathsThread<S>;
    type Result = KPathsResult<S>;

    fn needs(&self) -> EventKinds {
        EventKinds::ACTIVATION_PATHS
    }

    fn thread(&self, _: &ThreadInfo) -> KPathsThread<S> {
        let all = Activations::new(self.empty.clone());
        match self.bursts {
            None => KPathsThread::All(ActivationWords::new(all)),
            Some(windows) => {
                let bursts = Bursts::every(windows.every, windows.schedule, all);
                KPathsThread::Bursts(ActivationWords::new(bursts))
            }
        }
    }

    fn consume(&self, thread: &mut KPathsThread<S>, words: &[u64]) {
        match thread {
            KPathsThread::All(all) => all.consume(words),
            KPathsThread::Bursts(bursts) => bursts.consume(words),
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
        }
    }

    fn result(&self) -> KPathsResult<S> {
        KPathsResult {
            forest: self.empty.clone(),
            threads: 0,
            tally: StackTally::default(),
            activations: self.bursts.map(|_| (0, 0)),
        }
    }

    fn add(&self, result: &mut KPathsResult<S>, thread: &KPathsThread<S>) -> Result<(), StreamError> {
        let (sink, tally) = match thread {
            KPathsThread::All(all) => (all.analysis().sink(), all.tally()),
            KPathsThread::Bursts(words) => {
                let bursts = words.analysis();
                let (entered, sampled) = result.activations.unwrap_or_default();
                let own = bursts.activations();
                result.activations = Some((entered + own.0, sampled + own.1));
                (bursts.inner().sink(), words.tally())
            }
        };
        result.threads += 1;
        result.tally.add(&tally);
        Ok(result.forest.add(sink)?)
    }

    fn write(
        &self,
        result: &KPathsResult<S>,
        places: &MethodPlaces,
        profile: &mut Profile,
    ) -> Result<(), StreamError> {
        let forest = result.forest.iteration_forest();
        let mut unknown = 0;
        // Level 1 is the plain path profile.
        for root in forest.roots() {
            match places.place(root.method()) {
                Some((class, method)) => {
                    let paths = &mut profile.classes[class].counts[method].paths;
                    paths.entry(root.path()).or_insert(root.count());
                }
                None => unknown += root.count(),
            }
        }
        add_fact(profile, "kpaths_unknown", unknown);
        add_fact(profile, "kpaths_dropped", result.forest.dropped());
        add_fact(profile, "orphans", result.tally.orphans);
        add_fact(profile, "lost_exits", result.tally.lost_exits);
        add_fact(profile, "gaps", result.tally.gaps);
        add_fact(profile, "bad_words", result.tally.bad_words);
        if let Some((entered, sampled)) = result.activations {
            add_fact(profile, "activations", entered);
            add_fact(profile, "activations_sampled", sampled);
        }
        Ok(())
    }
}
