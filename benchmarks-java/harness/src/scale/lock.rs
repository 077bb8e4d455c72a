//! Simulates processors that take turns at one lock: more of them than this machine has.
//!
//! Each processor repeats a stretch of work of its own and then something that only one can do at a time.
//! Both are measured on one processor and taken as they come on average, with exponential times; what the
//! model leaves out (caches that are shared, memory that is not fast enough for all) makes the real thing
//! slower.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How much of `processors` processors is left for work if each holds the lock for `held` after every `own`.
/// 1: all of it. Times are in nanoseconds; `turns` in all are simulated.
pub fn efficiency(processors: usize, own: f64, held: f64, turns: u32) -> f64 {
    let mut draws = Draws(0x9e37_79b9_7f4a_7c15);
    // When each processor wants the lock, the earliest first.
    let mut waiting: BinaryHeap<Reverse<u64>> = (0..processors).map(|_| Reverse(draws.next(own))).collect();
    let (mut free, mut used) = (0u64, 0u64);
    for _ in 0..turns {
        let Some(Reverse(asked)) = waiting.pop() else {
            break;
        };
        let held = draws.next(held);
        free = free.max(asked) + held;
        let next = draws.next(own);
        used += held + next;
        waiting.push(Reverse(free + next));
    }
    match free {
        0 => 1.0,
        // Of the time up to the last turn; what was drawn for after it evens out.
        free => (used as f64 / (free as f64 * processors as f64)).min(1.0),
    }
}

/// Exponential times in picoseconds, always the same ones.
struct Draws(u64);

impl Draws {
    fn next(&mut self, mean_nanos: f64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let unit = (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64;
        (-(1.0 - unit).ln() * mean_nanos * 1000.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_lock_all_work_and_with_a_long_one_one_does() {
        assert!(efficiency(64, 1000.0, 0.0, 100_000) > 0.99);
        assert!(efficiency(1, 1000.0, 500.0, 100_000) > 0.99);
        // Sixteen that only ever hold the lock: a sixteenth is left.
        let alone = efficiency(16, 0.0, 1000.0, 100_000);
        assert!((alone - 1.0 / 16.0).abs() < 0.01, "{alone}");
    }

    #[test]
    fn two_processors_wait_as_queueing_theory_says() {
        // Two customers, exponential times of rates 1 (thinking) and 1 (service): by hand, the lock is held
        // for 4/5 of the time, so 0.8 turns in a unit of time, each with 2 units of use: 1.6 of 2 processors.
        let two = efficiency(2, 1000.0, 1000.0, 1_000_000);
        assert!((two - 0.8).abs() < 0.01, "{two}");
    }
}
