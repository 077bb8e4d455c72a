//! Is a method's path profile known well enough to stop counting?
//!
//! Counts of a method since its probes were put in are cut in two: what came before a moment in between, and
//! the window since then, which is at least as long as all before. The profile is *known* if, for every path
//! with at least 1 % of the method's path ends,
//!
//! 1. its share in all counts is known to within a tenth of itself with 95 % confidence (normal
//!    approximation of the binomial distribution), which takes 38,000 path ends for a path of 1 %, and
//! 2. its shares in both parts differ by no more than a tenth of it and what chance explains.
//!
//! The first alone would promise too much: path ends that follow each other are not independent, and programs
//! have phases. The second sees what has changed on the scale of the window; what changes later is seen when
//! the method is counted again.

use std::time::{Duration, Instant};

use trodden_profile::{Alike, MethodMap, alike};

use super::counts::CounterReading;
use super::history::Rates;
use crate::sampling::PathCounts;

/// Path ends that one activation may still have before it when its method is retransformed. It goes on in the
/// interpreter, to its end: some 50 ns each, so this is half a second.
const LONG: f64 = 1e7;
/// Path ends per second that an activation without end may have: a thousandth of the time in the interpreter.
const HARMLESS: f64 = 20_000.0;

/// A method that is being counted.
pub struct Watch {
    /// Since when.
    pub begin: Instant,
    start: PathCounts,
    middle: Instant,
    at_middle: PathCounts,
    /// Path ends at the last look.
    pub total: u64,
}

impl Watch {
    /// From a moment on, at which its counters stood like this.
    pub fn begin(at: Instant, counts: PathCounts) -> Self {
        Watch {
            begin: at,
            middle: at,
            at_middle: counts.clone(),
            start: counts,
            total: 0,
        }
    }

    /// Judges the counts of now: true if the profile is known. If it is not, and the window is longer than
    /// what was before, a new window begins.
    pub fn judge(&mut self, now: Instant, counts: &PathCounts) -> bool {
        let before = difference(&self.at_middle, &self.start);
        let window = difference(counts, &self.at_middle);
        self.total = before.values().sum::<u64>() + window.values().sum::<u64>();
        if known(&before, &window) {
            return true;
        }
        if now - self.middle >= self.middle - self.begin {
            self.middle = now;
            self.at_middle = counts.clone();
        }
        false
    }

    /// Path ends per second of each path. Over the last window, if there is one: what was before may not have
    /// been compiled.
    pub fn rates(&self, now: Instant, counts: &PathCounts) -> Rates {
        let (at, from) = if now > self.middle {
            (self.middle, &self.at_middle)
        } else {
            (self.begin, &self.start)
        };
        rates(counts, from, now - at)
    }

    /// Path ends per second of each path since the beginning.
    pub fn all_rates(&self, now: Instant, counts: &PathCounts) -> Rates {
        rates(counts, &self.start, now - self.begin)
    }

    /// True if an activation of the method is likely to run on for long. Once its method has been
    /// retransformed an activation goes on in the interpreter, and HotSpot does not compile the loop that it
    /// is in again.
    pub fn long_activations(&self, map: &MethodMap, now: &CounterReading, counts: &PathCounts) -> bool {
        let (activations, inside) = now.entered(map, &difference(counts, &self.start));
        runs_long(activations, inside, (now.at - self.begin).as_secs_f64())
    }
}

/// True if an activation is likely to run on for long, of a method with these path ends that began where it
/// was entered, and elsewhere, in that time.
pub fn runs_long(activations: u64, inside: u64, seconds: f64) -> bool {
    let rate = inside as f64 / seconds.max(1e-6);
    rate > HARMLESS && (activations < 2 || inside as f64 / activations as f64 > LONG)
}

/// Counts in between; paths without any are left out.
fn difference(now: &PathCounts, before: &PathCounts) -> PathCounts {
    let since = |(&path, &count): (&u64, &u64)| {
        let count = count.saturating_sub(before.get(&path).copied().unwrap_or(0));
        (count > 0).then_some((path, count))
    };
    now.iter().filter_map(since).collect()
}

/// Path ends per second of what was counted in a time.
fn rates(now: &PathCounts, before: &PathCounts, time: Duration) -> Rates {
    let seconds = time.as_secs_f64().max(1e-6);
    let rate = |(path, count): (u64, u64)| (path, count as f64 / seconds);
    difference(now, before).into_iter().map(rate).collect()
}

fn known(before: &PathCounts, window: &PathCounts) -> bool {
    alike(before, window) == Alike::Yes
}

/// How far two distributions are apart, from 0 to 1 (total variation).
pub fn distance(one: &Rates, other: &Rates) -> f64 {
    let (a, b): (f64, f64) = (one.values().sum(), other.values().sum());
    if a <= 0.0 || b <= 0.0 {
        return if a == b { 0.0 } else { 1.0 };
    }
    let of = |rates: &Rates, path: &u64| rates.get(path).copied().unwrap_or(0.0);
    let both = one
        .keys()
        .chain(other.keys().filter(|path| !one.contains_key(path)));
    both.map(|path| (of(one, path) / a - of(other, path) / b).abs())
        .sum::<f64>()
        / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn counts(pairs: &[(u64, u64)]) -> PathCounts {
        pairs.iter().copied().collect()
    }

    #[test]
    fn shares_are_known_with_enough_of_the_same() {
        let begin = Instant::now();
        let mut watch = Watch::begin(begin, counts(&[(0, 500)]));
        let at = |seconds| begin + SECOND * seconds;
        // The first window has nothing before it.
        assert!(!watch.judge(at(1), &counts(&[(0, 100_500), (1, 2_000)])));
        assert!(watch.judge(at(2), &counts(&[(0, 200_500), (1, 4_000)])));
        assert_eq!(watch.total, 204_000);
        // By the second window alone: 100,000 in a second.
        let rates = watch.rates(at(2), &counts(&[(0, 200_500), (1, 4_000)]));
        assert_eq!(rates, [(0, 100_000.0), (1, 2_000.0)].into());
    }

    #[test]
    fn few_path_ends_and_moving_shares_are_not_known() {
        let before = counts(&[(0, 1_000), (1, 20)]);
        assert!(!known(&before, &before), "1,020 path ends of 2 %");
        let before = counts(&[(0, 100_000), (1, 10_000)]);
        assert!(known(&before, &counts(&[(0, 100_500), (1, 10_300)])));
        assert!(
            !known(&before, &counts(&[(0, 100_000), (1, 20_000)])),
            "a share doubled"
        );
        assert!(
            !known(&before, &counts(&[(0, 100_000), (2, 10_000)])),
            "another path"
        );
        assert!(
            known(&before, &counts(&[(0, 100_000), (1, 10_000), (7, 50)])),
            "rare paths may appear"
        );
        assert!(!known(&counts(&[]), &before));
    }

    #[test]
    fn windows_grow_while_nothing_is_known() {
        let begin = Instant::now();
        let mut watch = Watch::begin(begin, PathCounts::new());
        let at = |seconds| begin + SECOND * seconds;
        let mut all = PathCounts::new();
        for (second, moved) in [(1, 1), (2, 2), (3, 3), (4, 4)] {
            *all.entry(moved).or_default() += 100_000;
            assert!(!watch.judge(at(second), &all));
        }
        // Windows began at 1, 2 and 4 seconds: at 3, the window was shorter than what was before.
        assert_eq!(watch.middle, at(4));
    }

    #[test]
    fn distances() {
        let one: Rates = [(0, 3.0), (1, 1.0)].into();
        assert_eq!(distance(&one, &[(0, 30.0), (1, 10.0)].into()), 0.0);
        assert_eq!(distance(&one, &[(5, 1.0)].into()), 1.0);
        assert_eq!(distance(&one, &[(0, 1.0), (1, 1.0)].into()), 0.25);
        assert_eq!(distance(&Rates::new(), &one), 1.0);
    }
}
