//! Two flat hash tables with linear probing, at most half full. Nothing is ever removed but everything at
//! once.

use super::arena::NONE;

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Both halves of the product: every bit of `a` and `b` gets into every bit.
#[inline(always)]
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Number of a slot for a hash: its upper bits.
#[inline(always)]
fn slot(hash: u32, shift: u32) -> usize {
    (hash >> shift) as usize
}

const LEAST: usize = 16;

fn shift(slots: usize) -> u32 {
    32 - slots.trailing_zeros()
}

/// Finds things that are kept elsewhere by a hash of 32 bits, as 32-bit indices.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// Hash (upper half) and index; the index is [`NONE`] in an empty slot.
    slots: Vec<u64>,
    len: usize,
    shift: u32,
}

const EMPTY: u64 = NONE as u64;

impl Index {
    /// The index with this hash for which `is` holds.
    #[inline]
    pub fn find(&self, hash: u32, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = slot(hash, self.shift);
        loop {
            let entry = self.slots[at & mask];
            if entry == EMPTY {
                return None;
            }
            if (entry >> 32) as u32 == hash && is(entry as u32) {
                return Some(entry as u32);
            }
            at += 1;
        }
    }

    /// Adds an index that is not in it, other than [`NONE`].
    pub fn insert(&mut self, hash: u32, index: u32) {
        if self.slots.len() <= 2 * self.len {
            let slots = (2 * self.slots.len()).max(LEAST);
            let old = std::mem::replace(&mut self.slots, vec![EMPTY; slots]);
            self.shift = shift(slots);
            for entry in old.into_iter().filter(|&entry| entry != EMPTY) {
                self.put(entry);
            }
        }
        self.put(u64::from(hash) << 32 | u64::from(index));
        self.len += 1;
    }

    fn put(&mut self, entry: u64) {
        let mask = self.slots.len() - 1;
        let mut at = slot((entry >> 32) as u32, self.shift);
        while self.slots[at & mask] != EMPTY {
            at += 1;
        }
        self.slots[at & mask] = entry;
    }

    pub fn clear(&mut self) {
        self.slots.fill(EMPTY);
        self.len = 0;
    }

    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }
}

/// Counters by 64-bit keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    /// Key and count; 0 in an empty slot.
    slots: Vec<(u64, u64)>,
    len: usize,
    shift: u32,
}

impl Counters {
    #[inline]
    pub fn increment(&mut self, key: u64) {
        if let Some(slot) = self.slot(key) {
            let entry = &mut self.slots[slot];
            if entry.1 != 0 {
                entry.1 += 1;
                return;
            }
        }
        self.insert(key);
    }

    /// Where the key is or, if it is not there, would be. `None` in a table without slots.
    #[inline]
    fn slot(&self, key: u64) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = slot((mix(key, MULTIPLIER) >> 32) as u32, self.shift);
        loop {
            let (other, count) = self.slots[at & mask];
            if count == 0 || other == key {
                return Some(at & mask);
            }
            at += 1;
        }
    }

    #[cold]
    fn insert(&mut self, key: u64) {
        if self.slots.len() <= 2 * self.len {
            let slots = (2 * self.slots.len()).max(LEAST);
            let old = std::mem::replace(&mut self.slots, vec![(0, 0); slots]);
            self.shift = shift(slots);
            for entry in old.into_iter().filter(|entry| entry.1 != 0) {
                if let Some(slot) = self.slot(entry.0) {
                    self.slots[slot] = entry;
                }
            }
        }
        if let Some(slot) = self.slot(key) {
            self.slots[slot] = (key, 1);
            self.len += 1;
        }
    }

    /// Keys and counts, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.slots.iter().copied().filter(|entry| entry.1 != 0)
    }

    pub fn clear(&mut self) {
        self.slots.fill((0, 0));
        self.len = 0;
    }

    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<(u64, u64)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count() {
        let mut counters = Counters::default();
        let key = |i: u64| (i << 36) | (i % 7);
        for round in 0..3 {
            for i in (0..1000).filter(|i| i % 3 >= round) {
                counters.increment(key(i));
            }
        }
        let mut all: Vec<_> = counters.iter().collect();
        all.sort_unstable();
        let expected: Vec<_> = (0..1000).map(|i| (key(i), i % 3 + 1)).collect();
        assert_eq!(all, expected);
        counters.clear();
        counters.increment(0);
        assert_eq!(counters.iter().collect::<Vec<_>>(), [(0, 1)]);
    }

    /// Equal hashes too, and the last slots.
    #[test]
    fn an_index_finds_what_was_put_in() {
        let mut index = Index::default();
        assert_eq!(index.find(1, |_| true), None);
        let hash = |i: u32| u32::MAX - (i / 4) * 1000;
        for i in 0..500 {
            assert_eq!(index.find(hash(i), |other| other == i), None);
            index.insert(hash(i), i);
        }
        assert!((0..500).all(|i| index.find(hash(i), |other| other == i) == Some(i)));
        assert_eq!(index.find(hash(3), |_| false), None);
        index.clear();
        assert_eq!(index.find(hash(3), |_| true), None);
    }
}
