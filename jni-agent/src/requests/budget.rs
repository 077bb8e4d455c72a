//! The chance of a request to be chosen: reading the chosen ones takes a hundredth of the program's CPU time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::locks::lock;
use crate::sampling::processor_seconds;

/// The share of the CPU time that readings may take.
const SHARE: f64 = 0.01;

/// Requests between two looks at the clock, which costs a system call.
const REQUESTS_PER_LOOK: u64 = 64;

/// CPU seconds between two chances: with less, the costs of single readings are too far apart.
const PERIOD_SECONDS: f64 = 0.1;

/// CPU seconds after which a period counts for 1/e of what it did. Samples of equal weight are worth most,
/// and single readings cost from ten microseconds to some milliseconds on a busy machine.
const MEMORY_SECONDS: f64 = 1.0;

/// Readings that are remembered at least, to know what one costs.
const MIN_REMEMBERED: f64 = 0.1;

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
    account: Mutex<Account>,
}

/// What the next chance is made of.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// When the period began.
    from: Sums,
    /// The periods before, the older the less.
    recent: Sums,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    cpu_seconds: f64,
    requests: f64,
    readings: f64,
    spent_seconds: f64,
}

impl Budget {
    /// Every request is chosen until it is known what that costs.
    pub fn begin(&self) {
        self.set(1.0);
        lock(&self.account).from.cpu_seconds = processor_seconds();
    }

    /// Forgets what was spent.
    pub fn reset(&self) {
        self.requests.store(0, Ordering::Relaxed);
        self.readings.store(0, Ordering::Relaxed);
        self.spent_ns.store(0, Ordering::Relaxed);
        *lock(&self.account) = Account::default();
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
            && let Ok(mut account) = self.account.try_lock()
        {
            let now = Sums {
                cpu_seconds: processor_seconds(),
                requests: requests as f64,
                readings: self.readings.load(Ordering::Relaxed) as f64,
                spent_seconds: self.spent_ns() as f64 * 1e-9,
            };
            if let Some(chance) = account.chance(now, self.chance()) {
                self.set(chance);
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

impl Account {
    /// The chance for the next period, by what recent ones cost; `None` if this one is too short to know. A
    /// period in which readings took more than their share is over at once.
    fn chance(&mut self, now: Sums, chance: f64) -> Option<f64> {
        let period = now.plus(self.from, -1.0);
        if period.cpu_seconds < PERIOD_SECONDS && period.spent_seconds < SHARE * PERIOD_SECONDS {
            return None;
        }
        self.from = now;
        self.recent = period.plus(self.recent, (-period.cpu_seconds / MEMORY_SECONDS).exp());
        let recent = self.recent;
        if recent.readings < MIN_REMEMBERED {
            // Twice as many, until some are chosen.
            return Some((2.0 * chance).min(1.0));
        }
        let each = recent.spent_seconds / recent.readings;
        let allowed = SHARE * recent.cpu_seconds;
        Some((allowed / (each * recent.requests.max(1.0))).clamp(MIN_CHANCE, 1.0))
    }
}

impl Sums {
    /// With so many times others.
    fn plus(self, others: Sums, times: f64) -> Sums {
        Sums {
            cpu_seconds: self.cpu_seconds + times * others.cpu_seconds,
            requests: self.requests + times * others.requests,
            readings: self.readings + times * others.readings,
            spent_seconds: self.spent_seconds + times * others.spent_seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Periods of 0.2 CPU seconds of a program with so many requests in a CPU second: each period's chance,
    /// and the share that readings took. `reading_ns`: the time of a reading, by its number.
    fn periods(requests: f64, reading_ns: impl Fn(u64) -> f64, periods: usize) -> Vec<(f64, f64)> {
        let (mut account, mut now, mut chance) = (Account::default(), Sums::default(), 1.0);
        let mut readings = 0.0;
        let period = |_| {
            let here = chance;
            let before = now;
            now.cpu_seconds += 0.2;
            now.requests += requests * 0.2;
            readings += requests * 0.2 * here;
            while now.readings + 1.0 <= readings {
                now.readings += 1.0;
                now.spent_seconds += reading_ns(now.readings as u64) * 1e-9;
            }
            chance = account.chance(now, here).unwrap();
            (here, (now.spent_seconds - before.spent_seconds) / 0.2)
        };
        (0..periods).map(period).collect()
    }

    #[test]
    fn readings_take_a_hundredth_of_the_time() {
        for requests in [100.0, 10_000.0, 1_000_000.0] {
            for reading_ns in [5_000.0, 100_000.0, 1_000_000.0] {
                let shares = periods(requests, |_| reading_ns, 140).split_off(40);
                let share = shares.iter().map(|(_, share)| share).sum::<f64>() / shares.len() as f64;
                let all = requests * reading_ns * 1e-9;
                let expected = all.min(SHARE);
                // A reading more or less, in twenty seconds.
                let one = reading_ns * 1e-9 / 20.0;
                assert!(
                    (share - expected).abs() <= 0.05 * expected + one,
                    "{requests} of {reading_ns} ns: {share}"
                );
            }
        }
    }

    /// One reading in eight costs fifty times as much as the others do.
    #[test]
    fn chances_stay_alike_where_single_readings_are_dear() {
        let reading = |number: u64| if number % 8 == 3 { 2_000_000.0 } else { 40_000.0 };
        let chances = periods(10_000.0, reading, 140).split_off(40);
        let (least, most) = chances
            .iter()
            .fold((f64::INFINITY, 0.0f64), |(least, most), &(chance, _)| {
                (least.min(chance), most.max(chance))
            });
        assert!(most < 2.0 * least, "{least} to {most}");
    }

    #[test]
    fn nothing_changes_before_a_period_is_over() {
        let short = Sums {
            cpu_seconds: 0.05,
            requests: 100.0,
            readings: 100.0,
            spent_seconds: 0.000_5,
        };
        assert_eq!(Account::default().chance(short, 1.0), None);
        // Unless it has cost more than all of a period may.
        let dear = Sums {
            spent_seconds: 0.005,
            ..short
        };
        let next = Account::default().chance(dear, 1.0).unwrap();
        assert!((next - 0.1).abs() < 1e-9, "{next}");
    }
}
