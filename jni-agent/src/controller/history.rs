//! When which method was counted, and what it did meanwhile.
//!
//! Counts of methods whose probes were taken out at different times cannot be compared: they cover different
//! intervals of the run. So what a dump writes is an estimate for the whole run: what was counted, plus, for
//! each interval without probes, its length times the rate of each path. That is the mean of the rates in the
//! windows before and after it; of the last interval, which has no window after it, the rate before. Methods
//! that never lost their probes have their exact counts.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use trodden_instrumenter::MethodId;

use super::watch::distance;

/// Path number to path ends per second.
pub type Rates = BTreeMap<u64, f64>;

/// Shares that are further apart than this have changed.
const CHANGED: f64 = 0.05;

/// Why a method's probes were taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its shares were known.
    Known,
    /// The windows of its structure graphs had been filled.
    Full,
    /// They were not after a long time.
    Overdue,
    /// The budget was spent.
    Budget,
}

impl Reason {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Known => "known",
            Reason::Full => "full",
            Reason::Overdue => "overdue",
            Reason::Budget => "budget",
        }
    }
}

/// Sums over the whole run, for the profile's facts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Calls of RetransformClasses.
    pub retransformations: u64,
    /// Classes that lost probes, and that got them back, counted each time.
    pub retired: u64,
    /// Likewise.
    pub rearmed: u64,
    /// Classes that the JVM would not retransform.
    pub failed: u64,
    /// Time in RetransformClasses; the program stands still for a part of it.
    pub pauses: Duration,
    /// The longest call.
    pub longest_pause: Duration,
    /// Seconds that counting is estimated to have taken.
    pub counting: f64,
    /// Seconds of compiler threads that retransformations are blamed for.
    pub compiling: f64,
    /// Seconds assumed to be lost until code is compiled again.
    pub slow: f64,
    /// How often a change of code was put off, as changes had taken their share of the run.
    pub put_off: u64,
}

/// One method that was not counted all the time.
#[derive(Clone, Debug)]
struct Method {
    /// Without probes since then.
    silent: Option<Instant>,
    /// An interval without probes that is over, whose rates after it are not known yet.
    open: Option<Duration>,
    /// Rates in the last window.
    rates: Rates,
    /// Path ends estimated for intervals with a window at either end.
    settled: Rates,
    /// Seconds without probes before the present interval.
    seconds: f64,
    /// When it lost its probes the first time, in seconds of the profile.
    until: f64,
    windows: u32,
    reason: Reason,
}

/// The facts that a profile has about a method that was not counted all the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Path ends to be added to what was counted.
    pub missing: Rates,
    /// Seconds with probes.
    pub seconds: f64,
    /// Seconds of the profile until it lost its probes the first time.
    pub until: f64,
    /// Intervals with probes.
    pub windows: u32,
    /// Why they were taken out the last time.
    pub reason: Reason,
}

/// The history. Survives stops: time in which nothing is profiled does not count.
pub struct ProbeHistory {
    /// Second 0 of the profile, as if it had never been stopped.
    epoch: Instant,
    methods: FxHashMap<MethodId, Method>,
    /// Methods whose shares were known, and did not move, when they were last looked at.
    steady: FxHashSet<MethodId>,
    /// The sums.
    pub totals: Totals,
}

impl Default for ProbeHistory {
    fn default() -> Self {
        ProbeHistory {
            epoch: Instant::now(),
            methods: FxHashMap::default(),
            steady: FxHashSet::default(),
            totals: Totals::default(),
        }
    }
}

impl ProbeHistory {
    /// Profiling begins, or continues after a time of it.
    pub fn begin(&mut self, before: Duration) {
        let now = Instant::now();
        self.epoch = now.checked_sub(before).unwrap_or(now);
    }

    /// Profiling stops: all methods lose their probes, but that is not part of the profile.
    pub fn stop(&mut self) {
        let now = Instant::now();
        let silent: Vec<MethodId> = self.methods.keys().copied().collect();
        silent
            .into_iter()
            .for_each(|method| self.counted_again(method, now));
    }

    /// Counts are forgotten, and with them what was estimated. Rates are kept: they are all that is known of
    /// methods without probes.
    pub fn reset(&mut self) {
        self.epoch = Instant::now();
        self.totals = Totals::default();
        self.steady.clear();
        self.methods.retain(|_, method| method.silent.is_some());
        for method in self.methods.values_mut() {
            method.silent = Some(self.epoch);
            method.open = None;
            method.settled.clear();
            method.seconds = 0.0;
            method.until = 0.0;
        }
    }

    /// A method loses its probes; these were its rates. Returns whether its shares are others than the last
    /// time.
    pub fn silenced(&mut self, method: MethodId, at: Instant, rates: Rates, reason: Reason) -> bool {
        let until = at.saturating_duration_since(self.epoch).as_secs_f64();
        self.settled(method, &rates);
        let Some(known) = self.methods.get_mut(&method) else {
            let new = Method {
                silent: Some(at),
                open: None,
                rates,
                settled: Rates::new(),
                seconds: 0.0,
                until,
                windows: 1,
                reason,
            };
            self.methods.insert(method, new);
            return false;
        };
        let changed = distance(&known.rates, &rates) > CHANGED;
        known.silent = Some(at);
        known.rates = rates;
        known.windows += 1;
        known.reason = reason;
        changed
    }

    /// Sets the result of a look at a method: true if its shares are known, and do not move.
    pub fn steady(&mut self, method: MethodId, steady: bool) {
        if steady {
            self.steady.insert(method)
        } else {
            self.steady.remove(&method)
        };
    }

    /// True if they were when it was last looked at.
    pub fn is_steady(&self, method: MethodId) -> bool {
        self.steady.contains(&method)
    }

    /// A method that has its probes back does this now: the interval without them is filled from both sides.
    pub fn settled(&mut self, method: MethodId, rates: &Rates) {
        if let Some(known) = self.methods.get_mut(&method)
            && let Some(open) = known.open.take()
        {
            add(&mut known.settled, &known.rates, open.as_secs_f64() / 2.0);
            add(&mut known.settled, rates, open.as_secs_f64() / 2.0);
        }
    }

    /// A method has its probes back.
    pub fn counted_again(&mut self, method: MethodId, at: Instant) {
        if let Some(known) = self.methods.get_mut(&method)
            && let Some(since) = known.silent.take()
        {
            let length = at.saturating_duration_since(since);
            known.seconds += length.as_secs_f64();
            known.open = Some(length + known.open.unwrap_or_default());
        }
    }

    /// The estimate of missing counts at the end of a profile of that many seconds; nothing if the method was
    /// counted all the time.
    pub fn estimate(&self, method: MethodId, seconds: f64) -> Option<Estimate> {
        let known = self.methods.get(&method)?;
        let mut missing = known.settled.clone();
        let now = self.epoch + Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let silent = known.silent.map(|since| now.saturating_duration_since(since));
        let without = silent.unwrap_or_default() + known.open.unwrap_or_default();
        add(&mut missing, &known.rates, without.as_secs_f64());
        let uncounted = known.seconds + silent.unwrap_or_default().as_secs_f64();
        Some(Estimate {
            missing,
            seconds: (seconds - uncounted).max(0.0),
            until: known.until,
            windows: known.windows + u32::from(known.silent.is_none()),
            reason: known.reason,
        })
    }

    /// True if every method was counted all the time.
    pub fn is_exact(&self) -> bool {
        self.methods.is_empty()
    }

    /// Methods without probes now, and methods that have ever lost them.
    pub fn sizes(&self) -> (usize, usize) {
        let silent = self.methods.values().filter(|method| method.silent.is_some());
        (silent.count(), self.methods.len())
    }
}

fn add(to: &mut Rates, rates: &Rates, seconds: f64) {
    for (&path, rate) in rates {
        *to.entry(path).or_default() += rate * seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(pairs: &[(u64, f64)]) -> Rates {
        pairs.iter().copied().collect()
    }

    #[test]
    fn stretches_without_probes_are_filled_from_both_sides() {
        let mut history = ProbeHistory::default();
        let at = |seconds| history.epoch + Duration::from_secs(seconds);
        let times = [10, 30, 40].map(at);
        assert!(history.is_exact() && history.estimate(MethodId(7), 5.0).is_none());
        assert!(!history.silenced(MethodId(7), times[0], rates(&[(0, 100.0)]), Reason::Known));
        let after = |history: &ProbeHistory, seconds| history.estimate(MethodId(7), seconds).unwrap();
        // Nothing after it yet: the rate before.
        assert_eq!(after(&history, 20.0).missing, rates(&[(0, 1_000.0)]));
        assert_eq!(after(&history, 20.0).seconds, 10.0);
        history.counted_again(MethodId(7), times[1]);
        assert_eq!(after(&history, 35.0).missing, rates(&[(0, 2_000.0)]));
        assert_eq!(
            (after(&history, 35.0).seconds, after(&history, 35.0).windows),
            (15.0, 2)
        );
        // Half of the 20 seconds at either rate, and ten more at the later one.
        assert!(history.silenced(
            MethodId(7),
            times[2],
            rates(&[(0, 50.0), (1, 50.0)]),
            Reason::Overdue
        ));
        let end = after(&history, 50.0);
        assert_eq!(
            end.missing,
            rates(&[(0, 1_000.0 + 500.0 + 500.0), (1, 500.0 + 500.0)])
        );
        assert_eq!(
            (end.seconds, end.until, end.windows, end.reason),
            (20.0, 10.0, 2, Reason::Overdue)
        );
        assert!(history.estimate(MethodId(8), 50.0).is_none());
        // With its probes back it does nothing: half of what was thought before.
        history.counted_again(MethodId(7), times[2] + Duration::from_secs(10));
        history.settled(MethodId(7), &Rates::new());
        assert_eq!(after(&history, 60.0).missing, rates(&[(0, 1_750.0), (1, 750.0)]));
        assert_eq!(history.sizes(), (0, 1));
    }

    #[test]
    fn stopped_time_does_not_count() {
        let mut history = ProbeHistory::default();
        history.silenced(MethodId(1), history.epoch, rates(&[(0, 100.0)]), Reason::Known);
        history.epoch -= Duration::from_secs(10);
        let silent = history.methods[&MethodId(1)].silent.unwrap() - Duration::from_secs(10);
        history.methods.get_mut(&MethodId(1)).unwrap().silent = Some(silent);
        history.stop();
        let estimate = |history: &ProbeHistory, seconds| {
            history.estimate(MethodId(1), seconds).unwrap().missing[&0].round()
        };
        assert_eq!(estimate(&history, 10.0), 1_000.0);
        // It has probes from the start of the next interval on.
        history.begin(Duration::from_secs(10));
        assert_eq!(estimate(&history, 15.0), 1_000.0);
        assert_eq!(history.sizes(), (0, 1));
    }

    #[test]
    fn a_reset_keeps_rates_only() {
        let mut history = ProbeHistory::default();
        let begin = history.epoch - Duration::from_secs(100);
        history.epoch = begin;
        history.silenced(MethodId(1), begin, rates(&[(0, 10.0)]), Reason::Known);
        history.silenced(MethodId(2), begin, rates(&[(0, 10.0)]), Reason::Known);
        history.counted_again(MethodId(2), begin);
        history.reset();
        assert!(
            history.estimate(MethodId(2), 1.0).is_none(),
            "it is being counted"
        );
        let one = history.estimate(MethodId(1), 2.0).unwrap();
        assert_eq!((one.missing, one.seconds), (rates(&[(0, 20.0)]), 0.0));
    }
}
