//! Calling contexts in a profile: which chains of calls occurred, and how often.
//!
//! After D'Elia, Demetrescu and Finocchi, *Mining Hot Calling Contexts in Small Space* (PLDI 2011, "HCCT"): what is kept is the
//! calling context tree, or the part of it that a streaming algorithm monitored and the ancestors of that. How it is built is the
//! business of `trodden-analyses`; here it is data.

mod codec;
mod groups;
mod merge;
pub(crate) mod section;
mod subtract;
mod tree;

use crate::options::ContextWeight;

pub use groups::BurstGroups;
pub use tree::{ContextNode, ContextRow, ContextTree};

/// The calling contexts of a run, all threads together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contexts {
    /// What decided which contexts were kept, in option syntax (`exact`, `lss`, …).
    pub algorithm: String,
    /// `phi` and `epsilon` of the guarantee: contexts with a share of `phi` of all calls are there, and no counter is off by more
    /// than a share of `epsilon`. `None`: all contexts are there, and exactly counted.
    pub thresholds: Option<(f64, f64)>,
    /// What was counted: where it says *calls* below, that is meant.
    pub weight: ContextWeight,
    /// Which part of the stream was counted, in option syntax, if not all was.
    pub bursts: Option<String>,
    /// Calls that were counted: the paper's N.
    pub calls: u64,
    /// No context that is not counted has more calls than this.
    pub absent: u64,
    /// Most contexts at a time, summed over threads.
    pub peak_nodes: u64,
    /// Bytes that they took.
    pub peak_bytes: u64,
    /// Calls in no counter, because a tree was full.
    pub dropped: u64,
    /// Activations whose beginning was not seen: their context begins with themselves.
    pub orphans: u64,
    /// The contexts.
    pub tree: ContextTree,
    /// How bursts differ. `None`: all calls were counted, or it is not known.
    pub groups: Option<BurstGroups>,
}

/// Hot contexts cannot be distinguished from the others at this threshold.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "phi = {asked}: contexts were counted with phi = {least}, it can only be raised afterwards (up to 1)"
)]
pub struct PhiOutOfRange {
    /// The threshold asked for.
    pub asked: f64,
    /// The least that there may be.
    pub least: f64,
}

impl Contexts {
    /// Is all there, and exactly counted?
    pub fn is_exact(&self) -> bool {
        self.thresholds.is_none() && self.dropped == 0
    }

    /// From how many calls on a context is hot: `floor(phi * calls)`, at least 1. Without `phi`, the one that contexts were
    /// counted with; 1e-4 if they were counted exactly.
    ///
    /// # Errors
    /// If `phi` is below the one that was counted with, or not above 0 and up to 1.
    pub fn threshold(&self, phi: Option<f64>) -> Result<u64, PhiOutOfRange> {
        let least = self.thresholds.map_or(0.0, |(phi, _)| phi);
        let asked = phi.unwrap_or(if least > 0.0 { least } else { 1e-4 });
        if asked > 0.0 && (least..=1.0).contains(&asked) {
            Ok(((asked * self.calls as f64).floor() as u64).max(1))
        } else {
            Err(PhiOutOfRange { asked, least })
        }
    }
}
