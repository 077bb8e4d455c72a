//! Criteria beyond lines and branches, decided from counted paths: MC/DC per decision, and prime paths.
//!
//! *In*: the path map of a method, the numbers of the paths that ran and, for prime paths that go through the
//! top of a loop, which path followed which ([`PathForest`](trodden_profile::PathForest)). *Out*: what was
//! covered, and what was not. Definitions are those of GCC 14 (`-fcondition-coverage`) and GCC 15
//! (`-fpath-coverage`), so that figures compare; tests hold them against GCC's own output of the same
//! functions.

mod compound;
mod jumps;
mod mcdc;
mod prime;
#[cfg(test)]
mod tests;
mod tour;

pub use jumps::destinations;
pub use mcdc::mcdc;
pub use mcdc::{ConditionCoverage, DecisionCoverage};
pub use tour::{Followed, prime_paths};
pub use tour::{PrimePath, PrimePaths};
