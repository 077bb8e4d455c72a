//! By how much counting delays the program: measured here, as processors differ by several times.

use std::hint::black_box;
use std::ptr::{read_volatile, write_volatile};
use std::sync::OnceLock;
use std::time::Instant;

/// Path ends per round: long compared with the clock's resolution, short compared with a time slice.
const ENDS: u32 = 10_000;
/// The shortest round counts: whatever interrupts one makes it longer.
const ROUNDS: u32 = 10;

/// The part of what counting takes in a tight loop that it takes in programs, where other instructions run
/// meanwhile. With one half six programs had totals of −5.7 to +0.8 % (mean −1.6) on two JDKs; with all of it
/// Xalan had 4 % more.
const SHARE: f64 = 3.0 / 4.0;

/// Seconds by which counting a path end delays the program: what is taken off a span. Measured once, in some
/// 0.1 ms, by what a probe does: a switch in memory that counts down, and one of two counters that counts up,
/// each waiting for its own last value.
pub fn per_path_end() -> f64 {
    static DELAY: OnceLock<f64> = OnceLock::new();
    *DELAY.get_or_init(|| {
        let rounds = (0..ROUNDS).map(|_| round());
        rounds.fold(f64::INFINITY, f64::min) / f64::from(ENDS) * SHARE
    })
}

/// Seconds that a round takes.
fn round() -> f64 {
    let mut switch = i32::MAX;
    let mut counters = [0u64; 2];
    let switch = black_box(&mut switch);
    let counters = black_box(&mut counters);
    let begin = Instant::now();
    for end in 0..ENDS {
        count(switch, &mut counters[(end & 1) as usize]);
    }
    begin.elapsed().as_secs_f64()
}

/// The work of a probe of structure graphs, with each word really read and written.
fn count(switch: &mut i32, counter: &mut u64) {
    // SAFETY: both are references to initialised, aligned words that nobody else has.
    unsafe {
        let left = read_volatile(switch);
        if left == 0 {
            return;
        }
        if left > 0 {
            write_volatile(switch, left - 1);
        }
        let ended = read_volatile(counter);
        write_volatile(counter, ended + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_counts_each_path_end() {
        let mut switch = ENDS as i32;
        let mut counters = [0u64; 2];
        for end in 0..ENDS + 5 {
            count(&mut switch, &mut counters[(end & 1) as usize]);
        }
        assert_eq!((switch, counters), (0, [u64::from(ENDS) / 2; 2]));
    }

    #[test]
    fn a_path_end_takes_time_and_is_measured_once() {
        let delay = per_path_end();
        assert!(delay > 0.0 && delay.is_finite(), "{delay}");
        assert_eq!(delay.to_bits(), per_path_end().to_bits());
    }
}
