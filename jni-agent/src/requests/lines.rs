//! The counters that any request has used, of threads that have very many: most never count anything.
//!
//! A reading of a thread's counters looks at all of them twice, and large programs have megabytes of them.
//! Of these only *known lines* are read: lines of eight counters that were found with a count by a look at a
//! whole block. Each block is looked at when it is read first, and again after a second or more. What a
//! thread counts in an unknown line is not among the paths of its request; from the next look on, it is.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use crate::locks::lock;

/// Counters of a line.
pub const LINE: usize = 8;

/// Threads with at most as many counters are read whole.
const WHOLE: usize = 1 << 14;

/// The time after which a block is looked at again; twice as long each time that nothing is new there.
const SOON: Duration = Duration::from_secs(1);

/// The longest such time.
const LATE: Duration = Duration::from_secs(30);

/// Most blocks whose looks are remembered.
const MAX_BLOCKS: usize = 1 << 13;

/// The known lines of all blocks.
#[derive(Default)]
pub struct Lines(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Ascending.
    lines: Arc<Vec<u32>>,
    /// By address.
    looks: FxHashMap<i64, Look>,
}

/// When a block is to be looked at again.
#[derive(Clone, Copy)]
struct Look {
    next: Instant,
    interval: Duration,
}

impl Lines {
    /// The lines to read of a block with these counters; `None`: all of them.
    pub fn of(&self, block: i64, counters: &[u64], now: Instant) -> Option<Arc<Vec<u32>>> {
        if counters.len() <= WHOLE {
            return None;
        }
        let lines = {
            let known = lock(&self.0);
            if known.looks.get(&block).is_some_and(|look| now < look.next) {
                return Some(Arc::clone(&known.lines));
            }
            Arc::clone(&known.lines)
        };
        let new = counted(counters, &lines);
        let mut known = lock(&self.0);
        let interval = known
            .looks
            .get(&block)
            .filter(|_| new.is_empty())
            .map_or(SOON, |look| (2 * look.interval).min(LATE));
        if known.looks.len() >= MAX_BLOCKS {
            known.looks.clear();
        }
        let next = now + interval;
        known.looks.insert(block, Look { next, interval });
        if !new.is_empty() {
            let mut all = known.lines.to_vec();
            all.extend(new);
            all.sort_unstable();
            // Another thread may have found the same meanwhile.
            all.dedup();
            known.lines = Arc::new(all);
        }
        Some(Arc::clone(&known.lines))
    }
}

/// Lines with a count that are not among these.
fn counted(counters: &[u64], known: &[u32]) -> Vec<u32> {
    let mut known = known.iter().copied().peekable();
    let mut new = Vec::new();
    for (line, counts) in (0..).zip(counters.chunks(LINE)) {
        if known.next_if_eq(&line).is_none() && counts.iter().any(|&count| count != 0) {
            new.push(line);
        }
    }
    new
}

/// The counters of a line; fewer at the end, none behind it.
pub fn line(counters: &[u64], line: u32) -> &[u64] {
    let first = (line as usize * LINE).min(counters.len());
    &counters[first..(first + LINE).min(counters.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_blocks_are_read_whole() {
        assert!(Lines::default().of(1, &[0; WHOLE], Instant::now()).is_none());
    }

    #[test]
    fn lines_are_known_from_the_next_look_on() {
        let lines = Lines::default();
        let at = |seconds: u64| Instant::now() + Duration::from_secs(seconds);
        // The last line is not full.
        let mut counters = vec![0u64; WHOLE + 3];
        let last = WHOLE as u32 / LINE as u32;
        counters[17] = 1;
        counters[WHOLE + 2] = 1;
        let of = |counters: &[u64], block, seconds| lines.of(block, counters, at(seconds)).unwrap().to_vec();
        assert_eq!(of(&counters, 1, 0), [2, last]);
        counters[8] = 5;
        assert_eq!(of(&counters, 1, 0), [2, last]);
        // Another block is looked at when it is read first; what is known is known of all.
        assert_eq!(of(&counters, 2, 0), [1, 2, last]);
        counters[0] = 1;
        assert_eq!(of(&counters, 1, 2), [0, 1, 2, last]);
        assert_eq!(line(&counters, last).len(), 3);
        assert_eq!(line(&counters, last + 1).len(), 0);
    }

    #[test]
    fn looks_become_rare_where_nothing_is_new() {
        let lines = Lines::default();
        let begin = Instant::now();
        let mut counters = vec![0u64; WHOLE + 1];
        lines.of(1, &counters, begin);
        let mut seconds = 0;
        let mut looks = 0;
        while seconds < 200 {
            // A look finds what was never counted before.
            counters[0] = 0;
            let before = lock(&lines.0).looks[&1].next;
            lines.of(1, &counters, begin + Duration::from_secs(seconds));
            looks += u32::from(lock(&lines.0).looks[&1].next != before);
            seconds += 1;
        }
        assert!((8..=14).contains(&looks), "{looks}");
        counters[9] = 1;
        lines.of(1, &counters, begin + Duration::from_secs(400));
        assert_eq!(lock(&lines.0).looks[&1].interval, SOON);
    }
}
