//! When samples are taken, the probe that reads frames, and the counts so far.

use std::collections::BTreeMap;

pub mod clock;
pub mod collector;
pub mod exact;
pub mod open;
pub mod safepoint;

/// Path number to count.
pub type PathCounts = BTreeMap<u64, u64>;
