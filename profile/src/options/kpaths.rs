//! Options of profile `kpaths`, and the budget, which applies to probes that retire as well.

/// Options of profile `kpaths`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KPathsChoices {
    /// Longest sequence, in paths.
    pub k: u32,
    /// Most nodes below the roots of a forest, if they are limited.
    pub budget: Option<u32>,
}

impl Default for KPathsChoices {
    fn default() -> Self {
        KPathsChoices { k: 10, budget: None }
    }
}
