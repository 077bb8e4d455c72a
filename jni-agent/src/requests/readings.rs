//! Readings of a thread's counts at the beginning of a request, and the difference at its end.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use jvmti_bindings::sys::jni::jobject;
use rustc_hash::FxHashMap;
use trodden_instrumenter::CounterSlot;

use crate::jvm::Jni;
use crate::locks::lock;
use crate::requests::lines::{LINE, Lines, line};
use crate::requests::parts::Delta;
use crate::sampling::spent;
use crate::threads::{Cut, Hashed, ThreadBlock, cut_key, hashed_key};

/// Most requests that are read at a time: each takes as much memory as a thread's counters.
const READINGS: usize = 8;

/// Counters that are compared at once.
const CHUNK: usize = 64;

/// All readings.
#[derive(Default)]
pub struct Readings {
    /// A reading's number is one more than its position.
    places: [Mutex<Place>; READINGS],
    lines: Lines,
}

#[derive(Default)]
struct Place {
    is_used: bool,
    /// The lines that are read; `None`: all.
    lines: Option<Arc<Vec<u32>>>,
    /// Their counters. Memory stays here for the next reading.
    dense: Vec<u64>,
    hash: Vec<i64>,
    cuts: Vec<i64>,
    block: i64,
    /// CPU time of the thread when its request began.
    cpu_ns: Option<u64>,
    chance: f64,
    took_ns: u64,
}

/// The present counts of the calling thread.
pub struct Counts {
    block: i64,
    dense: &'static [u64],
    /// Pairs (key, count), with gaps; triples of the shim's table of cut paths.
    hash: Vec<i64>,
    cuts: Vec<i64>,
    /// CPU time of the thread before they were looked at.
    cpu_ns: Option<u64>,
}

/// The difference of two readings of a thread's counts.
#[derive(Debug)]
pub struct Reading {
    /// CPU time of its thread in between, in nanoseconds, if that is known.
    pub cpu_ns: Option<u64>,
    /// Its counts.
    pub counts: Delta,
    /// The chance to be chosen that the request had.
    pub chance: f64,
    /// CPU time that reading takes.
    pub cost: Cost,
}

/// CPU time of both readings.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Nanoseconds that the reading at the beginning took.
    began_ns: u64,
    /// CPU time of the thread before the counts at the end were looked at.
    since_ns: Option<u64>,
}

impl Cost {
    /// Nanoseconds, with what the thread has done with the readings until now.
    pub fn until_now(self) -> u64 {
        self.began_ns + difference(self.since_ns, spent(0)).unwrap_or(0)
    }
}

/// Words of an entry of the shim's table of cut paths: key, block, count, and one that is not ours.
const CUT: usize = 4;

impl Counts {
    /// Those of the calling thread. `hash`, `cuts`: its table's arrays, or null.
    ///
    /// # Safety
    /// The calling thread is the only one that counts in the block, and has slots up to `end`.
    pub unsafe fn of_caller(
        block: i64,
        end: CounterSlot,
        jni: Jni<'_>,
        hash: jobject,
        cuts: jobject,
    ) -> Option<Self> {
        let cpu_ns = spent(0);
        let longs = |array: jobject| {
            if array.is_null() {
                return Some(Vec::new());
            }
            let length = jni.array_length(array);
            jni.longs(array, length).ok()
        };
        let number = end.0.saturating_sub(ThreadBlock::HEADER) as usize;
        Some(Counts {
            block,
            // SAFETY: the caller's promise; the thread is here as long as this lives.
            dense: unsafe { ThreadBlock::from_address(block).counters(number) },
            hash: longs(hash)?,
            cuts: longs(cuts)?,
            cpu_ns,
        })
    }
}

impl Readings {
    /// A request begins. Returns its reading's number; 0 if too many are in progress.
    pub fn open(&self, counts: Counts, chance: f64) -> usize {
        for (position, place) in self.places.iter().enumerate() {
            let Ok(mut place) = place.try_lock() else { continue };
            if place.is_used {
                continue;
            }
            place.is_used = true;
            place.dense.clear();
            place.lines = self.lines.of(counts.block, counts.dense, Instant::now());
            let place = &mut *place;
            match &place.lines {
                None => place.dense.extend_from_slice(counts.dense),
                Some(lines) => {
                    let lines = lines.iter().map(|&at| padded(line(counts.dense, at)));
                    place.dense.extend(lines.flatten());
                }
            }
            place.hash = counts.hash;
            place.cuts = counts.cuts;
            place.block = counts.block;
            place.chance = chance;
            place.cpu_ns = spent(0);
            place.took_ns = difference(counts.cpu_ns, place.cpu_ns).unwrap_or(0);
            return position + 1;
        }
        0
    }

    /// A reading is not wanted any more.
    pub fn close(&self, number: usize) {
        if let Some(place) = number.checked_sub(1).and_then(|at| self.places.get(at)) {
            lock(place).is_used = false;
        }
    }

    /// Counts were reset: the readings of requests in progress cannot be compared with those at their ends.
    pub fn forget(&self) {
        for place in &self.places {
            lock(place).block = 0;
        }
    }

    /// A request ends. `None` if its thread counts elsewhere now, or not exactly.
    pub fn end(&self, number: usize, counts: impl FnOnce() -> Option<Counts>) -> Option<Reading> {
        let place = number.checked_sub(1).and_then(|at| self.places.get(at))?;
        let mut place = lock(place);
        place.is_used = false;
        let counts = counts().filter(|counts| counts.block == place.block)?;
        let delta = Delta {
            dense: match &place.lines {
                None => dense(&place.dense, counts.dense),
                Some(lines) => of_lines(lines, &place.dense, counts.dense),
            },
            hashed: hashed(&place.hash, &counts.hash),
            cut: cut(&place.cuts, &counts.cuts),
        };
        Some(Reading {
            cpu_ns: difference(place.cpu_ns, counts.cpu_ns),
            counts: delta,
            chance: place.chance,
            cost: Cost {
                began_ns: place.took_ns,
                since_ns: counts.cpu_ns,
            },
        })
    }
}

fn difference(from: Option<u64>, to: Option<u64>) -> Option<u64> {
    to?.checked_sub(from?)
}

fn count(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Slots that have more than before. Those of classes that came since were 0.
fn dense(before: &[u64], now: &[u64]) -> Box<[(u32, u32)]> {
    let mut more = Vec::new();
    for (chunk, counts) in now.chunks(CHUNK).enumerate() {
        let first = chunk * CHUNK;
        let old = before.get(first..(first + counts.len()).min(before.len()));
        add_more(&mut more, first, old.unwrap_or_default(), counts);
    }
    more.into()
}

/// The same of some lines. `before`: their counters, one line after the other.
fn of_lines(lines: &[u32], before: &[u64], now: &[u64]) -> Box<[(u32, u32)]> {
    let mut more = Vec::new();
    for (&at, old) in lines.iter().zip(before.chunks(LINE)) {
        let counts = line(now, at);
        add_more(&mut more, at as usize * LINE, &old[..counts.len()], counts);
    }
    more.into()
}

/// Adds the counters from `first` on that have more than before.
fn add_more(more: &mut Vec<(u32, u32)>, first: usize, old: &[u64], counts: &[u64]) {
    if counts == old {
        return;
    }
    for (at, &new) in counts.iter().enumerate() {
        let old = old.get(at).copied().unwrap_or(0);
        if new != old {
            more.push(((first + at) as u32, count(new.wrapping_sub(old))));
        }
    }
}

/// The counters of a line, filled up with zeros.
fn padded(counters: &[u64]) -> [u64; LINE] {
    let mut line = [0; LINE];
    line[..counters.len()].copy_from_slice(counters);
    line
}

fn hashed(before: &[i64], now: &[i64]) -> Box<[(Hashed, u32)]> {
    let old: FxHashMap<i64, i64> = before.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let pairs = now.chunks_exact(2).filter(|pair| pair[0] != 0);
    let more = pairs.filter_map(|pair| {
        let more = pair[1] - old.get(&pair[0]).unwrap_or(&0);
        (more > 0).then(|| (hashed_key(pair[0]), count(more as u64)))
    });
    more.collect()
}

fn cut(before: &[i64], now: &[i64]) -> Box<[(Cut, u32)]> {
    let entries = before.chunks_exact(CUT);
    let old: FxHashMap<(i64, i64), i64> = entries.map(|one| ((one[0], one[1]), one[2])).collect();
    let entries = now.chunks_exact(CUT).filter(|one| one[0] != 0);
    let more = entries.filter_map(|one| {
        let more = one[2] - old.get(&(one[0], one[1])).unwrap_or(&0);
        (more > 0).then(|| (cut_key(one[0], one[1]), count(more as u64)))
    });
    more.collect()
}

#[cfg(test)]
mod tests {
    use trodden_instrumenter::MethodId;

    use super::*;

    #[test]
    fn slots_with_more_counts_are_found() {
        for length in [0, 1, 63, 64, 65, 200] {
            for before in [0, length / 2, length] {
                let now: Vec<u64> = (0..length as u64).map(|i| i % 7).collect();
                // Every third one is unchanged.
                let old: Vec<u64> = now[..before]
                    .iter()
                    .enumerate()
                    .map(|(i, &n)| if i % 3 == 0 { n } else { n.saturating_sub(2) })
                    .collect();
                let slow: Vec<(u32, u32)> = (0..length)
                    .map(|i| (i as u32, (now[i] - old.get(i).unwrap_or(&0)) as u32))
                    .filter(|&(_, more)| more > 0)
                    .collect();
                assert_eq!(*dense(&old, &now), *slow, "{length} {before}");
            }
        }
    }

    #[test]
    fn readings_across_a_reset_are_dropped() {
        let counts = |dense: &'static [u64]| Counts {
            block: 64,
            dense,
            hash: Vec::new(),
            cuts: Vec::new(),
            cpu_ns: None,
        };
        let readings = Readings::default();
        let number = readings.open(counts(&[5]), 1.0);
        let reading = readings.end(number, || Some(counts(&[7]))).unwrap();
        assert_eq!(*reading.counts.dense, [(0, 2)]);
        let number = readings.open(counts(&[7]), 1.0);
        readings.forget();
        assert!(readings.end(number, || Some(counts(&[1]))).is_none());
        assert!(readings.open(counts(&[1]), 1.0) > 0);
    }

    #[test]
    fn some_lines_are_compared_as_all_are() {
        for length in [0, 1, 7, 8, 9, 40, 83] {
            let now: Vec<u64> = (0..length as u64).map(|i| i % 5).collect();
            // As many lines more as there may be since, and the last one may have been shorter.
            for before in [length, length - length % LINE, length / 2] {
                let old: Vec<u64> = (0..before as u64)
                    .map(|i| (i % 5).saturating_sub(i % 2))
                    .collect();
                let lines: Vec<u32> = (0..before.div_ceil(LINE) as u32).collect();
                let read: Vec<u64> = lines.iter().flat_map(|&at| padded(line(&old, at))).collect();
                let end = (lines.len() * LINE).min(length);
                assert_eq!(
                    of_lines(&lines, &read, &now),
                    dense(&old, &now[..end]),
                    "{length} {before}"
                );
            }
        }
    }

    #[test]
    fn keys_with_more_counts_are_found() {
        let key = |method: i64, path: i64| (method + 1) << 32 | path;
        let before = [0, 0, key(3, 4), 10, key(5, 6), 1];
        let now = [key(5, 6), 1, 0, 0, key(3, 4), 12, key(7, 8), 2];
        let expected = [((MethodId(3), 4), 2), ((MethodId(7), 8), 2)];
        assert_eq!(*hashed(&before, &now), expected);
        let before = [key(1, 2), 3, 4, 0];
        let now = [0, 0, 0, 0, key(1, 2), 3, 9, 7, key(1, 2), 4, 1, 0];
        let expected = [((MethodId(1), 2, 3), 5), ((MethodId(1), 2, 4), 1)];
        assert_eq!(*cut(&before, &now), expected);
    }
}
