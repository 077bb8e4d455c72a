//! When collections stopped the program, as the JVM reports it.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::locks::lock;
use crate::sampling::monotonic;

/// Collections that are remembered. A request that overlaps more has at least these.
const REMEMBERED: usize = 1024;

/// The last collections.
#[derive(Default)]
pub struct Collections {
    /// When the one in progress began; 0 if there is none.
    begun: AtomicU64,
    /// When the last one ended. Most requests began later.
    last: AtomicU64,
    /// Beginnings and ends, in order.
    pauses: Mutex<VecDeque<(u64, u64)>>,
}

impl Collections {
    /// The program is stopped.
    pub fn begins(&self) {
        self.begun.store(monotonic(), Ordering::Relaxed);
    }

    /// The program continues. Called by the thread that stopped it: who holds the lock is in no Java code,
    /// and lets go of it.
    pub fn ends(&self) {
        let begun = self.begun.swap(0, Ordering::Relaxed);
        if begun != 0 {
            self.add(begun, monotonic());
        }
    }

    fn add(&self, begun: u64, ended: u64) {
        let mut pauses = lock(&self.pauses);
        if pauses.len() == REMEMBERED {
            pauses.pop_front();
        }
        pauses.push_back((begun, ended));
        self.last.store(ended, Ordering::Release);
    }

    /// Nanoseconds of an interval in which the program was stopped.
    pub fn overlap(&self, from: u64, to: u64) -> u64 {
        if self.last.load(Ordering::Acquire) <= from {
            return 0;
        }
        let pauses = lock(&self.pauses);
        let later = pauses.iter().rev().take_while(|(_, ended)| *ended > from);
        later
            .map(|&(begun, ended)| ended.min(to).saturating_sub(begun.max(from)))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_those_of_each_pause() {
        let collections = Collections::default();
        for (begun, ended) in [(10, 20), (30, 45), (60, 61)] {
            collections.add(begun, ended);
        }
        let pauses = [(10, 20), (30, 45), (60, 61)];
        for from in 0..70 {
            for to in from..70 {
                let slow = (from..to).filter(|&t| pauses.iter().any(|&(a, b)| (a..b).contains(&t)));
                assert_eq!(collections.overlap(from, to), slow.count() as u64, "{from} {to}");
            }
        }
    }

    #[test]
    fn pauses_are_measured() {
        let collections = Collections::default();
        collections.ends();
        assert_eq!(collections.overlap(0, u64::MAX), 0);
        let before = monotonic();
        collections.begins();
        collections.ends();
        let took = monotonic() - before;
        assert!(collections.overlap(before, u64::MAX) <= took);
    }
}
