//! The concise sample: subpaths and how often each was sampled, in bounded memory (OSP section 2.3, "Concise Samples and
//! Resampling"; the technique is Gibbons and Matias's).

use hashbrown::HashTable;

use super::draws::Draws;
use super::options::Rates;

/// Least footprint, in bytes.
pub const LEAST_FOOTPRINT: usize = 1 << 10;
/// Most, so that places in it fit 32 bits.
pub const MOST_FOOTPRINT: usize = 1 << 30;

/// Subpath, and counts by where they began.
#[derive(Clone, Debug)]
struct Entry {
    /// The identity, in two halves: so that an entry takes 20 bytes.
    key: [u32; 2],
    /// Where its description begins. It goes on to the next entry's.
    text: u32,
    elsewhere: u32,
    header: u32,
}

impl Entry {
    fn key(&self) -> u64 {
        u64::from(self.key[1]) << 32 | u64::from(self.key[0])
    }
}

/// One subpath of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sampled<'a> {
    pub key: u64,
    pub text: &'a [u8],
    pub elsewhere: u32,
    pub header: u32,
}

/// There is no room: resample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

/// Subpaths with counts. Entries and descriptions lie in the order of the subpaths' first samples, so that nothing depends
/// on where a hash table put what.
#[derive(Clone, Debug)]
pub(super) struct ConciseSample {
    entries: Vec<Entry>,
    index: HashTable<u32>,
    text: Vec<u8>,
    total: u64,
    most_entries: usize,
    footprint: usize,
    peak: usize,
}

/// Bytes of an index with so many buckets: each costs 4 bytes and a control byte; 16 control bytes are extra.
fn index_bytes(buckets: usize) -> usize {
    buckets * 5 + 16
}

/// Buckets that a table of so many bytes can have, entries included.
fn buckets(bytes: usize) -> usize {
    // 7/8 of the buckets are used at most.
    let fits = |buckets: usize| index_bytes(buckets) + buckets / 8 * 7 * size_of::<Entry>() <= bytes;
    let mut buckets = 8;
    while fits(2 * buckets) {
        buckets *= 2;
    }
    buckets
}

/// Most different subpaths in a footprint.
pub(super) fn capacity(footprint: usize) -> usize {
    buckets(footprint / 4 * 3) / 8 * 7
}

impl ConciseSample {
    /// Empty, never to exceed so many bytes. Memory is taken as it is needed.
    pub fn new(footprint: usize) -> Self {
        ConciseSample {
            entries: Vec::new(),
            index: HashTable::new(),
            text: Vec::new(),
            total: 0,
            most_entries: capacity(footprint),
            footprint,
            peak: 0,
        }
    }

    /// Sum of all counts.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Number of different subpaths.
    pub fn distinct(&self) -> usize {
        self.entries.len()
    }

    /// Bytes held, by capacity.
    pub fn bytes(&self) -> usize {
        let entries = self.entries.capacity() * size_of::<Entry>();
        entries + self.index.allocation_size() + self.text.capacity()
    }

    /// Most bytes ever held.
    pub fn peak(&self) -> usize {
        self.peak.max(self.bytes())
    }

    /// Bytes that one description may take.
    pub fn text_limit(&self) -> usize {
        // A quarter is left for descriptions at least. One may exceed the limit by one run, of 25 bytes at most.
        (self.footprint / 4 / 8).saturating_sub(25).max(16)
    }

    /// A subpath was sampled once more. `text` appends its description, if this is its first sample.
    pub fn add(&mut self, key: u64, header: bool, text: impl FnOnce(&mut Vec<u8>)) -> Result<(), Full> {
        let same = |&at: &u32| self.entries[at as usize].key() == key;
        let at = match self.index.find(key, same) {
            Some(&at) => at as usize,
            None => self.insert(key, text)?,
        };
        let entry = &mut self.entries[at];
        let count = if header {
            &mut entry.header
        } else {
            &mut entry.elsewhere
        };
        // 2^32 samples of one subpath would take a month.
        if let Some(more) = count.checked_add(1) {
            *count = more;
            self.total += 1;
        }
        Ok(())
    }

    fn insert(&mut self, key: u64, text: impl FnOnce(&mut Vec<u8>)) -> Result<usize, Full> {
        let at = self.entries.len();
        if at >= self.most_entries {
            return Err(Full);
        }
        // Written where there is room for sure, then looked at.
        let mut own = Vec::with_capacity(64);
        text(&mut own);
        let begin = self.text.len();
        let needed = begin + own.len();
        let entries = match self.entries.capacity() {
            full if full == at => (at + (at / 4).max(8)).min(self.most_entries),
            capacity => capacity,
        };
        // What the tables will take. Descriptions may have the rest.
        let buckets = (at + 1).div_ceil(7) * 8;
        let index = index_bytes(buckets.next_power_of_two()).max(self.index.allocation_size());
        let room = self
            .footprint
            .saturating_sub(entries * size_of::<Entry>() + index);
        if needed > room {
            return Err(Full);
        }
        if self.text.capacity() > room {
            self.text.shrink_to(room);
        }
        if needed > self.text.capacity() {
            let capacity = (2 * begin).max(needed).max(64).min(room);
            self.text.reserve_exact(capacity - begin);
        }
        self.entries.reserve_exact(entries - at);
        self.text.extend_from_slice(&own);
        self.entries.push(Entry {
            key: [key as u32, (key >> 32) as u32],
            text: begin as u32,
            elsewhere: 0,
            header: 0,
        });
        let entries = &self.entries;
        self.index
            .insert_unique(key, at as u32, |&at| entries[at as usize].key());
        self.peak = self.peak.max(self.bytes());
        Ok(at)
    }

    /// Each sample stays with these probabilities.
    pub fn thin(&mut self, draws: &mut Draws, keep: Rates) {
        let (mut kept, mut text_end, mut total) = (0, 0, 0);
        for at in 0..self.entries.len() {
            let text = self.text_of(at);
            let mut entry = self.entries[at].clone();
            entry.elsewhere = draws.survivors(u64::from(entry.elsewhere), keep.elsewhere) as u32;
            entry.header = draws.survivors(u64::from(entry.header), keep.header) as u32;
            if (entry.elsewhere, entry.header) == (0, 0) {
                continue;
            }
            total += u64::from(entry.elsewhere) + u64::from(entry.header);
            entry.text = text_end as u32;
            text_end += text.len();
            self.text.copy_within(text, entry.text as usize);
            self.entries[kept] = entry;
            kept += 1;
        }
        self.entries.truncate(kept);
        self.text.truncate(text_end);
        self.total = total;
        self.index.clear();
        let entries = &self.entries;
        for (at, entry) in entries.iter().enumerate() {
            self.index
                .insert_unique(entry.key(), at as u32, |&at| entries[at as usize].key());
        }
    }

    /// Forgets all. Memory stays.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.index.clear();
        self.text.clear();
        self.total = 0;
    }

    /// All subpaths, in the order of their first samples.
    pub fn iter(&self) -> impl Iterator<Item = Sampled<'_>> {
        self.entries.iter().enumerate().map(|(at, entry)| Sampled {
            key: entry.key(),
            text: &self.text[self.text_of(at)],
            elsewhere: entry.elsewhere,
            header: entry.header,
        })
    }

    fn text_of(&self, at: usize) -> std::ops::Range<usize> {
        let end = self
            .entries
            .get(at + 1)
            .map_or(self.text.len(), |next| next.text as usize);
        self.entries[at].text as usize..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_default_footprint_has_room_for_as_many_as_the_papers() {
        assert_eq!(capacity(64 << 10), 1792);
        assert_eq!(size_of::<Entry>(), 20);
    }

    proptest! {
        /// Against a plain map, through any sequence of additions and thinnings.
        #[test]
        fn is_a_map_of_counts_that_never_exceeds_its_footprint(
            footprint in LEAST_FOOTPRINT..6000,
            seed in any::<u64>(),
            steps in prop::collection::vec((0..400u64, any::<bool>(), 0..60usize), 1..600),
        ) {
            let mut draws = Draws::new(seed, 0);
            let mut sample = ConciseSample::new(footprint);
            let mut model: BTreeMap<u64, (u32, u32, Vec<u8>)> = BTreeMap::new();
            for (key, header, length) in steps {
                let text = vec![key as u8; length.min(sample.text_limit())];
                let keep = Rates { elsewhere: 0.6, header: 0.9 };
                while sample.add(key, header, |out| out.extend(&text)) == Err(Full) {
                    prop_assert!(!model.contains_key(&key), "known ones need no room");
                    sample.thin(&mut draws, keep);
                    let before = std::mem::take(&mut model);
                    for found in sample.iter() {
                        let (elsewhere, header, text) = &before[&found.key];
                        prop_assert!(found.elsewhere <= *elsewhere && found.header <= *header);
                        prop_assert_eq!(found.text, &text[..]);
                        model.insert(found.key, (found.elsewhere, found.header, text.clone()));
                    }
                }
                let entry = model.entry(key).or_insert((0, 0, text));
                if header { entry.1 += 1 } else { entry.0 += 1 }
                prop_assert!(sample.bytes() <= footprint && sample.peak() <= footprint);
            }
            prop_assert_eq!(sample.distinct(), model.len());
            prop_assert_eq!(sample.total(), model.values().map(|e| u64::from(e.0 + e.1)).sum::<u64>());
            for found in sample.iter() {
                let (elsewhere, header, text) = &model[&found.key];
                prop_assert_eq!((found.elsewhere, found.header, found.text), (*elsewhere, *header, &text[..]));
            }
        }
    }
}
