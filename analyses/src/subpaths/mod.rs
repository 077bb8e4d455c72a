//! Hot subpaths that begin anywhere and go across loops and calls.
//!
//! After Oren, Matias and Sagiv, *Online Subpath Profiling* (CC 2002, "OSP"). *In*: a thread's path ends,
//! from which the stream of its basic blocks follows ([`Order`]). *Out*, at any time: subpaths of 2, 4, 8, …
//! blocks with estimated counts and intervals ([`MergedSubpaths::report`]), from a sample in bounded memory.
//!
//! | type | what it is |
//! | --- | --- |
//! | [`Sampler`] | skip and sample phases of a thread, with its concise sample (OSP sections 2.1 and 2.3) |
//! | [`Wanted`] | which path ends a sampler can do without |
//! | [`SubpathOptions`] | lengths and their bias, footprint, distances, where to begin, ageing |
//! | [`identity`] | which subpaths are the same: canonical rotation, or the paper's xor |
//! | [`MergedSubpaths`], [`Estimate`] | all threads together, and what that says |
//! | [`ExactSubpaths`], [`SubpathCounting`] | every subpath counted: the yardstick, also as an analysis |
//! | [`WordOrder`], [`MethodShapes`] | from words of the event stream to blocks |
//! | [`SubpathStream`] | all of that for the threads of a run |
//!
//! The paper's prototype pays for a call per basic block, most of which only decrements a counter. Here no
//! probe is needed but those at path ends, and skipping is by whole paths: a path's number gives its number
//! of blocks. In the agent, the probes skip: a path end that no sample needs costs a decrement
//! ([`Sampler::skipping`]).
//!
//! ```
//! use std::sync::Arc;
//! use trodden_analyses::subpaths::*;
//!
//! /// Path n of method 0 has the blocks n, n + 1 and n + 2.
//! struct Toy;
//! impl PathShapes for Toy {
//!     fn shape(&self, method: u32, _: u32) -> Option<Shape> {
//!         (method == 0).then_some(Shape { blocks: 3, header: true })
//!     }
//!     fn blocks(&self, _: u32, path: u32, from: u32, count: u32, out: &mut Vec<u32>) {
//!         out.extend((path + from..path + 3).take(count as usize));
//!     }
//!     fn entered(&self, _: u32, _: u32, _: u16) -> Option<u32> {
//!         None
//!     }
//! }
//!
//! let options = Arc::new(SubpathOptions::default());
//! let mut sampler = Sampler::new(Arc::clone(&options), 0, options.start);
//! let path = |path, times| Run { method: 0, path, from: 0, blocks: 3, times };
//! for _ in 0..100_000 {
//!     sampler.run(&Toy, path(10, 1), true); // odd iterations of a loop ...
//!     sampler.run(&Toy, path(20, 1), true); // ... and even ones
//! }
//! let mut all = MergedSubpaths::new(&options);
//! all.add(&sampler);
//! // Wherever eight blocks begin, they are of one of six kinds, each as frequent as the others.
//! let hot = all.report(&options, &Report::default());
//! let eight = hot.iter().filter(|subpath| subpath.length == 8);
//! assert!(eight.clone().count() == 6 && eight.clone().all(|s| (0.12..0.21).contains(&s.share)));
//! ```

mod counting;
mod draws;
mod estimate;
mod exact;
mod identity;
mod lengths;
mod merged;
mod options;
mod order;
mod runs;
mod sample;
mod sampler;
mod shapes;
mod skipping;
mod stream;
mod window;

pub use counting::{CountedSubpaths, CountingThread, SubpathCounting};
pub use estimate::Estimate;
pub use exact::{ExactCounts, ExactSubpaths};
pub use identity::identity;
pub use lengths::Lengths;
pub use merged::{LIMIT, MergedSubpaths, Report, Subpath, SubpathStats};
pub use options::{ENOUGH, PLENTIFUL_SAMPLES_PER_BYTE, SubpathOptions};
pub use order::{BlockStream, Order, OrderTally, WordOrder};
pub use runs::Run;
pub use sample::{MAX_FOOTPRINT, MIN_FOOTPRINT};
pub use sampler::{Sampler, SamplerTally};
pub use shapes::{MethodShapes, PathShapes, Shape};
pub use skipping::Wanted;
pub use stream::{SubpathStream, SubpathThread};

/// Options that are out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubpathError {
    /// These are no lengths.
    #[error("lengths: {0}")]
    Lengths(String),
    /// Something is out of range.
    #[error("{0}")]
    Range(String),
}
