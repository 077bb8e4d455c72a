//! Pairs of chunks: what a k-slab forest counts, found with one step per chunk instead of one per path.

mod keys;

use super::activation::PathSink;
use super::arena::NONE;
use super::slab::SlabForest;
use super::tables::{Counters, Index};
use super::trees::Labels;
use super::{ForestError, IterationForest};
use keys::{Item, equal, hash, hash_of_both, key_of_only, pack, unpack};

/// Most paths of a chunk that is longer than `k - 1`. Long ones save work where paths repeat; where they do
/// not, there are more and more different ones, until they do not fit into the CPU's caches.
const CHUNK: u32 = 10;

/// Bytes that chunks longer than `k - 1` may take before they are folded.
const ROOM: usize = 8 << 20;

/// Where fewer than two of three guesses of the next chunk come true, guessing stops for [`SKIP`] chunks.
const GUESS_CREDIT: i32 = 8;
const SKIP: u32 = 100;

/// A chunk after another, or an activation's first one.
#[derive(Clone, Debug)]
struct Pair {
    count: u64,
    /// The chunk before; [`NONE`] for a first one.
    before: u32,
    chunk: u32,
    /// Paths in `chunk`.
    len: u32,
    /// Their hash.
    hash: u32,
    /// The pair that came next when this one was last seen, if its chunk was not the activation's end.
    next: u32,
    /// The same for an activation's last chunk.
    last: u32,
}

/// Where an activation stands. Belongs to the [`ChunkPairs`] that began it.
#[derive(Clone, Debug)]
pub struct OpenChunks {
    method: u32,
    /// The pair of the last full chunk; [`NONE`] in the first chunk.
    pair: u32,
    /// The hash of that chunk.
    hash: u32,
    /// Paths of its next full chunk.
    length: u32,
    /// Its paths since then begin here in `pending`.
    from: usize,
}

/// How often each two chunks followed each other: everything that a [`SlabForest`] knows, much faster to
/// update.
///
/// A k-slab forest cuts an activation into chunks of `k - 1` paths (k-BLPP definition 3), and counts for each
/// path the chunk before and its own chunk so far. These counters follow from how often each *pair* of chunks
/// occurred, an activation's last chunk being shorter. So paths are only put aside until a chunk is full, and
/// then
///
/// * compared with the chunk that followed last time. If it is the same, its pair is counted: no hash, no
///   look-up. (Where that guess is seldom right, it is not made.)
/// * Else the pair is looked up by the hashes of both chunks; only if it is new, the chunk alone is looked
///   up.
///
/// Where `k` is small, chunks are some multiple of `k - 1`: the slab forest's chunks are then found inside.
/// Long chunks that hardly repeat would fill the memory with what a small `k` does not ask for. So when they
/// take much of it, they are *folded*: added to a slab forest, and forgotten; and if they were rare, chunks
/// are shorter from there on.
///
/// Activations of up to four paths are counted as a whole, by a key that holds the method and all of its
/// paths (if they are small numbers).
///
/// The open activations form *one* stack: only the paths of the last one begun can be added.
#[derive(Clone, Debug)]
pub struct ChunkPairs {
    k: u32,
    /// Paths of a full chunk: a multiple of `k - 1`.
    chunk: u32,
    labels: Labels,
    /// Chunks: [`HEADER`] numbers, then the labels. A chunk is known by where it begins.
    chunks: Vec<u32>,
    chunk_index: Index,
    pairs: Vec<Pair>,
    pair_index: Index,
    whole: Counters,
    /// Paths of the open activations that are in no chunk yet.
    pending: Vec<u32>,
    folded: Option<Box<SlabForest>>,
    /// Bytes at which chunks are folded.
    room: usize,
    full: bool,
    /// How well guesses went of late, and how many chunks to go without.
    credit: i32,
    skip: u32,
    dropped: u64,
}

/// Offsets from a chunk's beginning.
const METHOD: usize = 0;
const LEN: usize = 1;
/// The pair of this chunk as an activation's first one.
const FIRST: usize = 2;
const HEADER: usize = 3;

impl ChunkPairs {
    /// Nothing, for sequences of up to `k` paths. Fails unless `k` is one that [`SlabForest::new`] takes.
    pub fn new(k: u32) -> Result<Self, ForestError> {
        SlabForest::new(k)?;
        Ok(ChunkPairs {
            k,
            chunk: (CHUNK / (k - 1)).max(1) * (k - 1),
            labels: Labels::default(),
            chunks: Vec::new(),
            chunk_index: Index::default(),
            pairs: Vec::new(),
            pair_index: Index::default(),
            whole: Counters::default(),
            pending: Vec::new(),
            folded: None,
            room: ROOM,
            full: false,
            credit: GUESS_CREDIT,
            skip: 0,
            dropped: 0,
        })
    }

    /// Like [`new`](Self::new), but with other lengths of chunks: `times` times `k - 1` paths, folded when
    /// they take `room` bytes. The result is the same.
    pub fn with_chunks(k: u32, times: u32, room: usize) -> Result<Self, ForestError> {
        let mut pairs = ChunkPairs::new(k)?;
        pairs.chunk = times.clamp(1, 1 << 10) * (k - 1);
        pairs.room = room;
        Ok(pairs)
    }

    /// Longest sequence that is counted, in paths.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Bytes held: chunks, pairs, tables, what was folded; spare capacity included.
    pub fn bytes(&self) -> u64 {
        let folded = self.folded.as_ref().map_or(0, |folded| folded.size().1);
        let pending = self.pending.capacity() * size_of::<u32>();
        (self.chunk_bytes() + self.whole.bytes() + self.labels.bytes() + pending) as u64 + folded
    }

    /// Different pairs of chunks, and different whole activations counted by a key.
    pub fn entries(&self) -> (usize, usize) {
        (self.pairs.len(), self.whole.iter().count())
    }

    /// Paths in no counter, because there was no room for more different ones.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The slab forest of all paths: also of the ones that `open`, the stack of open activations, are in the
    /// middle of.
    pub fn slab_forest(&self, open: &[OpenChunks]) -> Result<SlabForest, ForestError> {
        let mut forest = SlabForest::new(self.k)?;
        self.add_to(open, &mut forest)?;
        Ok(forest)
    }

    /// The k-IPF of all paths.
    pub fn iteration_forest(&self, open: &[OpenChunks]) -> Result<IterationForest, ForestError> {
        Ok(IterationForest::from_slabs(&self.slab_forest(open)?))
    }

    /// Adds [`slab_forest`](Self::slab_forest) to another. Fails if `k` differs or if there would be too many
    /// nodes (part of it has been added then).
    pub fn add_to(&self, open: &[OpenChunks], forest: &mut SlabForest) -> Result<(), ForestError> {
        if self.k != forest.k() {
            return Err(ForestError::DifferentK(self.k, forest.k()));
        }
        if let Some(folded) = &self.folded {
            forest.merge(folded)?;
        }
        let full = ForestError::Full(forest.trees.arena.limit());
        if self.fold_into(forest) > 0 {
            return Err(full);
        }
        for (index, activation) in open.iter().enumerate() {
            let to = open.get(index + 1).map_or(self.pending.len(), |next| next.from);
            let paths = self.pending.get(activation.from..to).unwrap_or(&[]);
            let before = self.pairs.get(activation.pair as usize);
            let before = before.map_or(NONE, |pair| pair.chunk);
            self.add_chunk(forest, activation.method, before, paths, 1)
                .ok_or(full.clone())?;
        }
        forest.dropped += self.dropped;
        Ok(())
    }

    /// Adds everything but what was folded before and what is pending. Returns how many paths found no room.
    fn fold_into(&self, forest: &mut SlabForest) -> u64 {
        let mut dropped = 0;
        for pair in self.pairs.iter().filter(|pair| pair.count > 0) {
            let (method, paths) = (
                self.chunks[pair.chunk as usize + METHOD],
                self.labels_of(pair.chunk),
            );
            if self
                .add_chunk(forest, method, pair.before, paths, pair.count)
                .is_none()
            {
                dropped += pair.count * u64::from(pair.len);
            }
        }
        for (key, count) in self.whole.iter() {
            let (method, paths, len) = unpack(key);
            if self
                .add_chunk(forest, method, NONE, &paths[..len], count)
                .is_none()
            {
                dropped += count * len as u64;
            }
        }
        dropped
    }

    fn add_chunk(
        &self,
        forest: &mut SlabForest,
        method: u32,
        before: u32,
        paths: &[u32],
        count: u64,
    ) -> Option<()> {
        let before = match before {
            NONE => &[],
            before => self.labels_of(before),
        };
        // Of a longer chunk, the slab forest's last one.
        let before = &before[before.len().saturating_sub(self.k as usize - 1)..];
        let path = |&label: &u32| self.labels.path(label);
        forest.add_chunk(method, before.iter().map(path), paths.iter().map(path), count)
    }

    fn labels_of(&self, chunk: u32) -> &[u32] {
        let at = chunk as usize;
        let len = self.chunks[at + LEN] as usize;
        &self.chunks[at + HEADER..][..len]
    }

    fn chunk_bytes(&self) -> usize {
        self.chunks.capacity() * size_of::<u32>()
            + self.pairs.capacity() * size_of::<Pair>()
            + self.chunk_index.bytes()
            + self.pair_index.bytes()
    }

    /// A chunk of an activation: the last one, or a full one.
    #[inline]
    fn count<I: Item>(&mut self, open: &mut OpenChunks, items: &[I], last: bool) {
        open.length = self.chunk;
        if self.skip > 0 {
            self.skip -= 1;
            return self.look_up(open, items, last);
        }
        if let Some(pair) = self.pairs.get(open.pair as usize) {
            let likely = if last { pair.last } else { pair.next };
            if let Some(next) = self.pairs.get_mut(likely as usize)
                && next.len as usize == items.len()
                && equal(&self.chunks[next.chunk as usize + HEADER..], items)
            {
                next.count += 1;
                open.pair = likely;
                open.hash = next.hash;
                self.credit = (self.credit + 1).min(2 * GUESS_CREDIT);
                return;
            }
            self.credit -= 2;
            if self.credit < 0 {
                (self.credit, self.skip) = (GUESS_CREDIT, SKIP);
            }
        }
        self.look_up(open, items, last);
    }

    #[inline(never)]
    fn look_up<I: Item>(&mut self, open: &mut OpenChunks, items: &[I], last: bool) {
        let hash = hash(open.method, items);
        let Some(pair) = self.find(hash, open, items) else {
            // No room for all of them: the activation continues as a new one.
            self.dropped += items.len() as u64;
            open.pair = NONE;
            return;
        };
        self.pairs[pair as usize].count += 1;
        open.hash = hash;
        if let Some(previous) = self.pairs.get_mut(open.pair as usize) {
            if last {
                previous.last = pair
            } else {
                previous.next = pair
            }
        }
        open.pair = pair;
    }

    /// The pair of the activation's last chunk and this one, made if there is none.
    ///
    /// A known pair is found by both chunks' hashes. So where to look does not depend on what the last
    /// look-up found, and the CPU works on several chunks at once.
    #[inline(always)]
    fn find<I: Item>(&mut self, hash: u32, open: &OpenChunks, items: &[I]) -> Option<u32> {
        let Some(previous) = self.pairs.get(open.pair as usize) else {
            let chunk = self.find_chunk(hash, open.method, items)?;
            let first = self.chunks[chunk as usize + FIRST];
            if first != NONE {
                return Some(first);
            }
            let first = self.add_pair(NONE, chunk, items.len(), hash)?;
            self.chunks[chunk as usize + FIRST] = first;
            return Some(first);
        };
        let before = previous.chunk;
        let both = hash_of_both(open.hash, hash);
        let (pairs, chunks) = (&self.pairs, &self.chunks);
        let known = self.pair_index.find(both, |at| {
            let pair = &pairs[at as usize];
            pair.before == before
                && pair.len as usize == items.len()
                && equal(&chunks[pair.chunk as usize + HEADER..], items)
        });
        if known.is_some() {
            return known;
        }
        let chunk = self.find_chunk(hash, open.method, items)?;
        let pair = self.add_pair(before, chunk, items.len(), hash)?;
        self.pair_index.insert(both, pair);
        Some(pair)
    }

    /// The chunk with these paths, made if there is none.
    #[inline(never)]
    fn find_chunk<I: Item>(&mut self, hash: u32, method: u32, items: &[I]) -> Option<u32> {
        let chunks = &self.chunks;
        let known = self.chunk_index.find(hash, |at| {
            let at = at as usize;
            chunks[at + METHOD] == method
                && chunks[at + LEN] as usize == items.len()
                && equal(&chunks[at + HEADER..], items)
        });
        match known {
            Some(_) => known,
            None => self.add(hash, method, items),
        }
    }

    fn add<I: Item>(&mut self, hash: u32, method: u32, items: &[I]) -> Option<u32> {
        let chunk = self.chunks.len();
        if chunk + HEADER + items.len() >= NONE as usize {
            return None;
        }
        self.chunks.extend([method, items.len() as u32, NONE]);
        self.chunks.extend(items.iter().map(|item| item.label()));
        self.chunk_index.insert(hash, chunk as u32);
        Some(chunk as u32)
    }

    fn add_pair(&mut self, before: u32, chunk: u32, len: usize, hash: u32) -> Option<u32> {
        let pair = u32::try_from(self.pairs.len())
            .ok()
            .filter(|&pair| pair != NONE)?;
        self.pairs.push(Pair {
            count: 0,
            before,
            chunk,
            len: len as u32,
            hash,
            next: NONE,
            last: NONE,
        });
        // Of chunks of k - 1 paths there are no more pairs than nodes that they would be folded into.
        let bytes = self.chunks.len() * size_of::<u32>() + self.pairs.len() * (size_of::<Pair>() + 16);
        self.full = self.chunk > self.k - 1 && bytes > self.room;
        Some(pair)
    }

    #[inline]
    fn end_with<I: Item>(&mut self, open: &mut OpenChunks, items: &[I]) {
        if items.is_empty() {
            return;
        }
        if open.pair == NONE
            && let Some(key) = pack(open.method, items)
        {
            self.whole.increment(key);
            return;
        }
        self.count(open, items, true);
    }

    #[inline]
    fn count_pending(&mut self, open: &mut OpenChunks, last: bool) {
        let pending = std::mem::take(&mut self.pending);
        if last {
            self.end_with(open, &pending[open.from..])
        } else {
            self.count(open, &pending[open.from..], false)
        }
        self.pending = pending;
        self.pending.truncate(open.from);
    }
}

impl PathSink for ChunkPairs {
    type Activation = OpenChunks;
    // They are counted as a whole.
    const COMMUTES: bool = true;

    #[inline]
    fn begin(&self, method: u32) -> OpenChunks {
        OpenChunks {
            method,
            pair: NONE,
            hash: 0,
            length: self.chunk,
            from: self.pending.len(),
        }
    }

    #[inline]
    fn path(&mut self, open: &mut OpenChunks, path: u64) {
        let Some(label) = self.labels.label(path) else {
            self.count_pending(open, true);
            self.dropped += 1;
            open.pair = NONE;
            return;
        };
        self.pending.push(label);
        if self.pending.len() - open.from >= open.length as usize {
            self.count_pending(open, false);
        }
    }

    #[inline]
    fn paths(&mut self, open: &mut OpenChunks, words: &[u64]) {
        let mut rest = words;
        let length = open.length as usize;
        let pending = self.pending.len() - open.from;
        if pending > 0 {
            let (head, tail) = rest.split_at(rest.len().min(length - pending));
            self.pending.extend(head.iter().map(|word| word.label()));
            if pending + head.len() < length {
                return;
            }
            self.count_pending(open, false);
            rest = tail;
        }
        while let Some((chunk, tail)) = rest.split_at_checked(open.length as usize) {
            self.count(open, chunk, false);
            rest = tail;
        }
        self.pending.extend(rest.iter().map(|word| word.label()));
    }

    #[inline]
    fn end(&mut self, mut open: OpenChunks) {
        if self.pending.len() > open.from {
            self.count_pending(&mut open, true);
        }
    }

    #[inline]
    fn activation(&mut self, method: u32, words: &[u64]) {
        let mut open = self.begin(method);
        let mut rest = words;
        while let Some((chunk, tail)) = rest.split_at_checked(open.length as usize) {
            self.count(&mut open, chunk, false);
            rest = tail;
        }
        self.end_with(&mut open, rest);
    }

    #[inline]
    fn only_paths(&mut self, words: &[u64]) {
        for &word in words {
            self.whole.increment(key_of_only(word));
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.full
    }

    #[cold]
    fn make_room(&mut self, open: &mut [OpenChunks]) {
        let paths: u64 = self.pairs.iter().map(|pair| pair.count).sum();
        let mut folded = match self.folded.take() {
            Some(folded) => folded,
            None => match SlabForest::new(self.k) {
                Ok(forest) => Box::new(forest),
                Err(_) => return,
            },
        };
        self.dropped += self.fold_into(&mut folded);
        self.folded = Some(folded);
        // The last chunk of each open activation is needed: to know what the next one comes after.
        let last = |open: &OpenChunks| match self.pairs.get(open.pair as usize) {
            Some(pair) => self.labels_of(pair.chunk).to_vec(),
            None => Vec::new(),
        };
        let chunks: Vec<Vec<u32>> = open.iter().map(last).collect();
        if paths < 8 * self.pairs.len() as u64 {
            let least = self.k - 1;
            self.chunk = (self.chunk / 2 / least).max(1) * least;
        }
        self.chunks.clear();
        self.chunk_index.clear();
        self.pairs.clear();
        self.pair_index.clear();
        self.whole.clear();
        for (open, chunk) in open.iter_mut().zip(chunks) {
            open.pair = NONE;
            if !chunk.is_empty() {
                // A pair that did not occur: it represents the chunk.
                open.hash = hash(open.method, &chunk);
                open.pair = self.find(open.hash, open, &chunk).unwrap_or(NONE);
            }
        }
        self.full = false;
    }
}
