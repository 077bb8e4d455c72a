//! Sums.

use std::collections::BTreeMap;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use super::MethodCoverage;

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ratio {
    /// What ran.
    pub covered: u64,
    /// What there is.
    pub total: u64,
}

impl Ratio {
    /// One thing, that ran or did not.
    pub fn one(covered: bool) -> Self {
        Ratio {
            covered: covered.into(),
            total: 1,
        }
    }

    /// What did not run.
    pub fn missed(self) -> u64 {
        self.total.saturating_sub(self.covered)
    }

    /// The share that ran, 0 to 1; `None` of nothing.
    pub fn share(self) -> Option<f64> {
        (self.total > 0).then(|| self.covered as f64 / self.total as f64)
    }
}

impl Add for Ratio {
    type Output = Ratio;

    fn add(self, other: Ratio) -> Ratio {
        Ratio {
            covered: self.covered.saturating_add(other.covered),
            total: self.total.saturating_add(other.total),
        }
    }
}

impl AddAssign for Ratio {
    fn add_assign(&mut self, other: Ratio) {
        *self = *self + other;
    }
}

impl Sum for Ratio {
    fn sum<I: Iterator<Item = Ratio>>(ratios: I) -> Ratio {
        ratios.fold(Ratio::default(), Ratio::add)
    }
}

/// What of some methods ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Paths, no more than the cap of each method.
    pub paths: Ratio,
    /// Outcomes of branches and switches.
    pub branches: Ratio,
    /// Source lines; one that several methods share is one.
    pub lines: Ratio,
    /// Methods.
    pub methods: Ratio,
    /// Classes.
    pub classes: Ratio,
    /// Outcomes of conditions that decided on their own, if MC/DC was asked for.
    pub mcdc: Ratio,
    /// Prime paths of which it is known whether they ran, if they were asked for.
    pub prime_paths: Ratio,
    /// Prime paths of which it is not.
    pub unknown_prime_paths: u64,
}

impl Counters {
    /// The sums over some methods, at most `cap` paths of each.
    pub fn of<'m>(methods: impl IntoIterator<Item = &'m MethodCoverage>, cap: u64) -> Self {
        let mut counters = Counters::default();
        let mut lines: BTreeMap<(&str, &str, u32), bool> = BTreeMap::new();
        let mut classes: BTreeMap<&str, bool> = BTreeMap::new();
        for method in methods {
            counters.paths += method.capped(cap);
            counters.methods += Ratio::one(method.ran());
            counters.mcdc += method.mcdc_ratio();
            let (known, unknown) = method.prime_path_ratio();
            counters.prime_paths += known;
            counters.unknown_prime_paths += unknown;
            *classes.entry(method.class()).or_default() |= method.ran();
            let measured = method.measured();
            for branch in &measured.branches {
                counters.branches += branch.ratio();
            }
            let package = method.class().rsplit_once('/').map_or("", |(package, _)| package);
            let file = method.source_file().unwrap_or(method.class());
            for (&number, line) in &measured.lines {
                *lines.entry((package, file, number)).or_default() |= line.count > 0;
            }
        }
        counters.lines = lines.into_values().map(Ratio::one).sum();
        counters.classes = classes.into_values().map(Ratio::one).sum();
        counters
    }
}
