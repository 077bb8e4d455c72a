//! When samples are taken, the probe that reads frames, and the counts so far.

use std::collections::BTreeMap;

mod burst_pace;
pub mod clock;
mod collector;
mod compilers;
mod exact;
pub mod open;
mod program;
mod safepoint;

pub use burst_pace::BurstPace;
pub use clock::{Clock, Signal, SplitMix, Tick, monotonic, processor_seconds, spent};
pub use collector::{Collector, Placement, add_counts, classes};
pub use compilers::compiler_seconds;
pub use exact::ExactCounts;
pub use program::ProgramTime;
pub use safepoint::SafepointSampler;

/// Path number to count.
pub type PathCounts = BTreeMap<u64, u64>;
