//! How often code may be changed at most, whatever the options ask for.
//!
//! Taking probes out, or putting them back, makes the JVM throw compiled code away: the program stands still
//! for the call, and runs more slowly until its code is compiled again. Changes every two seconds once made a
//! program of 23 s take 420 s. So changes may take at most [`SHARE`] of the run: before each one, what the
//! changes so far have cost, and the price of one more, must not be above that share of the time that has
//! passed. The program then takes at most 1 / (1 - [`SHARE`]) of the time that it would take without changes,
//! and at most one change more.
//!
//! What a change costs is the time of the call, and, for each second of the JVM's compiler threads in the
//! [`COST_PERIOD`], that second and [`SLOWER`] more, in which the program ran code that was not compiled yet.
//! What the program would have compiled in any case counts as well: a program that is still warming up is
//! changed more rarely.

use std::time::{Duration, Instant};

/// Part of the run that changes of code may take.
pub const SHARE: f64 = 0.2;
/// Compilation this long after a change counts as its cost.
const COST_PERIOD: Duration = Duration::from_secs(3);
/// Seconds in which the program runs more slowly, for each second of compiling.
const SLOWER: f64 = 1.0;
/// Price of a class where the system does not say how long compilers ran.
const CLASS: f64 = 0.1;

/// The account of changes.
pub struct ChangeLimiter {
    begin: Instant,
    /// Seconds that changes have cost so far.
    spent: f64,
    changes: u32,
    /// Until when compilation counts; seconds of compiler threads that are in the account, and when that was.
    aftermath: Option<(Instant, f64, Instant)>,
    /// Changes that were put off.
    put_off: u64,
}

impl ChangeLimiter {
    /// No change yet.
    pub fn new(begin: Instant) -> Self {
        ChangeLimiter {
            begin,
            spent: 0.0,
            changes: 0,
            aftermath: None,
            put_off: 0,
        }
    }

    /// True if code may be changed now. `compiled`: seconds that the JVM's compiler threads have run so far.
    pub fn allows(&mut self, now: Instant, compiled: f64) -> bool {
        self.settle(now, compiled);
        let next = self.spent / f64::from(self.changes.max(1));
        let allowed = self.spent + next <= SHARE * (now - self.begin).as_secs_f64();
        self.put_off += u64::from(!allowed);
        allowed
    }

    /// Changes so far, and the seconds that they have cost.
    pub fn changes(&self) -> (u32, f64) {
        (self.changes, self.spent)
    }

    /// How many changes were put off so far, each look counted.
    pub fn put_off(&self) -> u64 {
        self.put_off
    }

    /// Code was changed, which took that long until now. `compiled`: seconds of compiler threads.
    pub fn changed(&mut self, now: Instant, took: Duration, classes: usize, compiled: f64) {
        self.settle(now, compiled);
        self.spent += took.as_secs_f64();
        self.changes += 1;
        if compiled > 0.0 {
            self.aftermath = Some((now + COST_PERIOD, compiled, now));
        } else {
            self.spent += classes as f64 * CLASS;
        }
    }

    /// Takes in what was compiled since the last time.
    fn settle(&mut self, now: Instant, compiled: f64) {
        let Some((until, before, then)) = self.aftermath else {
            return;
        };
        let seconds = (now - then).as_secs_f64();
        // Looks may be further apart than the aftermath is long.
        let inside = until.saturating_duration_since(then).as_secs_f64();
        let part = if seconds > inside { inside / seconds } else { 1.0 };
        self.spent += (compiled - before).max(0.0) * part * (1.0 + SLOWER);
        self.aftermath = (now < until).then_some((until, compiled, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A JVM whose code is changed whenever that is allowed, asked for every `every` seconds. A change takes
    /// `call` seconds, and then `compiling` seconds of compiler threads in as many seconds. What it cost, and
    /// how many seconds the run had.
    fn run(length: f64, every: f64, call: f64, compiling: f64) -> (f64, u32, u64) {
        let begin = Instant::now();
        let at = |seconds: f64| begin + Duration::from_secs_f64(seconds);
        let mut limiter = ChangeLimiter::new(begin);
        let (mut time, mut compiled, mut to_compile) = (0.0, 1.0, 0.0f64);
        let (mut cost, mut changes) = (0.0, 0);
        while time < length {
            let step: f64 = every.min(0.5);
            time += step;
            let now = to_compile.min(step);
            compiled += now;
            to_compile -= now;
            if limiter.allows(at(time), compiled) {
                time += call;
                limiter.changed(at(time), Duration::from_secs_f64(call), 1, compiled);
                to_compile += compiling;
                cost += call + compiling;
                changes += 1;
            }
        }
        (cost / time, changes, limiter.put_off())
    }

    #[test]
    fn changes_take_no_more_than_their_share() {
        for every in [0.02, 0.5, 2.0] {
            for (call, compiling) in [(0.01, 0.3), (0.2, 1.5), (1.6, 0.0), (1.6, 3.0), (0.005, 0.9)] {
                let (share, changes, put_off) = run(400.0, every, call, compiling);
                let one = (call + 2.0 * compiling) / 400.0;
                assert!(share <= SHARE + one, "{every} {call} {compiling}: {share}");
                assert!(
                    changes >= 5 && put_off > 0,
                    "{every} {call} {compiling}: {changes}"
                );
            }
        }
    }

    #[test]
    fn cheap_changes_are_never_put_off() {
        let (_, changes, put_off) = run(100.0, 2.0, 0.005, 0.01);
        assert_eq!(put_off, 0);
        assert!(changes >= 100, "{changes}");
    }

    #[test]
    fn the_first_change_is_free_and_the_second_waits_for_what_it_cost() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut limiter = ChangeLimiter::new(begin);
        assert!(limiter.allows(at(1), 10.0));
        limiter.changed(at(3), Duration::from_secs(2), 7, 10.0);
        // Of 8 seconds of compiling in 6 seconds, 3 seconds of them right after the change, half counts,
        // twice: 10 in all.
        assert!(!limiter.allows(at(9), 18.0));
        assert!(!limiter.allows(at(99), 60.0));
        assert!(limiter.allows(at(100), 60.0));
        assert_eq!(limiter.put_off(), 2);
    }

    #[test]
    fn without_the_time_of_compilers_classes_have_a_price() {
        let begin = Instant::now();
        let mut limiter = ChangeLimiter::new(begin);
        limiter.changed(begin, Duration::ZERO, 10, 0.0);
        assert!(!limiter.allows(begin + Duration::from_secs(9), 0.0));
        assert!(limiter.allows(begin + Duration::from_secs(10), 0.0));
    }
}
