//! When a burst may begin, and when it has shown enough: by the program's own time.
//!
//! On a busy machine a program hardly runs in two milliseconds that the clock measures. A burst of these
//! shows little, and costs as much as another one: all threads are stopped when it begins and when it ends.

use std::time::Duration;

/// Lengths of a burst at most, if the program hardly runs in it.
const MAX_LENGTHS: u32 = 10;
/// Lengths that bursts may take later at most, if the program ran without any for long.
const MAX_CREDIT: f64 = 2.0;

/// Keeps the program's time in bursts at a share of all its time. Times are seconds of
/// [`ProgramTime`](super::ProgramTime).
#[derive(Default)]
pub struct BurstPace {
    /// Seconds that bursts may take now; negative after one that took more.
    credit: f64,
    seen: f64,
}

impl BurstPace {
    /// True if a burst of a length may begin at `now`, of one in each interval.
    pub fn may_begin(&mut self, now: f64, [interval, length]: [Duration; 2]) -> bool {
        let length = length.as_secs_f64();
        self.credit += (now - self.seen) * length / interval.as_secs_f64();
        self.credit = self.credit.min(MAX_CREDIT * length);
        self.seen = now;
        self.credit >= 0.0
    }

    /// Lets the burst that began at `begin` last, nap by nap, until the program has run for its length, or
    /// nearly.
    /// `nap`: waits for a length, and says what time it is then.
    pub fn last(&mut self, begin: f64, length: Duration, mut nap: impl FnMut() -> f64) {
        let mut now = begin;
        for _ in 0..MAX_LENGTHS {
            now = nap();
            if now - begin >= 0.75 * length.as_secs_f64() {
                break;
            }
        }
        // A nap takes longer than it says, which counts where bursts are short.
        self.credit -= (now - begin).min(length.as_secs_f64());
        self.seen = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTHS: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(2)];

    /// Bursts of a program that runs for a share of each interval and of each nap; their number, and the
    /// time in them.
    fn bursts(share: f64) -> (u32, f64) {
        let (mut pace, mut now, mut number, mut inside) = (BurstPace::default(), 0.0, 0, 0.0);
        for _ in 0..1000 {
            now += 0.098 * share;
            if pace.may_begin(now, LENGTHS) {
                number += 1;
                let begin = now;
                pace.last(begin, LENGTHS[1], || {
                    now += 0.002 * share;
                    now
                });
                inside += now - begin;
            }
        }
        (number, inside / now)
    }

    #[test]
    fn a_program_that_runs_all_the_time_has_a_burst_an_interval() {
        let (number, share) = bursts(1.0);
        assert!((979..=1000).contains(&number), "{number}");
        assert!((share - 0.02).abs() < 0.001, "{share}");
    }

    #[test]
    fn one_that_runs_a_little_has_fewer_of_its_own_time() {
        let (number, share) = bursts(0.15);
        assert!((100..=330).contains(&number), "{number}");
        assert!((share - 0.02).abs() < 0.002, "{share}");
    }

    #[test]
    fn bursts_shorter_than_a_nap_do_not_become_rare() {
        let (mut pace, mut now, mut number) = (BurstPace::default(), 0.0, 0);
        let lengths = [Duration::from_millis(20), Duration::from_micros(100)];
        for _ in 0..1000 {
            now += 0.0198;
            if pace.may_begin(now, lengths) {
                number += 1;
                // It takes time to begin one.
                now += 0.001;
                pace.last(now, lengths[1], || {
                    now += 0.0002;
                    now
                });
            }
        }
        assert!(number >= 990, "{number}");
    }

    #[test]
    fn one_that_waits_costs_nothing() {
        let (_, share) = bursts(1e-6);
        assert!(share < 0.2, "{share}");
    }
}
