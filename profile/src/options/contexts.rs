//! Options of profile `contexts`.

use super::values::{ContextAlgorithm, ContextWeight, Share};

/// Options of profile `contexts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextChoices {
    /// From which share of all calls on a context is hot.
    pub phi: Share,
    /// How much a counter may be wrong, as a share of all calls; `None`: a fifth of `phi`.
    pub epsilon: Option<Share>,
    /// Algorithm that decides which are kept.
    pub algorithm: ContextAlgorithm,
    /// Are contexts distinguished by the path that led to each call?
    pub call_paths: bool,
    /// The quantity that is counted.
    pub weight: ContextWeight,
    /// With `weight=alloc`: mean number of bytes from one allocation that is charged to the next; 0: all are.
    pub alloc_interval: u32,
}

impl Default for ContextChoices {
    fn default() -> Self {
        ContextChoices {
            phi: Share::new(1e-4).expect("a share"),
            epsilon: None,
            algorithm: ContextAlgorithm::LazySpaceSaving,
            call_paths: false,
            weight: ContextWeight::Calls,
            alloc_interval: ALLOC_INTERVAL,
        }
    }
}

/// Mean number of bytes from one allocation that is charged to the next, by default.
pub(super) const ALLOC_INTERVAL: u32 = 64 << 10;
