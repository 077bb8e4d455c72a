//! The cost of profiling so far, compared with the budget.
//!
//! Three posts, all in seconds of the program: counting (path ends, at a price that is between two limits),
//! retransformations (their wall time, of which the program stands still for a part), and compiling again
//! what they threw away (processor time of the JVM's compiler threads in the seconds after one, beyond what
//! they took before). Code that runs more slowly until it is compiled again cannot be seen; a fixed price per
//! class stands for it.

use std::time::{Duration, Instant};

use super::history::Totals;
use crate::sampling::{compiler_seconds, processor_seconds};

/// The cost of a path end, with the rest of the work of probes.
///
/// It is higher the more code the path ends are spread over: less than 1 ns on Xalan and in tight loops
/// of kernels, 1.6 ns on Jackson, 10 to 15 ns on ECJ, which has a path end each 61 ns. But the *share* of the
/// time that exact counts take is much the same everywhere, 0.15 to 0.4. So that is what is charged, within
/// limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Seconds per path end, at least and at most.
    least: f64,
    most: f64,
}

impl Price {
    /// The price of exact counts.
    pub const COUNT: Price = Price {
        least: 4e-9,
        most: 15e-9,
    };
    /// The price of a path end of a structure graph, whose switch is nearly always off: a load and a branch.
    pub const SWITCH: Price = Price {
        least: 2e-9,
        most: 2e-9,
    };
    /// Share of a program's processor time that counting takes.
    const SHARE: f64 = 0.2;

    /// Seconds that path ends cost a program that took `busy` seconds of processor time meanwhile.
    fn of(self, path_ends: u64, busy: f64) -> f64 {
        let path_ends = path_ends as f64;
        (Self::SHARE * busy).clamp(self.least * path_ends, self.most * path_ends)
    }
}

/// A run of this length has the budget to spend from the start: a program that ends earlier may get more than
/// its share.
const LENGTH: Duration = Duration::from_secs(300);
/// Compilation this long after a retransformation is blamed on it.
const BLAME_PERIOD: Duration = Duration::from_secs(3);
/// The assumed cost of a retransformation before there was one: per call, and per class with its compilation.
const CALL: f64 = 0.01;
const CLASS: f64 = 0.02;
/// The loss of a class each time until it is compiled again, in seconds: taking the probes out of 46 classes
/// of Jackson cost 3.5 s.
pub const SLOW: f64 = 0.08;

/// The account.
pub struct OverheadBudget {
    allowance: f64,
    price: Price,
    begin: Instant,
    /// Processor time of the program when path ends were last counted.
    busy: f64,
    /// Compiler time at that moment.
    seen: (Instant, f64),
    counting: f64,
    path_ends: u64,
    pauses: f64,
    compiling: f64,
    slow: f64,
    calls: u32,
    classes: usize,
    /// Compiler time at looks of the last seconds.
    looks: Vec<(Instant, f64)>,
    /// Retransformation whose aftermath is not over: when, compiler time then, and compiler time per second
    /// before.
    open: Option<(Instant, f64, f64)>,
}

/// Seconds spent, for messages.
impl std::fmt::Display for OverheadBudget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "spent: counting {:.2} s, retransforming {:.2} s, compiling {:.2} s, slowed {:.2} s",
            self.counting, self.pauses, self.compiling, self.slow
        )
    }
}

impl OverheadBudget {
    /// Nothing spent.
    pub fn new(allowance: f64, price: Price, begin: Instant) -> Self {
        let seen = (begin, compiler_seconds());
        OverheadBudget {
            allowance,
            price,
            begin,
            busy: busy_seconds(seen),
            seen,
            counting: 0.0,
            path_ends: 0,
            pauses: 0.0,
            compiling: 0.0,
            slow: 0.0,
            calls: 0,
            classes: 0,
            looks: vec![seen],
            open: None,
        }
    }

    /// At the beginning of every look: path ends were counted since the last one.
    pub fn counted(&mut self, path_ends: u64) {
        self.seen = (Instant::now(), compiler_seconds());
        let busy = busy_seconds(self.seen);
        let took = busy - std::mem::replace(&mut self.busy, busy);
        self.charge(path_ends, took);
    }

    fn charge(&mut self, path_ends: u64, busy: f64) {
        self.counting += self.price.of(path_ends, busy);
        self.path_ends += path_ends;
    }

    /// A retransformation begins.
    pub fn before(&mut self) {
        let now = (Instant::now(), compiler_seconds());
        self.settle(now);
        if self.open.is_none() {
            let first = self.looks[0];
            let before = (now.1 - first.1) / (now.0 - first.0).as_secs_f64().max(0.1);
            self.open = Some((now.0, now.1, before.max(0.0)));
        }
    }

    /// It took that long for that many classes.
    pub fn retransformed(&mut self, took: Duration, classes: usize) {
        self.pauses += took.as_secs_f64();
        self.calls += 1;
        self.classes += classes;
        self.slow += classes as f64 * SLOW;
    }

    /// At the end of every look.
    pub fn look(&mut self, totals: &mut Totals) {
        let now = self.seen;
        self.settle(now);
        self.looks.push(now);
        let old = |look: &(Instant, f64)| now.0 - look.0 > BLAME_PERIOD;
        while self.looks.len() > 2 && old(&self.looks[0]) {
            self.looks.remove(0);
        }
        totals.counting = self.counting;
        totals.compiling = self.compiling;
        totals.slow = self.slow;
    }

    fn settle(&mut self, (at, compiled): (Instant, f64)) {
        let Some((begin, before, rate)) = self.open else {
            return;
        };
        let seconds = (at - begin).as_secs_f64();
        if at - begin >= BLAME_PERIOD {
            // Looks may be further apart: no more is blamed on it than what an aftermath is long.
            let part = BLAME_PERIOD.as_secs_f64() / seconds;
            self.compiling += ((compiled - before - rate * seconds) * part).max(0.0);
            self.open = None;
        }
    }

    fn spent(&self) -> f64 {
        self.counting + self.pauses + self.compiling + self.slow
    }

    /// Seconds per path end, so far.
    pub fn price(&self) -> f64 {
        match self.path_ends {
            0 => self.price.least,
            ends => self.counting / ends as f64,
        }
    }

    /// Seconds that the JVM's compiler threads had taken at the last look.
    pub fn compiled(&self) -> f64 {
        self.looks.last().map_or(0.0, |look| look.1)
    }

    /// True if it has cost more than a run of the usual length may.
    pub fn overdrawn(&self, now: Instant) -> bool {
        self.spent() > self.allowance * (now - self.begin).max(LENGTH).as_secs_f64()
    }

    /// True if that many classes may get their probes back and lose them again, with `counting` seconds of
    /// counting between. By the time that has really passed.
    pub fn allows(&self, now: Instant, classes: usize, counting: f64) -> bool {
        let average =
            |spent: f64, number: f64, assumed: f64| if number > 0.0 { spent / number } else { assumed };
        let call = average(self.pauses, f64::from(self.calls), CALL);
        let class = average(self.compiling, self.classes as f64, CLASS);
        let price = 2.0 * (call + (class + SLOW) * classes as f64) + counting;
        self.open.is_none() && self.spent() + price <= self.allowance * (now - self.begin).as_secs_f64()
    }
}

/// Processor time of all of the process but the JVM's compiler threads so far, in seconds, given theirs.
fn busy_seconds((_, compiled): (Instant, f64)) -> f64 {
    (processor_seconds() - compiled).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_ends_cost_a_share_of_the_time_within_limits() {
        // A tight loop; a program whose path ends are 50 ns apart; one that does other things most of the
        // time.
        let nanos = |price: Price, busy| (price.of(1_000_000, busy) * 1e3).round();
        assert_eq!(
            [0.002, 0.05, 3.0].map(|busy| nanos(Price::COUNT, busy)),
            [4.0, 10.0, 15.0]
        );
        assert_eq!(nanos(Price::SWITCH, 3.0), 2.0);
        let mut budget = OverheadBudget::new(0.01, Price::COUNT, Instant::now());
        assert_eq!(budget.price(), 4e-9);
        budget.charge(1_000_000, 0.05);
        budget.charge(1_000_000, 0.0);
        assert!((budget.price() - 7e-9).abs() < 1e-15);
        // The clock of the system does not go back, but its parts are read one after the other.
        budget.charge(0, -1.0);
        assert!((budget.price() - 7e-9).abs() < 1e-15);
    }

    #[test]
    fn the_budget_is_that_of_five_minutes_at_first() {
        let begin = Instant::now();
        let mut budget = OverheadBudget::new(0.01, Price::COUNT, begin);
        assert!(!budget.overdrawn(begin));
        // 2.4 seconds of counting: less than 1 % of five minutes, more than 1 % of one.
        budget.charge(600_000_000, 1.0);
        let minutes = |n: u64| begin + Duration::from_secs(60 * n);
        assert!(!budget.overdrawn(minutes(1)));
        assert!(!budget.allows(minutes(1), 1, 0.0));
        assert!(budget.allows(minutes(5), 1, 0.0));
        assert!(!budget.allows(minutes(5), 1, 0.6));
        // 0.7 s in the call, and 0.8 s until ten classes are compiled again.
        budget.retransformed(Duration::from_millis(700), 10);
        assert!(budget.overdrawn(minutes(6)) && !budget.overdrawn(minutes(7)));
    }
}
