//! The chance of a request to be chosen: reading the chosen ones takes a hundredth of the program's CPU time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::locks::lock;
use crate::sampling::processor_seconds;

/// The share of the CPU time that readings may take.
const SHARE: f64 = 0.01;

/// Requests between two looks at the clock, which costs a system call.
const REQUESTS_PER_LOOK: u64 = 64;

/// CPU seconds of a period: with less, the costs of single readings are too far apart.
const PERIOD_SECONDS: f64 = 0.1;

/// Readings that are made in any case: a program that has just begun has little CPU time behind it.
const FREE_READINGS: u64 = 50;

/// The least chance: one in a million is found again when requests become fewer.
const MIN_CHANCE: f64 = 1e-6;

/// The account of readings.
#[derive(Default)]
pub struct Budget {
    /// The chance of a request, as the bits of an `f64`.
    chance: AtomicU64,
    requests: AtomicU64,
    readings: AtomicU64,
    spent_ns: AtomicU64,
    period: Mutex<Period>,
}

/// Sums at the beginning of a period.
#[derive(Clone, Copy, Debug, Default)]
struct Period {
    cpu_seconds: f64,
    requests: u64,
    readings: u64,
    spent_ns: u64,
}

impl Budget {
    /// Every request is chosen until it is known what that costs.
    pub fn begin(&self) {
        self.set(1.0);
        lock(&self.period).cpu_seconds = processor_seconds();
    }

    /// Forgets what was spent.
    pub fn reset(&self) {
        self.requests.store(0, Ordering::Relaxed);
        self.readings.store(0, Ordering::Relaxed);
        self.spent_ns.store(0, Ordering::Relaxed);
        *lock(&self.period) = Period::default();
        self.begin();
    }

    /// Nanoseconds that readings took.
    pub fn spent_ns(&self) -> u64 {
        self.spent_ns.load(Ordering::Relaxed)
    }

    /// A request has ended. `took_ns`: the time of its reading, if it was chosen. Returns the chance of the
    /// next ones.
    pub fn spend(&self, took_ns: Option<u64>) -> f64 {
        let requests = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(took_ns) = took_ns {
            self.spent_ns.fetch_add(took_ns, Ordering::Relaxed);
            self.readings.fetch_add(1, Ordering::Relaxed);
        }
        if (took_ns.is_some() || requests.is_multiple_of(REQUESTS_PER_LOOK))
            && self.readings.load(Ordering::Relaxed) >= FREE_READINGS
            && let Ok(mut period) = self.period.try_lock()
        {
            let now = Period {
                cpu_seconds: processor_seconds(),
                requests,
                readings: self.readings.load(Ordering::Relaxed),
                spent_ns: self.spent_ns(),
            };
            if let Some(chance) = chance(*period, now, self.chance()) {
                self.set(chance);
                *period = now;
            }
        }
        self.chance()
    }

    fn chance(&self) -> f64 {
        f64::from_bits(self.chance.load(Ordering::Relaxed))
    }

    fn set(&self, chance: f64) {
        self.chance.store(chance.to_bits(), Ordering::Relaxed);
    }
}

/// The chance for the next period, by what the last one cost; `None` if it is too short to know. A period in
/// which readings took more than their share is over at once.
fn chance(from: Period, to: Period, chance: f64) -> Option<f64> {
    let cpu_seconds = to.cpu_seconds - from.cpu_seconds;
    let spent_seconds = to.spent_ns.saturating_sub(from.spent_ns) as f64 * 1e-9;
    let allowed_seconds = SHARE * cpu_seconds;
    if cpu_seconds < PERIOD_SECONDS && spent_seconds < SHARE * PERIOD_SECONDS {
        return None;
    }
    if to.readings == from.readings {
        // Twice as many, until some are chosen.
        return Some((2.0 * chance).min(1.0));
    }
    let each = spent_seconds / (to.readings - from.readings) as f64;
    let requests = to.requests.saturating_sub(from.requests).max(1) as f64;
    Some((allowed_seconds / (each * requests)).clamp(MIN_CHANCE, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share that a program spends, by its requests in a CPU second and the time of a reading.
    fn spent(requests_per_second: f64, reading_ns: f64, periods: usize) -> f64 {
        let (mut at, mut own) = (Period::default(), 1.0);
        let mut last = (0.0, 0.0);
        for _ in 0..periods {
            let requests = requests_per_second * 0.2;
            let readings = (requests * own).round();
            let now = Period {
                cpu_seconds: at.cpu_seconds + 0.2,
                requests: at.requests + requests as u64,
                readings: at.readings + readings as u64,
                spent_ns: at.spent_ns + (readings * reading_ns) as u64,
            };
            last = (readings * reading_ns * 1e-9, 0.2);
            own = chance(at, now, own).unwrap();
            at = now;
        }
        last.0 / last.1
    }

    #[test]
    fn readings_take_a_hundredth_of_the_time() {
        for requests in [100.0, 10_000.0, 1_000_000.0] {
            for reading_ns in [5_000.0, 100_000.0, 1_000_000.0] {
                let share = spent(requests, reading_ns, 40);
                let all = requests * reading_ns * 1e-9;
                let expected = all.min(SHARE);
                // A reading more or less, in 0.2 seconds.
                let one = reading_ns * 1e-9 / 0.2;
                assert!(
                    (share - expected).abs() <= 0.1 * expected + one,
                    "{requests} of {reading_ns} ns: {share}"
                );
            }
        }
    }

    #[test]
    fn nothing_changes_before_a_period_is_over() {
        let from = Period::default();
        let short = Period {
            cpu_seconds: 0.05,
            requests: 100,
            readings: 100,
            spent_ns: 500_000,
        };
        assert_eq!(chance(from, short, 1.0), None);
        // Unless it has cost more than all of a period may.
        let dear = Period {
            spent_ns: 5_000_000,
            ..short
        };
        let next = chance(from, dear, 1.0).unwrap();
        assert!((next - 0.1).abs() < 1e-9, "{next}");
    }
}
