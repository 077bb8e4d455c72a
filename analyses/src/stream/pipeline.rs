//! Runs analyses over the threads of a run.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trodden_profile::events::{EventKinds, ThreadInfo};
use trodden_profile::options::{ProfileKind, ProfileOptions, SubpathCounts};
use trodden_profile::{ForestProblem, PathForest, Profile, RunInfo, facts};

use super::{KPathsOptions, NullStream, PathCounts, StreamAnalysis, StreamError};
use crate::contexts::{ContextOptions, ContextStream};
use crate::subpaths::{SubpathCounting, SubpathStream, Wanted};
use crate::{MethodLookup, MethodPlaces, MethodTable, SharedMethods};

/// A recorder of the unchanged stream, such as a trace.
///
/// Called from many threads at once; the calls of one thread come in order. What goes wrong is its own
/// affair: nothing of it must reach the program that is profiled.
pub trait Recorder: Send + Sync {
    /// A thread begins.
    fn thread_start(&self, info: &ThreadInfo);
    /// The thread's next words.
    fn words(&self, thread: u64, words: &[u64]);
    /// The thread has ended.
    fn thread_end(&self, thread: u64);
}

/// Activations that ended one path each and were counted without the stream: how many, by method and path.
pub type OnlyPaths = BTreeMap<u32, BTreeMap<u64, u64>>;

/// Analyses, and what they know of all threads so far.
///
/// [`open`](Self::open) gives each thread its own [`ThreadStream`]; everything else may be called at any
/// time, from any thread, while those continue to consume. A thread's stream waits only while that very
/// thread is added to a [`profile`](Self::profile).
#[derive(Default)]
pub struct Pipeline {
    stages: Vec<Box<dyn AnyStage>>,
    needs: EventKinds,
    counters: Arc<Counters>,
    recorder: Option<Arc<dyn Recorder>>,
    methods: Option<Arc<SharedMethods>>,
}

#[derive(Default)]
struct Counters {
    threads: AtomicU64,
    ended: AtomicU64,
    words: AtomicU64,
}

impl Pipeline {
    /// No analysis.
    pub fn new() -> Self {
        Pipeline::default()
    }

    /// The analyses that a profile's options ask for, over whole streams. What they have to know of methods
    /// while the stream runs, they look up in [`methods`](Self::methods): the code that feeds the pipeline
    /// has to keep those up to date, as [`replay`](super::replay()) does.
    ///
    /// # Errors
    /// If they are out of range.
    pub fn from_options(options: &ProfileOptions) -> Result<Self, StreamError> {
        let methods = Arc::new(SharedMethods::default());
        let lookup: Arc<dyn MethodLookup + Send + Sync> = Arc::clone(&methods) as _;
        let mut pipeline = Self::assemble(options, lookup, false)?;
        pipeline.methods = Some(methods);
        Ok(pipeline)
    }

    /// Like [`from_options`](Self::from_options), but with another source of methods, and over streams from
    /// which path ends may be left out if it [skips](Self::skips).
    ///
    /// # Errors
    /// If options are out of range.
    pub fn with_lookup(
        options: &ProfileOptions,
        methods: Arc<dyn MethodLookup + Send + Sync>,
    ) -> Result<Self, StreamError> {
        Self::assemble(options, methods, options.skips_in_probes())
    }

    /// The analyses that the options ask for. `skips`: path ends may be left out of the stream.
    fn assemble(
        options: &ProfileOptions,
        methods: Arc<dyn MethodLookup + Send + Sync>,
        skips: bool,
    ) -> Result<Self, StreamError> {
        let mut pipeline = Pipeline::new();
        // First, so that exact counts stay where another analysis has sampled ones.
        if options.profile.contains(&ProfileKind::Paths) {
            pipeline = pipeline.with(PathCounts);
        }
        if options.profile.contains(&ProfileKind::Null) {
            pipeline = pipeline.with(NullStream(EventKinds::ACTIVATION_PATHS));
        }
        if options.profile.contains(&ProfileKind::KPaths) {
            pipeline = pipeline.with_k_paths(&KPathsOptions::from_options(options))?;
        }
        if options.profile.contains(&ProfileKind::Contexts) {
            pipeline = pipeline.with(ContextStream::new(ContextOptions::from_options(options)?)?);
        }
        if options.profile.contains(&ProfileKind::Subpaths) && options.subpaths.counts == SubpathCounts::Exact
        {
            return Ok(pipeline.with(SubpathCounting::from_options(options, methods)?));
        }
        if options.profile.contains(&ProfileKind::Subpaths) {
            let subpaths = SubpathStream::from_options(options, methods)?;
            pipeline = pipeline.with(if skips { subpaths.skipping() } else { subpaths });
        }
        Ok(pipeline)
    }

    /// Returns true if path ends are to be left out of each thread's stream as [`ThreadStream::wanted`] says:
    /// if nothing else reads the stream, and the only analysis can do without them.
    pub fn skips(&self) -> bool {
        self.recorder.is_none() && matches!(&self.stages[..], [only] if only.skips())
    }

    /// The methods that its analyses know, if it has any of its own: see
    /// [`from_options`](Self::from_options).
    pub fn methods(&self) -> Option<&SharedMethods> {
        self.methods.as_deref()
    }

    /// Adds an analysis.
    #[must_use]
    pub fn with<A: StreamAnalysis>(mut self, analysis: A) -> Self {
        self.needs = self.needs.and(analysis.needs());
        let stage = Stage {
            live: Mutex::default(),
            ended: Mutex::new((analysis.result(), None)),
            analysis,
        };
        self.stages.push(Box::new(Arc::new(stage)));
        self
    }

    /// Keeps the stream of every thread that is opened from now on; `kinds` are those that it is to have.
    #[must_use]
    pub fn with_recorder(mut self, recorder: Arc<dyn Recorder>, kinds: EventKinds) -> Self {
        self.needs = self.needs.and(kinds);
        self.recorder = Some(recorder);
        self
    }

    /// The events that the probes have to report.
    pub fn needs(&self) -> EventKinds {
        self.needs
    }

    /// A thread begins.
    pub fn open(&self, info: ThreadInfo) -> ThreadStream {
        let serial = self.counters.threads.fetch_add(1, Ordering::Relaxed);
        if let Some(recorder) = &self.recorder {
            recorder.thread_start(&info);
        }
        ThreadStream {
            states: self
                .stages
                .iter()
                .map(|stage| stage.open(serial, &info))
                .collect(),
            id: info.id,
            counters: Arc::clone(&self.counters),
            recorder: self.recorder.clone(),
        }
    }

    /// Threads that were opened, and those of them that have ended.
    pub fn threads(&self) -> (u64, u64) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (count(&self.counters.threads), count(&self.counters.ended))
    }

    /// Words consumed.
    pub fn words(&self) -> u64 {
        self.counters.words.load(Ordering::Relaxed)
    }

    /// The profile of all threads so far: classes, counts and the analyses' own sections. Of `run` only two
    /// things are filled in: whether every path was counted (`exact`), and facts: those of the analyses,
    /// `events` and `threads`.
    ///
    /// # Errors
    /// If an analysis has no result.
    pub fn profile(&self, methods: &MethodTable) -> Result<Profile, StreamError> {
        Ok(self.placed(methods)?.0)
    }

    fn placed(&self, methods: &MethodTable) -> Result<(Profile, MethodPlaces), StreamError> {
        let (classes, places) = methods.places();
        let mut profile = Profile {
            classes,
            ..Profile::default()
        };
        profile.run.exact = true;
        for stage in &self.stages {
            stage.write(&places, &mut profile)?;
        }
        profile.run.facts.add(facts::EVENTS, self.words());
        profile.run.facts.add(facts::THREADS, self.threads().0);
        Ok((profile, places))
    }

    /// [`profile`](Self::profile) of a run about which more is known: it is exact if both say so, and has the
    /// facts of both, and activations that are not in the stream.
    ///
    /// # Errors
    /// If an analysis has no result.
    pub fn profile_of(
        &self,
        mut run: RunInfo,
        methods: &MethodTable,
        more: &OnlyPaths,
    ) -> Result<Profile, StreamError> {
        let (mut profile, places) = self.placed(methods)?;
        add_only_paths(more, &places, &mut profile)?;
        run.exact &= profile.run.exact;
        run.facts.append(std::mem::take(&mut profile.run.facts));
        profile.run = run;
        Ok(profile)
    }

    /// Forgets what was counted. Threads continue, open activations too.
    pub fn reset(&self) {
        self.counters.words.store(0, Ordering::Relaxed);
        for stage in &self.stages {
            stage.reset();
        }
    }
}

/// Adds activations to the counts of paths, and as roots of forests.
fn add_only_paths(
    more: &OnlyPaths,
    places: &MethodPlaces,
    profile: &mut Profile,
) -> Result<(), ForestProblem> {
    for (&method, paths) in more {
        let Some(place @ (class, index)) = places.place(method) else {
            profile.run.facts.add(facts::UNKNOWN, paths.values().sum::<u64>());
            continue;
        };
        for (&path, &count) in paths {
            *profile.classes[class].counts[index]
                .paths
                .entry(path)
                .or_default() += count;
        }
        if let Some(kpaths) = &mut profile.kpaths {
            let forest = kpaths.methods.entry(place).or_default();
            let roots = paths.iter().map(|(&path, &count)| (1, path, count));
            *forest = forest.plus(&PathForest::from_preorder(roots)?)?;
        }
    }
    Ok(())
}

/// A thread's way into a [`Pipeline`]. Dropping it ends the thread.
pub struct ThreadStream {
    states: Vec<Box<dyn AnyThread>>,
    id: u64,
    counters: Arc<Counters>,
    recorder: Option<Arc<dyn Recorder>>,
}

impl ThreadStream {
    /// The thread's next words. May be called by the thread itself or by another, but in order: by two at
    /// once makes no sense (and does no harm but to the result).
    pub fn consume(&self, words: &[u64]) {
        self.counters
            .words
            .fetch_add(words.len() as u64, Ordering::Relaxed);
        for state in &self.states {
            state.consume(words);
        }
        if let Some(recorder) = &self.recorder {
            recorder.words(self.id, words);
        }
    }

    /// The events that the stream has to have from here on, if the pipeline [skips](Pipeline::skips).
    pub fn wanted(&self) -> Wanted {
        match &self.states[..] {
            [only] => only.wanted(),
            _ => Wanted::ALL,
        }
    }

    /// The thread has ended: what is known of it moves into the common result, and its own state is freed.
    pub fn end(self) {}
}

impl Drop for ThreadStream {
    fn drop(&mut self) {
        for state in &self.states {
            state.end();
        }
        if let Some(recorder) = &self.recorder {
            recorder.thread_end(self.id);
        }
        self.counters.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// An analysis of unknown type.
trait AnyStage: Send + Sync {
    fn skips(&self) -> bool;
    fn open(&self, serial: u64, info: &ThreadInfo) -> Box<dyn AnyThread>;
    fn write(&self, places: &MethodPlaces, profile: &mut Profile) -> Result<(), StreamError>;
    fn reset(&self);
}

/// A thread's state in an analysis of unknown type.
trait AnyThread: Send + Sync {
    fn consume(&self, words: &[u64]);
    fn wanted(&self) -> Wanted;
    fn end(&self);
}

type Live<A> = Arc<Mutex<<A as StreamAnalysis>::Thread>>;
type Ended<A> = (<A as StreamAnalysis>::Result, Option<StreamError>);

struct Stage<A: StreamAnalysis> {
    analysis: A,
    /// Locked before `ended`, and before any thread's own state.
    live: Mutex<HashMap<u64, Live<A>>>,
    /// The result of threads that have ended, and the first error of one.
    ended: Mutex<Ended<A>>,
}

struct ThreadState<A: StreamAnalysis> {
    stage: Arc<Stage<A>>,
    serial: u64,
    state: Live<A>,
}

/// A panic of an analysis leaves counts that may be a bit off, no more: they are still used.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<A: StreamAnalysis> AnyStage for Arc<Stage<A>> {
    fn skips(&self) -> bool {
        self.analysis.skips()
    }

    fn open(&self, serial: u64, info: &ThreadInfo) -> Box<dyn AnyThread> {
        let state = Arc::new(Mutex::new(self.analysis.thread(info)));
        lock(&self.live).insert(serial, Arc::clone(&state));
        Box::new(ThreadState {
            stage: Arc::clone(self),
            serial,
            state,
        })
    }

    fn write(&self, places: &MethodPlaces, profile: &mut Profile) -> Result<(), StreamError> {
        let analysis = &self.analysis;
        let (mut live, (mut result, failed)) = {
            // Together, so that a thread that ends meanwhile is in exactly one of them.
            let live = lock(&self.live);
            let ended = lock(&self.ended);
            if let ((result, None), true) = (&*ended, live.is_empty()) {
                // A copy may be as large as everything else together.
                drop(live);
                return analysis.write(result, places, profile);
            }
            let live: Vec<(u64, Live<A>)> = live.iter().map(|(&n, state)| (n, Arc::clone(state))).collect();
            (live, ended.clone())
        };
        if let Some(error) = failed {
            return Err(error);
        }
        live.sort_unstable_by_key(|&(serial, _)| serial);
        for (_, thread) in live {
            analysis.add(&mut result, &lock(&thread))?;
        }
        analysis.write(&result, places, profile)
    }

    fn reset(&self) {
        let live = lock(&self.live);
        *lock(&self.ended) = (self.analysis.result(), None);
        for thread in live.values() {
            self.analysis.reset(&mut lock(thread));
        }
    }
}

impl<A: StreamAnalysis> AnyThread for ThreadState<A> {
    fn consume(&self, words: &[u64]) {
        self.stage.analysis.consume(&mut lock(&self.state), words);
    }

    fn wanted(&self) -> Wanted {
        self.stage.analysis.wanted(&mut lock(&self.state))
    }

    fn end(&self) {
        let mut live = lock(&self.stage.live);
        if live.remove(&self.serial).is_none() {
            return;
        }
        let (result, failed) = &mut *lock(&self.stage.ended);
        let added = self.stage.analysis.add(result, &lock(&self.state));
        if failed.is_none() {
            *failed = added.err();
        }
    }
}
