//! Analyses over the event stream of a run: live in the agent, or replayed from a trace.
//!
//! *In*: the words of each thread in order ([`trodden_profile::events`]). *Out*: a
//! [`Profile`], at any time. [`StreamAnalysis`] is what an analysis has to implement;
//! [`Pipeline`] runs any number of them over the same stream:
//!
//! ```
//! use trodden_analyses::MethodTable;
//! use trodden_analyses::stream::{KPathsOptions, PathCounts, Pipeline};
//! use trodden_profile::events::{ThreadInfo, Word};
//! use trodden_profile::facts;
//!
//! let pipeline = Pipeline::new().with(PathCounts);
//! let thread = pipeline.open(ThreadInfo::default());
//! thread.consume(&[Word::only_path(0, 3).0, Word::only_path(0, 3).0]);
//! thread.end(); // dropping it does the same
//! # let _ = KPathsOptions::default();
//! let profile = pipeline.profile(&MethodTable::default()).unwrap();
//! assert_eq!(profile.run.facts.get(facts::EVENTS), Some(2));
//! assert_eq!(profile.run.facts.get(facts::UNKNOWN), Some(2)); // no such method in the table
//! ```
//!
//! | analysis | result | cost |
//! | --- | --- | --- |
//! | [`NullStream`] | none: the floor | reads each word |
//! | [`PathCounts`] | exact count of each path, as `counters` has | a table entry per run of equal paths |
//! | [`ContextStream`] | hot calling contexts, or all | a few loads per call and return |
//! | [`SubpathStream`] | hot subpaths, from a sample | an addition per path that is passed over |
//! | [`KPathStream`] | k-iteration path forests | a few loads per path (k-BLPP section 4) |
//!
//! [`ContextStream`]: crate::contexts::ContextStream
//! [`SubpathStream`]: crate::subpaths::SubpathStream
//!
//! # To write another one
//! Implement [`StreamAnalysis`]; see [`PathCounts`] for the shortest example. The stack of activations, with
//! unwinding, gaps and late attach, is [`ActivationWords`]: it drives any
//! [`ActivationAnalysis`](crate::kpaths::ActivationAnalysis).

mod k_paths;
mod null;
mod path_counts;
mod pipeline;
mod record;
mod replay;
mod stack;
mod timed;

pub use k_paths::{BurstWindows, KForest, KPathStream, KPathsOptions, KPathsResult, KPathsThread, KSink};
pub use null::NullStream;
pub use path_counts::{PathCounts, ThreadPathCounts};
pub use pipeline::{OnlyPaths, Pipeline, Recorder, ThreadStream};
pub use record::TraceRecorder;
pub use replay::{ReplayError, Replayed, replay};
pub use stack::{ActivationWords, StackTally};
pub use timed::{Tails, TimedBursts};

use trodden_profile::events::{EventKinds, ThreadInfo};
use trodden_profile::{ForestProblem, Profile};

use crate::MethodPlaces;
use crate::contexts::{ContextError, TooManyContexts};
use crate::kpaths::ForestError;
use crate::subpaths::{SubpathError, Wanted};

/// Why a stream gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// A forest cannot be built or merged.
    #[error("k-iteration paths: {0}")]
    Forest(#[from] ForestError),
    /// A forest cannot be kept in a profile.
    #[error("k-iteration paths: {0}")]
    Section(#[from] ForestProblem),
    /// Subpaths cannot be sampled like that.
    #[error("subpaths: {0}")]
    Subpaths(#[from] SubpathError),
    /// Contexts cannot be merged.
    #[error("contexts: {0}")]
    Contexts(#[from] TooManyContexts),
    /// Contexts cannot be counted like that.
    #[error("contexts: {0}")]
    ContextOptions(#[from] ContextError),
}

/// An analysis that consumes the event stream.
///
/// It holds options only. What it learns of a thread is in a [`Thread`](Self::Thread), which it is given back
/// with each batch of words, and what it learned of all of them in a [`Result`](Self::Result). So threads
/// need no locks among each other, a thread's state goes when the thread ends, and a result can be had at any
/// time.
///
/// **The stream.** Each thread's words come in order, in batches of any size; it is all the same where one
/// batch ends. An analysis must pass over words of kinds that it did not ask for, must make sense of paths
/// whose `Enter` it never saw, and must never panic, whatever the words: they come from the running program,
/// and from files.
///
/// **Calls.** For one thread at a time only, but for different threads at once, from the thread itself or
/// from another one.
pub trait StreamAnalysis: Send + Sync + 'static {
    /// The state of one thread. Its memory should follow what the thread did: there may be 100,000 of
    /// them.
    type Thread: Send + 'static;
    /// The result of several threads.
    type Result: Clone + Send + 'static;

    /// The events that it wants. More may come.
    fn needs(&self) -> EventKinds;

    /// A thread begins.
    fn thread(&self, info: &ThreadInfo) -> Self::Thread;

    /// The thread's next words. (One virtual call per batch; nothing dynamic per word.)
    fn consume(&self, thread: &mut Self::Thread, words: &[u64]);

    /// Returns true if path ends may be left out of the stream. Then [`wanted`](Self::wanted) has to be asked
    /// after each batch, and obeyed.
    fn skips(&self) -> bool {
        false
    }

    /// The events that a thread's stream has to have from here on, if the analysis [skips](Self::skips).
    fn wanted(&self, thread: &mut Self::Thread) -> Wanted {
        let _ = thread;
        Wanted::ALL
    }

    /// Forgets what was counted; the thread runs on, and so do its open activations.
    fn reset(&self, thread: &mut Self::Thread);

    /// The result of no thread at all.
    fn result(&self) -> Self::Result;

    /// Adds what is known of a thread, which may run on afterwards: the thread's state must not change.
    ///
    /// # Errors
    /// If it does not fit in. The result may then hold part of it.
    fn add(&self, result: &mut Self::Result, thread: &Self::Thread) -> Result<(), StreamError>;

    /// Writes the result into a profile that has all classes: into their counts, into sections of its own,
    /// and what there is to say about the run as such into `profile.run.facts`. `places` gives where each
    /// method of the stream is; others are to be counted in the fact `unknown`.
    ///
    /// # Errors
    /// If the profile cannot hold it.
    fn write(
        &self,
        result: &Self::Result,
        places: &MethodPlaces,
        profile: &mut Profile,
    ) -> Result<(), StreamError>;
}
