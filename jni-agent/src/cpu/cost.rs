//! How much of the program's CPU time sampling takes, and the interval that follows from that.
//!
//! A stack costs some microseconds, a deep one a hundred; with many threads samples are many. Since a sample
//! stands for the CPU time since the one before, the interval may change at any time without a sum becoming
//! wrong.

use std::time::Duration;

/// The share of the program's CPU time that sampling may take.
const MOST: f64 = 0.01;
/// Below it the interval becomes shorter again.
const LITTLE: f64 = 0.003;
/// The interval becomes so much longer at most.
const LONGEST: u32 = 64;
/// CPU time of the program between two decisions, in seconds.
const WINDOW: f64 = 0.5;

/// Keeps the interval so long that sampling takes a hundredth of the program's CPU time.
#[derive(Debug)]
pub struct Cost {
    asked: Duration,
    /// The interval is so many times what was asked for: a power of two.
    times: u32,
    /// CPU time of the program, and of sampling in nanoseconds, at the last decision.
    last: Option<(f64, u64)>,
}

impl Cost {
    /// For an interval that was asked for.
    pub fn new(asked: Duration) -> Self {
        Cost {
            asked,
            times: 1,
            last: None,
        }
    }

    /// The program has used `program` seconds of CPU time so far, sampling `sampling` nanoseconds. The new
    /// interval, if it changes.
    pub fn look(&mut self, program: f64, sampling: u64) -> Option<Duration> {
        let (before, sampling_before) = *self.last.get_or_insert((program, sampling));
        let window = program - before;
        if window < WINDOW {
            return None;
        }
        self.last = Some((program, sampling));
        let share = sampling.saturating_sub(sampling_before) as f64 / 1e9 / window;
        let times = match share {
            _ if share > MOST => (self.times * 2).min(LONGEST),
            _ if share < LITTLE => (self.times / 2).max(1),
            _ => self.times,
        };
        let changed = times != self.times;
        self.times = times;
        changed.then(|| self.asked * times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_follows_the_cost() {
        let millis = Duration::from_millis;
        let mut cost = Cost::new(millis(1));
        let (mut program, mut sampling) = (10.0, 5_000_000);
        // What was before the first look does not count.
        assert_eq!(cost.look(program, sampling), None);
        let mut step = |seconds: f64, share: f64| {
            program += seconds;
            sampling += (seconds * share * 1e9) as u64;
            cost.look(program, sampling)
        };
        assert_eq!(step(0.4, 0.5), None, "too early");
        assert_eq!(step(0.4, 0.02), Some(millis(2)));
        assert_eq!(step(1.0, 0.005), None, "as it should be");
        assert_eq!(step(1.0, 0.02), Some(millis(4)));
        assert_eq!(step(1.0, 0.001), Some(millis(2)));
        assert_eq!(step(1.0, 0.0), Some(millis(1)));
        assert_eq!(step(1.0, 0.0), None, "never shorter than was asked");
        let longest = (0..20).filter_map(|_| step(1.0, 0.9)).last();
        assert_eq!(longest, Some(millis(64)));
    }
}
