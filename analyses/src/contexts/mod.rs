//! Hot calling contexts in small space.
//!
//! After D'Elia, Demetrescu and Finocchi, *Mining Hot Calling Contexts in Small Space* (PLDI 2011, "HCCT").
//! *In*: the calls and returns of a thread, each call with its call site ([`ContextSink`]). *Out*: the
//! calling context tree, exact or pruned on line to the contexts that a streaming algorithm monitors and
//! their ancestors ([`Snapshot`]), and of that the hot contexts for any threshold ([`HotTree`]), each counter
//! with its bounds.
//!
//! | type | what it is |
//! | --- | --- |
//! | [`ContextTreeBuilder`] | tree, a cursor per thread, an algorithm from below (HCCT section 3.2) |
//! | [`Exact`] | every context, no error: the yardstick |
//! | [`LazySpaceSaving`] | the default: Space Saving with a lazy priority queue (section 4.1) |
//! | [`BucketSpaceSaving`] | Space Saving with the bucket list of its authors |
//! | [`WeightedSpaceSaving`] | Space Saving for weights such as time or bytes |
//! | [`LossyCounting`] | section 4.2 |
//! | [`StickySampling`] | Manku and Motwani's; holds with a probability |
//! | [`NullContexts`] | nothing: the floor under every other one's cost |
//! | [`ContextBursts`] | hands on what happens in static or adaptive bursts only (section 5.5) |
//! | [`Grouped`] | an algorithm, and how much of each counter is of which group of bursts |
//! | [`ContextAccuracy`] | the paper's metrics against the exact tree (section 5.1) |
//!
//! **Guarantee.** Let `N` be the sum of all weights (of calls, unless something else is counted). For any
//! `phi` not below the one that the algorithm was made for, [`Snapshot::hot`] returns every context of weight
//! `floor(phi * N)` or more. Of the others it returns none of weight below `floor((phi - epsilon) * N)`, and
//! none of just that either as soon as `N >= 32 / epsilon`. Each reported context comes with a lower and an
//! upper bound, less than `epsilon * N + 1` apart. With [`StickySampling`] all of this holds with probability
//! `1 - delta` only. Merging threads keeps it.
//!
//! ```
//! use trodden_analyses::contexts::{ContextSink, ContextTreeBuilder, Frame, LazySpaceSaving, Thresholds};
//!
//! let thresholds = Thresholds::new(0.1, 0.02).unwrap();
//! let mut contexts = ContextTreeBuilder::new(LazySpaceSaving::new(thresholds));
//! contexts.enter(Frame::new(0, 0), 1); // main
//! for i in 0..1000u32 {
//!     contexts.enter(Frame::new(1 + i % 4 / 3, 20), 1); // method 1 three times, then method 2
//!     contexts.exit();
//! }
//! let hot = contexts.snapshot().hot(0.5).unwrap();
//! assert_eq!(hot.threshold(), 500);
//! let path: Vec<u32> = hot.path(hot.hottest().unwrap()).iter().map(|frame| frame.method).collect();
//! assert_eq!(path, [0, 1]);
//! ```

mod bucket;
mod builder;
mod bursts;
mod compare;
mod exact;
mod frame;
mod groups;
mod lazy;
mod live;
mod lossy;
mod metrics;
pub(crate) mod random;
mod section;
mod sink;
mod snapshot;
mod sticky;
mod stream;
mod thresholds;
mod tree;
mod weighted;
mod words;

pub use bucket::BucketSpaceSaving;
pub use builder::{ContextStats, ContextTreeBuilder};
pub use bursts::{BurstKind, BurstTally, ContextBursts};
pub use compare::{ContextComparison, compare};
pub use exact::Exact;
pub use frame::{Frame, UNKNOWN_SITE};
pub use groups::{Grouped, Groups};
pub use lazy::LazySpaceSaving;
pub use lossy::LossyCounting;
pub use metrics::{ContextAccuracy, CounterError};
pub use sink::{ContextSink, NullContexts};
pub use snapshot::{HotNode, HotTree, Snapshot};
pub use sticky::StickySampling;
pub use stream::{BurstOptions, ContextOptions, ContextResult, ContextStream, ContextThread};
pub use thresholds::Thresholds;
pub use tree::{CallingContextTree, NodeId};
pub use trodden_profile::options::ContextAlgorithm as Algorithm;
pub use weighted::WeightedSpaceSaving;

/// Largest and smallest value that a counter may represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The context has at least this much.
    pub lower: u64,
    /// And at most this.
    pub upper: u64,
}

/// A streaming algorithm: decides which contexts are monitored. This is what a plug-in implements.
///
/// Counters live in the tree's nodes, and so does the flag that says whether one is monitored, so that no
/// dictionary is needed (HCCT section 4.1): the cursor leads to both.
pub trait Monitor {
    /// True if contexts that are not monitored may leave the tree. If not,
    /// [`is_monitored`](CallingContextTree::is_monitored) is never looked at, and there are no victims.
    const PRUNES: bool;

    /// `weight` (not 0) is added to `context`. Contexts that are no longer monitored are pushed to `victims`,
    /// which is empty when this is called; `context` itself may be among them. Each must have been monitored
    /// before.
    fn update(
        &mut self,
        tree: &mut CallingContextTree,
        context: NodeId,
        weight: u64,
        victims: &mut Vec<NodeId>,
    );

    /// Calls back with every monitored context and its bounds.
    fn monitored(&self, tree: &CallingContextTree, each: &mut dyn FnMut(NodeId, Bounds));

    /// Number of monitored contexts. The exact tree has no list of them and says 0.
    fn len(&self) -> usize;

    /// Returns true if nothing is monitored.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// No context that is not monitored has more than this.
    fn absent(&self) -> u64;

    /// The thresholds that the guarantee holds for. `None` if counters are exact.
    fn thresholds(&self) -> Option<Thresholds>;

    /// Bytes held in addition to the tree, by capacity.
    fn bytes(&self) -> usize;

    /// Forgets all counts, when the tree is replaced by an empty one.
    fn clear(&mut self);

    /// A burst of a group begins.
    fn burst(&mut self, _group: u32) {}

    /// The counts by groups of bursts, if they are kept.
    fn groups(&self) -> Option<&Groups> {
        None
    }
}

/// Options that are out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// `phi` and `epsilon` do not go together.
    #[error("phi = {phi}, epsilon = {epsilon}: must be 0 < epsilon < phi <= 1, epsilon at least 1e-8")]
    Thresholds {
        /// Share of all calls from which on a context is hot.
        phi: f64,
        /// Error allowed.
        epsilon: f64,
    },
    /// The probability of failure is none.
    #[error("delta = {0}: must be above 0 and below 1")]
    Delta(f64),
    /// The streaming algorithm has forgotten what would be hot at this threshold.
    #[error("phi = {asked}: counted with phi = {least}, it can only be raised afterwards")]
    PhiTooSmall {
        /// The threshold of the query.
        asked: f64,
        /// The algorithm's.
        least: f64,
    },
    /// A burst must not be longer than the interval that it is in.
    #[error("bursts of {length} events every {interval} overlap")]
    BurstLength {
        /// Events from the start of a burst to the next.
        interval: u64,
        /// Events of a burst.
        length: u64,
    },
}

/// Merged contexts need more than 32-bit indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the merged tree would have more than {} contexts", u32::MAX)]
pub struct TooManyContexts;

/// A counter, or its error, in 32 bits: `u32::MAX` is that or more.
fn in_32_bits(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The most that it may be.
fn from_32_bits(bits: u32) -> u64 {
    match bits {
        u32::MAX => u64::MAX,
        bits => u64::from(bits),
    }
}

/// Makes room for one more: for twice as many as there are, but never for more than `most`.
fn room_for_one<T>(list: &mut Vec<T>, most: usize) {
    const MIN_ROOM: usize = 64;
    let length = list.len();
    if length == list.capacity() {
        list.reserve_exact(length.max(MIN_ROOM).min(most - length));
    }
}
