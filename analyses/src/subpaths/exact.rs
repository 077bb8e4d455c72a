//! Every subpath counted: the yardstick (OSP section 3.1, table 1 and "Accuracy of Results").

use rustc_hash::FxHashMap;

use trodden_profile::options::SubpathIdentity;

use super::identity::identity;
use super::order::BlockStream;
use super::runs::Run;
use super::shapes::PathShapes;

/// Counts all subpaths of some lengths, of one thread.
///
/// Time: a look-up per block and length. Memory: 24 bytes or so per different window onto the stream. Where
/// that becomes too much, the longest lengths are given up, one after the other.
#[derive(Clone, Debug)]
pub struct ExactSubpaths {
    identity: SubpathIdentity,
    lengths: Vec<ByLength>,
    /// The latest blocks; the last `known` of them without a hole between.
    recent: Vec<u64>,
    known: usize,
    longest: usize,
    blocks: u64,
    most_windows: usize,
    windows: usize,
    path: Vec<u32>,
    /// Windows that came for the second time since they were last asked for, if they ever are.
    again: Option<Vec<Again>>,
}

/// A window that came for the second time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Again {
    /// The identity of its blocks.
    pub key: u64,
    /// Blocks.
    pub length: u32,
    /// Number of its last block, counted from 1.
    pub end: u64,
}

/// Exact counts, of any number of threads.
#[derive(Clone, Debug, Default)]
pub struct ExactCounts {
    /// The lengths that were counted.
    lengths: Vec<u32>,
    classes: FxHashMap<u64, Class>,
    blocks: u64,
}

#[derive(Clone, Debug)]
struct ByLength {
    length: usize,
    /// [`BASE`] to the power of the length.
    power: u64,
    /// Rolling hash of the latest `length` blocks.
    hash: u64,
    /// By the hash of a window: how often it came, and the identity of its blocks.
    windows: FxHashMap<u64, (u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Class {
    length: u32,
    count: u64,
}

/// A prime: hashes are polynomials modulo it, so that no sequence of blocks is a bad one but by chance.
const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0b5e_ed29_71c8_43a7;

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    plus(product as u64 & PRIME, (product >> 61) as u64)
}

/// A block as a digit that is not 0.
fn digit(block: u64) -> u64 {
    block % (PRIME - 1) + 1
}

fn plus(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

impl ExactSubpaths {
    /// Counts subpaths of these lengths (0 is left out), while there are at most `most_windows` different
    /// windows.
    pub fn new(lengths: &[u32], identity: SubpathIdentity, most_windows: usize) -> Self {
        let mut lengths: Vec<usize> = lengths.iter().map(|&n| n as usize).filter(|&n| n > 0).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let by_length = |&length: &usize| ByLength {
            length,
            power: (0..length).fold(1, |power, _| times(power, BASE)),
            hash: 0,
            windows: FxHashMap::default(),
        };
        ExactSubpaths {
            identity,
            longest: lengths.last().copied().unwrap_or(0),
            lengths: lengths.iter().map(by_length).collect(),
            recent: Vec::new(),
            known: 0,
            blocks: 0,
            most_windows,
            windows: 0,
            path: Vec::new(),
            again: None,
        }
    }

    /// Takes note of windows that come for the second time, for [`again`](Self::again).
    pub(super) fn noting(mut self) -> Self {
        self.again = Some(Vec::new());
        self
    }

    /// Those windows, since this was asked last.
    pub(super) fn again(&mut self) -> Vec<Again> {
        self.again.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The longest length, whether it is still counted or not.
    pub(super) fn longest(&self) -> u64 {
        self.longest as u64
    }

    /// The next block.
    pub fn block(&mut self, block: u64) {
        self.blocks += 1;
        // Kept contiguous: now and then the latest ones move to the front.
        if self.recent.len() >= 2 * self.longest.max(512) {
            let begin = self.recent.len() - self.longest;
            self.recent.drain(..begin);
        }
        self.recent.push(block);
        self.known += 1;
        let end = self.recent.len();
        for by in &mut self.lengths {
            by.hash = plus(times(by.hash, BASE), digit(block));
            if self.known > by.length {
                let gone = times(digit(self.recent[end - 1 - by.length]), by.power);
                by.hash = plus(by.hash, PRIME - gone);
            }
            if self.known < by.length {
                continue;
            }
            let window = by.windows.entry(by.hash);
            let (count, key) = window.or_insert_with(|| {
                self.windows += 1;
                (0, identity(self.identity, &self.recent[end - by.length..]))
            });
            *count += 1;
            if *count == 2
                && let Some(again) = &mut self.again
            {
                again.push(Again {
                    key: *key,
                    length: by.length as u32,
                    end: self.blocks,
                });
            }
        }
        while self.windows > self.most_windows
            && let Some(longest) = self.lengths.pop()
        {
            self.windows -= longest.windows.len();
        }
    }

    /// Blocks so far.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Bytes of the counts, roughly.
    pub fn bytes(&self) -> u64 {
        let of = |by: &ByLength| by.windows.capacity() * (size_of::<(u64, (u64, u64))>() + 1);
        self.lengths.iter().map(of).sum::<usize>() as u64
    }

    /// The counts so far.
    pub fn counts(&self) -> ExactCounts {
        let mut counts = ExactCounts {
            lengths: self.lengths.iter().map(|by| by.length as u32).collect(),
            classes: FxHashMap::default(),
            blocks: self.blocks,
        };
        for by in &self.lengths {
            for &(count, key) in by.windows.values() {
                let class = Class {
                    length: by.length as u32,
                    count: 0,
                };
                counts.classes.entry(key).or_insert(class).count += count;
            }
        }
        counts
    }
}

impl ExactCounts {
    /// Adds those of another thread. Lengths that one of them gave up are given up in the sum.
    pub fn add(&mut self, other: &ExactCounts) {
        self.lengths.retain(|length| other.lengths.contains(length));
        for (&key, class) in &other.classes {
            let none = Class {
                length: class.length,
                count: 0,
            };
            self.classes.entry(key).or_insert(none).count += class.count;
        }
        let lengths = &self.lengths;
        self.classes.retain(|_, class| lengths.contains(&class.length));
        self.blocks += other.blocks;
    }

    /// Blocks in all.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Returns true if subpaths of this length were counted.
    pub fn has(&self, length: u32) -> bool {
        self.lengths.contains(&length)
    }

    /// The longest that were counted; 0 if none were.
    pub fn longest(&self) -> u32 {
        self.lengths.last().copied().unwrap_or(0)
    }

    /// How many times the subpath of an identity was executed.
    pub fn count(&self, key: u64) -> u64 {
        self.classes.get(&key).map_or(0, |class| class.count)
    }

    /// Subpaths of lengths up to this, with and without repetitions.
    pub fn totals(&self, longest: u32) -> (u64, u64) {
        let classes = self.classes.values().filter(|class| class.length <= longest);
        classes.fold((0, 0), |(all, distinct), class| (all + class.count, distinct + 1))
    }

    /// The lengths that were counted, ascending.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Identity, length and count of all subpaths, the most frequent first.
    pub fn ranking(&self) -> Vec<(u64, u32, u64)> {
        let mut all: Vec<(u64, u32, u64)> = self
            .classes
            .iter()
            .map(|(&key, class)| (key, class.length, class.count))
            .collect();
        all.sort_unstable_by_key(|&(key, length, count)| (std::cmp::Reverse(count), length, key));
        all
    }
}

impl BlockStream for ExactSubpaths {
    fn run(&mut self, shapes: &impl PathShapes, run: Run, _: bool) {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        shapes.blocks(run.method, run.path, run.from, run.blocks, &mut path);
        for _ in 0..run.times {
            path.iter()
                .for_each(|&block| self.block(u64::from(run.method) << 32 | u64::from(block)));
        }
        self.path = path;
    }

    fn hole(&mut self) {
        self.known = 0;
        self.recent.clear();
        self.lengths.iter_mut().for_each(|by| by.hash = 0);
    }
}
