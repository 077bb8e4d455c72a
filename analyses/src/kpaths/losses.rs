//! The known error of a forest that was pruned.

use rustc_hash::FxHashMap;

/// Per method and length `n` at least 2: how many occurrences of sequences of that length are missing, at
/// most.
///
/// Kept as differences between one length and the one before (modulo 2^64), so that what is missing from some
/// length on is one addition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses(FxHashMap<u32, Vec<u64>>);

impl Losses {
    fn difference(&mut self, method: u32, length: usize) -> &mut u64 {
        let list = self.0.entry(method).or_default();
        if list.len() < length - 1 {
            list.resize(length - 1, 0);
        }
        &mut list[length - 2]
    }

    /// `times` more are missing of every length from this one on.
    #[inline]
    pub fn add_from(&mut self, method: u32, length: usize, missing: u64) {
        let difference = self.difference(method, length);
        *difference = difference.wrapping_add(missing);
    }

    /// `times` more are missing of this length.
    pub fn add_at(&mut self, method: u32, length: usize, missing: u64) {
        let after = self.difference(method, length + 1);
        *after = after.wrapping_sub(missing);
        self.add_from(method, length, missing);
    }

    pub fn merge(&mut self, other: &Losses) {
        for (&method, list) in &other.0 {
            for (index, &difference) in list.iter().enumerate() {
                self.add_from(method, index + 2, difference);
            }
        }
    }

    /// Occurrences of sequences of `n` paths that are missing, at most.
    pub fn get(&self, method: u32, n: usize) -> u64 {
        let list = self.0.get(&method).map_or(&[][..], |list| list);
        let differences = list.iter().take(n.saturating_sub(1));
        differences.fold(0, |sum, &difference| sum.wrapping_add(difference))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_by_length() {
        let mut losses = Losses::default();
        losses.add_from(1, 3, 10);
        losses.add_at(1, 2, 5);
        losses.add_at(1, 4, 7);
        let mut other = Losses::default();
        other.add_from(1, 2, 1);
        losses.merge(&other);
        let found: Vec<u64> = (1..7).map(|n| losses.get(1, n)).collect();
        assert_eq!(found, [0, 6, 11, 18, 11, 11]);
        assert_eq!(losses.get(2, 3), 0);
    }
}
