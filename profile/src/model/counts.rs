//! Counts of one method.

use std::collections::BTreeMap;

/// Counts of one method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodCounts {
    /// Path number to how often it was counted or sampled.
    pub paths: BTreeMap<u64, u64>,
    /// (block where it stopped, partial number) to number of samples; only the `safepoint` probe has them.
    pub partial: BTreeMap<(u32, u64), u64>,
}

impl MethodCounts {
    /// Sum of all path counts.
    pub fn total(&self) -> u64 {
        self.paths.values().sum()
    }
}
