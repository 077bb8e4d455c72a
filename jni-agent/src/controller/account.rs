//! What profiling has cost so far, against the budget.
//!
//! Three posts, all in seconds of the program: counting (path ends, at a price measured on kernels), retransformations (their wall
//! time, of which the program stands still for a part), and compiling again what they threw away (processor time of the
//! JVM's compiler threads in the seconds after one, beyond what they took before). Code that runs more slowly until it is compiled
//! again cannot be seen; a fixed price per class stands for it.

use std::time::{Duration, Instant};

use super::ledger::Totals;

/// Seconds per path end counted, with what else probes cost: ECJ ended 36 million paths in 5 s and took 8 % longer with exact counts,
/// hence 11 ns. On Xalan, and in tight loops of kernels, it is 1 to 2 ns.
pub const COUNT: f64 = 4e-9;
/// The same for a path end of a structure graph, whose switch is nearly always off: a load and a branch.
pub const SWITCH: f64 = 2e-9;
/// A run of this length has the budget to spend from the start: a program that ends earlier may get more than its share.
const LENGTH: Duration = Duration::from_secs(300);
/// Compilation this long after a retransformation is blamed on it.
const AFTERMATH: Duration = Duration::from_secs(3);
/// What is assumed of a retransformation before there was one: per call, and per class with its compilation.
const CALL: f64 = 0.01;
const CLASS: f64 = 0.02;
/// What a class loses each time until it is compiled again, in seconds: taking the probes out of 46 classes of Jackson cost 3.5 s.
pub const SLOW: f64 = 0.08;

/// The account.
pub struct Account {
    allowance: f64,
    price: f64,
    begin: Instant,
    counting: f64,
    pauses: f64,
    compiling: f64,
    slow: f64,
    calls: u32,
    classes: usize,
    /// Compiler time at looks of the last seconds.
    looks: Vec<(Instant, f64)>,
    /// Retransformation whose aftermath is not over: when, compiler time then, and compiler time per second before.
    open: Option<(Instant, f64, f64)>,
}

/// Seconds spent, for messages.
impl std::fmt::Display for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "spent: counting {:.2} s, retransforming {:.2} s, compiling {:.2} s, slowed {:.2} s",
            self.counting, self.pauses, self.compiling, self.slow
        )
    }
}

impl Account {
    /// Nothing spent. `price`: seconds per path end.
    pub fn new(allowance: f64, price: f64, begin: Instant) -> Self {
        Account {
            allowance,
            price,
            begin,
            counting: 0.0,
            pauses: 0.0,
            compiling: 0.0,
            slow: 0.0,
            calls: 0,
            classes: 0,
            looks: vec![(begin, compiler_seconds())],
            open: None,
        }
    }

    /// Path ends were counted.
    pub fn counted(&mut self, path_ends: u64) {
        self.counting += path_ends as f64 * self.price;
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

    /// At every look.
    pub fn look(&mut self, totals: &mut Totals) {
        let now = (Instant::now(), compiler_seconds());
        self.settle(now);
        self.looks.push(now);
        let old = |look: &(Instant, f64)| now.0 - look.0 > AFTERMATH;
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
        if at - begin >= AFTERMATH {
            // Looks may be further apart: no more is blamed on it than what an aftermath is long.
            let part = AFTERMATH.as_secs_f64() / seconds;
            self.compiling += ((compiled - before - rate * seconds) * part).max(0.0);
            self.open = None;
        }
    }

    fn spent(&self) -> f64 {
        self.counting + self.pauses + self.compiling + self.slow
    }

    /// Seconds per path end.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// Has it cost more than a run of the usual length may?
    pub fn overdrawn(&self, now: Instant) -> bool {
        self.spent() > self.allowance * (now - self.begin).max(LENGTH).as_secs_f64()
    }

    /// May that many classes get their probes back and lose them again, with so many seconds of counting between? By the
    /// time that has really passed.
    pub fn allows(&self, now: Instant, classes: usize, counting: f64) -> bool {
        let average = |spent: f64, number: f64, assumed: f64| match number > 0.0 {
            true => spent / number,
            false => assumed,
        };
        let call = average(self.pauses, f64::from(self.calls), CALL);
        let class = average(self.compiling, self.classes as f64, CLASS);
        let price = 2.0 * (call + (class + SLOW) * classes as f64) + counting;
        self.open.is_none() && self.spent() + price <= self.allowance * (now - self.begin).as_secs_f64()
    }
}

/// Processor time of the JVM's compiler threads so far, in seconds; 0 where the system does not tell.
fn compiler_seconds() -> f64 {
    let ticks = compiler_ticks().unwrap_or(0);
    // The number of clock ticks per second is 100 on every Linux that HotSpot runs on (USER_HZ).
    ticks as f64 / 100.0
}

fn compiler_ticks() -> Option<u64> {
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
        // A thread may end meanwhile.
        let Ok(stat) = std::fs::read_to_string(task.path().join("stat")) else {
            continue;
        };
        sum += ticks_of_compiler(&stat).unwrap_or(0);
    }
    Some(sum)
}

/// User and system time, if this is a compiler thread's line: `pid (C2 CompilerThre) S …`.
fn ticks_of_compiler(stat: &str) -> Option<u64> {
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
    let compiler = name.starts_with("C1 Compiler") || name.starts_with("C2 Compiler");
    let mut fields = rest.split(' ').skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    compiler.then(|| Some(next()? + next()?)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_threads_are_known_by_name() {
        let line = "77 (C2 CompilerThre) S 1 1 1 0 -1 4194368 100 0 0 0 1234 66 0 0 20 0 30 0 1 2 3";
        assert_eq!(ticks_of_compiler(line), Some(1300));
        assert_eq!(
            ticks_of_compiler(&line.replace("C2 CompilerThre", "GC Thread#0")),
            None
        );
        assert_eq!(ticks_of_compiler(&line.replace("C2 Comp", "x) (y")), None);
        assert_eq!(ticks_of_compiler("nonsense"), None);
    }

    #[test]
    fn the_budget_is_that_of_five_minutes_at_first() {
        let begin = Instant::now();
        let mut account = Account::new(0.01, COUNT, begin);
        assert!(!account.overdrawn(begin));
        // 2.4 seconds of counting: less than 1 % of five minutes, more than 1 % of one.
        account.counted(600_000_000);
        let minutes = |n: u64| begin + Duration::from_secs(60 * n);
        assert!(!account.overdrawn(minutes(1)));
        assert!(!account.allows(minutes(1), 1, 0.0));
        assert!(account.allows(minutes(5), 1, 0.0));
        assert!(!account.allows(minutes(5), 1, 0.6));
        // 0.7 s in the call, and 0.8 s until ten classes are compiled again.
        account.retransformed(Duration::from_millis(700), 10);
        assert!(account.overdrawn(minutes(6)) && !account.overdrawn(minutes(7)));
    }
}
