//! k-iteration path forests: which paths follow which, across loop iterations.
//!
//! After D'Elia and Demetrescu, *Ball-Larus Path Profiling Across Multiple Loop Iterations* (OOPSLA 2013,
//! "k-BLPP"). *In*: the activations of one thread and the path numbers that each of them ends, in order
//! ([`ActivationAnalysis`]). *Out*: how often each sequence of up to `k` consecutive paths of one activation
//! occurred ([`IterationForest`], the paper's *k-IPF*).
//!
//! | type | what it is |
//! | --- | --- |
//! | [`SlabForest`] | k-SF, the structure that is fast to update (k-BLPP section 4, figure 11) |
//! | [`ChunkPairs`] | what a k-SF knows, faster to update still |
//! | [`IterationForest`] | k-IPF, the result (section 2.2; figure 12) |
//! | [`BoundedForest`] | k-IPF within a budget of nodes, with a known error |
//! | [`ActivationBursts`] | hands on whole activations of sampled windows only |
//!
//! A sink such as [`SlabForest`] keeps what was learned; [`Activations`] adds the stack of a thread's open
//! activations and makes it an [`ActivationAnalysis`]. One forest per thread, merged at the end, needs no
//! locks.
//!
//! ```
//! use trodden_analyses::kpaths::{ActivationAnalysis, Activations, IterationForest, SlabForest};
//!
//! let mut thread = Activations::new(SlabForest::new(4).unwrap());
//! thread.enter(7);
//! for path in [6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3] {
//!     thread.path(path);
//! }
//! thread.exit();
//! let forest = IterationForest::from_slabs(thread.sink());
//! assert_eq!(forest.count(7, &[2, 0, 0, 2]), 3); // the paper's example 1
//! assert_eq!(forest.count(7, &[2]), 6); // level 1: plain Ball-Larus counts
//! ```

mod activation;
mod arena;
mod bounded;
mod bursts;
mod chunks;
mod iteration;
mod losses;
mod slab;
mod tables;
mod trees;

pub use activation::{ActivationAnalysis, ActivationEvent, Activations, PathSink};
pub use bounded::{BoundedActivation, BoundedForest};
pub use bursts::ActivationBursts;
pub use chunks::{ChunkPairs, OpenChunks};
pub use iteration::{IterationForest, PathNode};
pub use slab::{Cursor, SlabForest};
pub use trees::ForestStats;

/// Largest `k`. Far beyond what is useful; it bounds the depth of recursive walks.
pub const MAX_K: u32 = 1024;

/// Forests that cannot be built or joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForestError {
    /// `k` is out of range.
    #[error("k = {0}: must be from 2 to {MAX_K}")]
    K(u32),
    /// Too few nodes to work with.
    #[error("a budget of {budget} nodes is too small for k = {k}: at least {least} are needed")]
    Budget {
        /// Nodes allowed.
        budget: u32,
        /// The forest's `k`.
        k: u32,
        /// The smallest budget for this `k`.
        least: u32,
    },
    /// Forests of different `k` have nothing to add up.
    #[error("forests of k = {0} and k = {1} cannot be merged")]
    DifferentK(u32, u32),
    /// More than 2^32 - 2 nodes.
    #[error("the merged forest would have more than {0} nodes")]
    Full(u32),
}
