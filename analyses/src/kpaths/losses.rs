//! The known error of a forest that was pruned.

use rustc_hash::FxHashMap;

/// Per method and length `n` at least 2: how many occurrences of sequences of that length are missing, at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses(FxHashMap<u32, Vec<u64>>);

impl Losses {
    /// Adds `missing(n)` for every `n` of `lengths`.
    pub fn add(
        &mut self,
        method: u32,
        lengths: std::ops::RangeInclusive<usize>,
        missing: impl Fn(usize) -> u64,
    ) {
        if lengths.is_empty() {
            return;
        }
        let list = self.0.entry(method).or_default();
        if list.len() < lengths.end() - 1 {
            list.resize(lengths.end() - 1, 0);
        }
        for n in lengths {
            list[n - 2] += missing(n);
        }
    }

    pub fn merge(&mut self, other: &Losses) {
        for (&method, list) in &other.0 {
            self.add(method, 2..=list.len() + 1, |n| list[n - 2]);
        }
    }

    /// Occurrences of sequences of `n` paths that are missing, at most.
    pub fn of(&self, method: u32, n: usize) -> u64 {
        let list = self.0.get(&method);
        let lost = n.checked_sub(2).and_then(|i| list?.get(i));
        lost.copied().unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn bytes(&self) -> usize {
        let lists: usize = self
            .0
            .values()
            .map(|list| list.capacity() * size_of::<u64>())
            .sum();
        lists + super::arena::table_bytes::<u32, Vec<u64>>(self.0.capacity())
    }
}
