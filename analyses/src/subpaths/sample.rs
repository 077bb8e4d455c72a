//! The concise sample: subpaths and how often each was sampled, in bounded memory (OSP section 2.3, "Concise
//! Samples and Resampling"; the technique is Gibbons and Matias's).

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use super::draws::Draws;
use super::lengths::{MAGNITUDES, magnitude};
use super::options::Rates;
use super::runs;

/// Least footprint, in bytes.
pub const MIN_FOOTPRINT: usize = 1 << 10;
/// Most, so that places in it fit 32 bits.
pub const MAX_FOOTPRINT: usize = 1 << 30;

/// Subpath, and counts by where they began.
#[derive(Clone, Debug)]
struct Entry {
    /// The identity, in two halves: so that an entry takes 20 bytes.
    key: [u32; 2],
    /// Where its [record](ConciseSample::texts) begins; with [`UNDESCRIBED`], its length in blocks.
    text: u32,
    elsewhere: u32,
    header: u32,
}

/// It has no description.
const UNDESCRIBED: u32 = 1 << 31;

impl Entry {
    fn key(&self) -> u64 {
        u64::from(self.key[1]) << 32 | u64::from(self.key[0])
    }

    fn count(&self) -> u64 {
        u64::from(self.elsewhere) + u64::from(self.header)
    }

    /// How many began at a header, or elsewhere.
    fn count_of(&mut self, header: bool) -> &mut u32 {
        if header {
            &mut self.header
        } else {
            &mut self.elsewhere
        }
    }

    fn record(&self) -> Option<usize> {
        (self.text & UNDESCRIBED == 0).then_some(self.text as usize)
    }
}

/// One subpath of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sampled<'a> {
    pub key: u64,
    /// Its description; one without runs if there was no room for it.
    pub text: Cow<'a, [u8]>,
    pub elsewhere: u32,
    pub header: u32,
}

/// With a sliding window: an element of the sample, and when it began.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    /// In two halves, so that a stamp takes 12 bytes.
    begin: [u32; 2],
    /// Index of the entry, and [`HEADER`] if it counts as one that began at a header.
    of: u32,
}

const HEADER: u32 = 1 << 31;

impl Stamp {
    fn new(begin: u64, at: usize, header: bool) -> Self {
        Stamp {
            begin: [begin as u32, (begin >> 32) as u32],
            of: at as u32 | if header { HEADER } else { 0 },
        }
    }

    fn begin(self) -> u64 {
        u64::from(self.begin[1]) << 32 | u64::from(self.begin[0])
    }

    fn at(self) -> usize {
        (self.of & !HEADER) as usize
    }

    fn header(self) -> bool {
        self.of & HEADER != 0
    }
}

/// There is no room: resample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

/// Subpaths with counts, in the order of their first samples, so that nothing depends on where a hash table
/// put what.
///
/// **Descriptions.** Most of a sample of long subpaths came once, and descriptions take more than counts do.
/// So those that came once are described only while there is much room; then when they come again.
#[derive(Clone, Debug)]
pub(super) struct ConciseSample {
    entries: Vec<Entry>,
    index: HashTable<u32>,
    /// Records: index of the entry (4 bytes), bytes of the description (2), and these.
    texts: Vec<u8>,
    total: u64,
    /// With a sliding window: all elements, by their beginnings. Else none.
    stamps: VecDeque<Stamp>,
    /// How many of them there may be; 0 without a window.
    most_stamps: usize,
    most_entries: usize,
    footprint: usize,
    peak: usize,
}

/// Bytes before a description.
const HEAD: usize = 6;

/// Bytes of an index with this number of buckets: each costs 4 bytes and a control byte; 16 control bytes are
/// extra.
fn index_bytes(buckets: usize) -> usize {
    buckets * 5 + 16
}

/// Buckets that a table of this number of bytes can have, entries included.
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
    /// Empty, never to exceed this number of bytes. Memory is taken when needed.
    pub fn new(footprint: usize) -> Self {
        ConciseSample {
            entries: Vec::new(),
            index: HashTable::new(),
            texts: Vec::new(),
            total: 0,
            stamps: VecDeque::new(),
            most_stamps: 0,
            most_entries: capacity(footprint),
            footprint,
            peak: 0,
        }
    }

    /// The same, if elements are to leave by their age. So each of them takes some bytes: half of all are for
    /// these at most, so that there is always room for different ones.
    pub fn windowed(footprint: usize) -> Self {
        ConciseSample {
            most_stamps: footprint / 2 / size_of::<Stamp>(),
            ..ConciseSample::new(footprint)
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
        entries + self.index.allocation_size() + self.texts.capacity() + self.stamp_bytes()
    }

    /// Most bytes ever held.
    pub fn peak(&self) -> usize {
        self.peak.max(self.bytes())
    }

    fn stamp_bytes(&self) -> usize {
        self.stamps.capacity() * size_of::<Stamp>()
    }

    /// Bytes that one description may take.
    pub fn text_limit(&self) -> usize {
        // A quarter is left for descriptions at least. One may exceed the limit by one run, of 25 bytes at
        // most.
        (self.footprint / 4 / 8)
            .saturating_sub(25 + HEAD)
            .clamp(16, 60_000)
    }

    /// A subpath of `length` blocks, begun at `begin` (which says nothing without a window), was sampled once
    /// more. `text` appends its description, if that is wanted. Nothing is counted if there is no room.
    pub fn add(
        &mut self,
        key: u64,
        length: u32,
        header: bool,
        begin: u64,
        text: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Full> {
        self.room_for_stamp()?;
        let same = |&at: &u32| self.entries[at as usize].key() == key;
        let known = self.index.find(key, same).map(|&at| at as usize);
        let at = match known {
            Some(at) => at,
            None => self.insert(key, length)?,
        };
        let entry = &self.entries[at];
        if entry.record().is_none() {
            let again = entry.count() > 0;
            // While there is much room, at once.
            if again || self.texts.len() < self.footprint / 8 {
                self.describe(at, again, text)?;
            }
        }
        let count = self.entries[at].count_of(header);
        // 2^32 samples of one subpath would take a month.
        if let Some(more) = count.checked_add(1) {
            *count = more;
            self.total += 1;
            if self.most_stamps > 0 {
                // A longer one that began before may end later.
                let place = self.stamps.partition_point(|stamp| stamp.begin() <= begin);
                self.stamps.insert(place, Stamp::new(begin, at, header));
            }
        }
        self.peak = self.peak.max(self.bytes());
        Ok(())
    }

    /// Sees to it that one more stamp fits.
    fn room_for_stamp(&mut self) -> Result<(), Full> {
        let (count, capacity) = (self.stamps.len(), self.stamps.capacity());
        if self.most_stamps == 0 || count < capacity.min(self.most_stamps) {
            return Ok(());
        }
        if count >= self.most_stamps {
            return Err(Full);
        }
        let more = (count + (count / 4).max(8)).min(self.most_stamps);
        let others = self.entries.capacity() * size_of::<Entry>() + self.index.allocation_size();
        self.make_room(others + more * size_of::<Stamp>(), 0)?;
        self.stamps.reserve_exact(more - count);
        Ok(())
    }

    /// Takes everything that began before out of the window. Entries stay until [`sweep`](Self::sweep).
    pub fn expire(&mut self, before: u64) {
        while let Some(stamp) = self.stamps.front().filter(|stamp| stamp.begin() < before) {
            *self.entries[stamp.at()].count_of(stamp.header()) -= 1;
            self.total -= 1;
            self.stamps.pop_front();
        }
    }

    /// Drops entries that are empty, if that makes much room.
    pub fn sweep(&mut self) -> bool {
        let empty = self.entries.iter().filter(|entry| entry.count() == 0).count();
        let worth = empty > self.entries.len() / 8;
        if worth {
            self.compact(1);
        }
        worth
    }

    fn insert(&mut self, key: u64, length: u32) -> Result<usize, Full> {
        let at = self.entries.len();
        if at >= self.most_entries {
            return Err(Full);
        }
        let entries = match self.entries.capacity() {
            full if full == at => (at + (at / 4).max(8)).min(self.most_entries),
            capacity => capacity,
        };
        // What the tables will take. Descriptions may have the rest.
        let buckets = (at + 1).div_ceil(7) * 8;
        let index = index_bytes(buckets.next_power_of_two()).max(self.index.allocation_size());
        self.make_room(entries * size_of::<Entry>() + index + self.stamp_bytes(), 0)?;
        self.entries.reserve_exact(entries - at);
        self.entries.push(Entry {
            key: [key as u32, (key >> 32) as u32],
            text: UNDESCRIBED | length,
            elsewhere: 0,
            header: 0,
        });
        let entries = &self.entries;
        self.index
            .insert_unique(key, at as u32, |&at| entries[at as usize].key());
        Ok(at)
    }

    /// Makes `more` bytes of descriptions fit in addition to tables of that size, if need be by dropping
    /// those of subpaths that came once.
    fn make_room(&mut self, tables: usize, more: usize) -> Result<(), Full> {
        let room = self.footprint.checked_sub(tables).ok_or(Full)?;
        if self.texts.len() + more > room {
            self.drop_texts(|entry| entry.count() >= 2);
        }
        if self.texts.len() + more > room {
            return Err(Full);
        }
        if self.texts.capacity() > room {
            self.texts.shrink_to(room);
        }
        let needed = self.texts.len() + more;
        if needed > self.texts.capacity() {
            let capacity = (2 * self.texts.len()).max(needed).max(64).min(room);
            self.texts.reserve_exact(capacity - self.texts.len());
        }
        Ok(())
    }

    /// Describes an entry. If there is no room: an error if it `must` be, else nothing happens.
    fn describe(&mut self, at: usize, must: bool, text: impl FnOnce(&mut Vec<u8>)) -> Result<(), Full> {
        // Written where there is room for sure, then looked at.
        let mut own = Vec::with_capacity(64);
        text(&mut own);
        let Ok(bytes) = u16::try_from(own.len()) else {
            return Ok(());
        };
        let tables =
            self.entries.capacity() * size_of::<Entry>() + self.index.allocation_size() + self.stamp_bytes();
        match self.make_room(tables, HEAD + own.len()) {
            Err(Full) if must => return Err(Full),
            Err(Full) => return Ok(()),
            Ok(()) => {}
        }
        self.entries[at].text = self.texts.len() as u32;
        self.texts.extend_from_slice(&(at as u32).to_le_bytes());
        self.texts.extend_from_slice(&bytes.to_le_bytes());
        self.texts.extend_from_slice(&own);
        Ok(())
    }

    /// Drops all descriptions but those of entries that `keep` says.
    fn drop_texts(&mut self, keep: impl Fn(&Entry) -> bool) {
        let (mut from, mut to) = (0, 0);
        while let Some((owner, text)) = self.record(from) {
            let (owner, record) = (owner as usize, from..text.end);
            from = text.end;
            if keep(&self.entries[owner]) {
                self.entries[owner].text = to as u32;
                let bytes = record.len();
                self.texts.copy_within(record, to);
                to += bytes;
            } else {
                let length = runs::length(&self.texts[text]);
                self.entries[owner].text = UNDESCRIBED | length;
            }
        }
        self.texts.truncate(to);
    }

    /// The record at a place: whose it is, and where its description is.
    fn record(&self, at: usize) -> Option<(u32, Range<usize>)> {
        let (owner, rest) = self.texts.get(at..)?.split_first_chunk::<4>()?;
        let (bytes, _) = rest.split_first_chunk::<2>()?;
        let begin = at + HEAD;
        let end = begin + usize::from(u16::from_le_bytes(*bytes));
        Some((u32::from_le_bytes(*owner), begin..end))
    }

    /// Length of an entry's subpath, and the bytes of its record.
    fn length_and_record(&self, entry: &Entry) -> (u32, usize) {
        match entry.record().and_then(|at| self.record(at)) {
            Some((_, text)) => (runs::length(&self.texts[text.clone()]), HEAD + text.len()),
            None => (entry.text & !UNDESCRIBED, 0),
        }
    }

    /// Which [magnitude](magnitude) of lengths takes most bytes; of equals the longest.
    pub fn heaviest(&self) -> usize {
        let mut bytes = [0; MAGNITUDES];
        for entry in &self.entries {
            let (length, record) = self.length_and_record(entry);
            bytes[magnitude(length)] += size_of::<Entry>() + record;
            if self.most_stamps > 0 {
                bytes[magnitude(length)] += entry.count() as usize * size_of::<Stamp>();
            }
        }
        (0..MAGNITUDES).max_by_key(|&at| bytes[at]).unwrap_or(0)
    }

    /// Each sample stays with these probabilities, by the magnitude of its length; all stay where there are
    /// none.
    pub fn thin(&mut self, draws: &mut Draws, keep: impl Fn(usize) -> Option<Rates>) {
        if self.most_stamps > 0 {
            self.thin_stamps(draws, &keep);
            self.compact(2);
            return;
        }
        for at in 0..self.entries.len() {
            let (length, _) = self.length_and_record(&self.entries[at]);
            let Some(keep) = keep(magnitude(length)) else {
                continue;
            };
            let entry = &mut self.entries[at];
            entry.elsewhere = draws.survivors(u64::from(entry.elsewhere), keep.elsewhere) as u32;
            entry.header = draws.survivors(u64::from(entry.header), keep.header) as u32;
        }
        self.compact(2);
    }

    /// Each element stays or goes independently: chance decides which, so that it is known when those that
    /// stay began.
    fn thin_stamps(&mut self, draws: &mut Draws, keep: &impl Fn(usize) -> Option<Rates>) {
        let mut stamps = std::mem::take(&mut self.stamps);
        stamps.retain(|stamp| {
            let (length, _) = self.length_and_record(&self.entries[stamp.at()]);
            let stays = keep(magnitude(length)).is_none_or(|keep| draws.chance(keep.get(stamp.header())));
            if !stays {
                *self.entries[stamp.at()].count_of(stamp.header()) -= 1;
            }
            stays
        });
        self.stamps = stamps;
    }

    /// Drops entries that are empty, and descriptions of those below a count.
    fn compact(&mut self, least: u64) {
        self.drop_texts(|entry| entry.count() >= least);
        let (mut kept, mut total) = (0, 0);
        // Where entries go, for their stamps.
        let mut moved = match self.most_stamps {
            0 => Vec::new(),
            _ => vec![0; self.entries.len()],
        };
        for at in 0..self.entries.len() {
            let entry = self.entries[at].clone();
            if entry.count() == 0 {
                continue;
            }
            total += entry.count();
            if let Some(record) = entry.record() {
                // Its owner moves.
                self.texts[record..record + 4].copy_from_slice(&(kept as u32).to_le_bytes());
            }
            self.entries[kept] = entry;
            if let Some(to) = moved.get_mut(at) {
                *to = kept;
            }
            kept += 1;
        }
        self.entries.truncate(kept);
        self.total = total;
        for stamp in &mut self.stamps {
            *stamp = Stamp::new(stamp.begin(), moved[stamp.at()], stamp.header());
        }
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
        self.texts.clear();
        self.stamps.clear();
        self.total = 0;
    }

    /// All subpaths of elements that did not begin `before`, in the order of their first samples.
    pub fn since(&self, before: u64) -> impl Iterator<Item = Sampled<'_>> {
        let mut gone: FxHashMap<usize, [u32; 2]> = FxHashMap::default();
        for stamp in self.stamps.iter().take_while(|stamp| stamp.begin() < before) {
            gone.entry(stamp.at()).or_default()[usize::from(stamp.header())] += 1;
        }
        let left = self.iter().enumerate().map(move |(at, mut found)| {
            let [elsewhere, header] = gone.get(&at).copied().unwrap_or_default();
            found.elsewhere -= elsewhere;
            found.header -= header;
            found
        });
        left.filter(|found| found.elsewhere + found.header > 0)
    }

    /// All subpaths, in the order of their first samples; with a window also those whose elements have left.
    pub fn iter(&self) -> impl Iterator<Item = Sampled<'_>> {
        self.entries.iter().map(|entry| {
            let record = entry.record().and_then(|at| self.record(at));
            let text = match record {
                Some((_, text)) => Cow::Borrowed(&self.texts[text]),
                None => {
                    let mut bare = Vec::new();
                    runs::pack(entry.text & !UNDESCRIBED, &[], 0, &mut bare);
                    Cow::Owned(bare)
                }
            };
            Sampled {
                key: entry.key(),
                text,
                elsewhere: entry.elsewhere,
                header: entry.header,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn sixty_four_kilobytes_have_room_for_as_many_as_the_papers() {
        assert_eq!(capacity(64 << 10), 1792);
        assert_eq!(size_of::<Entry>(), 20);
    }

    proptest! {
        /// Against a plain map, through any sequence of additions and thinnings.
        #[test]
        fn is_a_map_of_counts_that_never_exceeds_its_footprint(
            footprint in MIN_FOOTPRINT..6000,
            seed in any::<u64>(),
            steps in prop::collection::vec((0..400u64, any::<bool>(), 0..60usize), 1..600),
        ) {
            let mut draws = Draws::new(seed, 0);
            let mut sample = ConciseSample::new(footprint);
            // Counts, and a description in full: its length in blocks, and bytes of the key.
            let mut model: BTreeMap<u64, (u32, u32, Vec<u8>)> = BTreeMap::new();
            for (key, header, more) in steps {
                let length = key as u32 % 100 + 2;
                let mut text = vec![length as u8];
                text.extend(vec![key as u8; more.min(sample.text_limit() - 1)]);
                let keep = Rates { elsewhere: 0.6, header: 0.9 };
                let whole = model.entry(key).or_insert((0, 0, text)).2.clone();
                while sample.add(key, length, header, 0, |out| out.extend(&whole)) == Err(Full) {
                    sample.thin(&mut draws, |_| Some(keep));
                    let before = std::mem::take(&mut model);
                    for found in sample.iter() {
                        let (elsewhere, header, text) = &before[&found.key];
                        prop_assert!(found.elsewhere <= *elsewhere && found.header <= *header);
                        model.insert(found.key, (found.elsewhere, found.header, text.clone()));
                    }
                    model.entry(key).or_insert((0, 0, whole.clone()));
                }
                let entry = model.get_mut(&key).unwrap();
                if header { entry.1 += 1 } else { entry.0 += 1 }
                prop_assert!(sample.bytes() <= footprint && sample.peak() <= footprint);
            }
            prop_assert_eq!(sample.distinct(), model.len());
            prop_assert_eq!(sample.total(), model.values().map(|e| u64::from(e.0 + e.1)).sum::<u64>());
            for found in sample.iter() {
                let (elsewhere, header, text) = &model[&found.key];
                prop_assert_eq!((found.elsewhere, found.header), (*elsewhere, *header));
                prop_assert_eq!(runs::length(&found.text), found.key as u32 % 100 + 2);
                // What came twice is described.
                if elsewhere + header > 1 || found.text.len() > 1 {
                    prop_assert_eq!(&found.text[..], &text[..]);
                }
            }
        }
    }

    #[test]
    fn what_came_once_is_described_while_there_is_much_room() {
        let mut sample = ConciseSample::new(4096);
        let describe = |out: &mut Vec<u8>| out.extend([7; 40]);
        let described = |sample: &ConciseSample| sample.iter().filter(|found| found.text.len() == 40).count();
        (0..5).for_each(|key| sample.add(key, 7, false, 0, describe).unwrap());
        assert_eq!(described(&sample), 5);
        (5..50).for_each(|key| sample.add(key, 7, false, 0, describe).unwrap());
        assert!((10..20).contains(&described(&sample)), "{}", described(&sample));
        // All of those that come again are, if the others make room.
        (20..45).for_each(|key| sample.add(key, 7, true, 0, describe).unwrap());
        let again: Vec<Sampled> = sample
            .iter()
            .filter(|found| (20..45).contains(&found.key))
            .collect();
        assert!(again.len() == 25 && again.iter().all(|found| found.text.len() == 40));
        assert!(sample.peak() <= 4096);
    }
}
