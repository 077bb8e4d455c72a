//! Counts of one method, in a whole run or a part of it.

use std::collections::BTreeMap;

/// Counts of one method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodCounts {
    /// Path number to how often it was counted or sampled.
    pub paths: BTreeMap<u64, u64>,
    /// (block where it stopped, partial number) to number of samples; only the `safepoint` probe has them.
    pub partial: BTreeMap<(u32, u64), u64>,
}

/// The counts of a method during a part of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodPart {
    /// Index of the class in the profile.
    pub class: u32,
    /// Index of the method in the class's path map.
    pub method: u32,
    /// Its counts. They are part of the profile's.
    pub counts: MethodCounts,
}

impl MethodCounts {
    /// Sum of all path counts.
    pub fn total(&self) -> u64 {
        self.paths.values().sum()
    }

    /// Has it no counts of any kind?
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.partial.is_empty()
    }

    /// Adds other counts under the same numbers.
    pub(crate) fn add(&mut self, other: &MethodCounts) {
        add_up(&mut self.paths, &other.paths);
        add_up(&mut self.partial, &other.partial);
    }

    /// Takes off other counts under the same numbers, at most what is there. Tells whether all were there.
    pub(crate) fn take_off(&mut self, other: &MethodCounts) -> bool {
        let whole = take_off(&mut self.paths, &other.paths);
        take_off(&mut self.partial, &other.partial) && whole
    }
}

/// Adds numbers to their sums, which saturate.
pub(crate) fn add_up<K: Ord + Clone>(sums: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    for (key, count) in more {
        let sum = sums.entry(key.clone()).or_default();
        *sum = sum.saturating_add(*count);
    }
}

fn take_off<K: Ord>(sums: &mut BTreeMap<K, u64>, off: &BTreeMap<K, u64>) -> bool {
    let mut all_there = true;
    for (key, &count) in off {
        let sum = sums.get_mut(key);
        all_there &= sum.as_deref().copied().unwrap_or(0) >= count;
        if let Some(sum) = sum {
            *sum = sum.saturating_sub(count);
        }
    }
    sums.retain(|_, sum| *sum > 0);
    all_there
}
