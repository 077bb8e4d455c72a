//! Are the paths of a method known, and the same in two intervals?

use std::collections::BTreeMap;

/// Paths with a smaller share of their method's path ends may stay uncertain.
const HOT: f64 = 0.01;
/// Half of the confidence interval, relative to the share.
const PRECISION: f64 = 0.1;
/// Difference between both parts, relative to the share.
const DRIFT: f64 = 0.1;
/// Quantile of the normal distribution for 95 %.
const Z: f64 = 1.96;

/// The result of comparing two intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alike {
    /// Shares are known, and the same in both.
    Yes,
    /// They differ by more than chance explains.
    No,
    /// There is too little of one of them to tell.
    Unknown,
}

/// Compares the counts of a method's paths in two intervals: the share in both together of every path with at least 1 %
/// of the path ends has to be known to within a tenth of itself, with 95 % confidence (normal approximation of the binomial
/// distribution), and both shares may differ by a tenth and what chance explains.
pub fn alike(before: &BTreeMap<u64, u64>, after: &BTreeMap<u64, u64>) -> Alike {
    let sum = |counts: &BTreeMap<u64, u64>| counts.values().sum::<u64>() as f64;
    let (earlier, later) = (sum(before), sum(after));
    let all = earlier + later;
    if earlier == 0.0 || later == 0.0 {
        return Alike::Unknown;
    }
    let mut result = Alike::Yes;
    for path in before.keys().chain(after.keys()) {
        let of = |counts: &BTreeMap<u64, u64>| counts.get(path).copied().unwrap_or(0) as f64;
        let share = (of(before) + of(after)) / all;
        if share < HOT {
            continue;
        }
        let spread = share * (1.0 - share);
        let drift = (of(before) / earlier - of(after) / later).abs();
        if drift > DRIFT * share + Z * (spread * (1.0 / earlier + 1.0 / later)).sqrt() {
            return Alike::No;
        }
        if Z * (spread / all).sqrt() > PRECISION * share {
            result = Alike::Unknown;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(u64, u64)]) -> BTreeMap<u64, u64> {
        pairs.iter().copied().collect()
    }

    #[test]
    fn few_path_ends_tell_nothing_and_moving_shares_tell_that_they_move() {
        let before = counts(&[(0, 1_000), (1, 20)]);
        assert_eq!(alike(&before, &before), Alike::Unknown, "1,020 path ends of 2 %");
        let before = counts(&[(0, 100_000), (1, 10_000)]);
        let with = |after: &[(u64, u64)]| alike(&before, &counts(after));
        assert_eq!(with(&[(0, 100_500), (1, 10_300)]), Alike::Yes);
        assert_eq!(with(&[(0, 100_000), (1, 20_000)]), Alike::No, "a share doubled");
        assert_eq!(with(&[(0, 100_000), (2, 10_000)]), Alike::No, "another path");
        assert_eq!(
            with(&[(0, 100_000), (1, 10_000), (7, 50)]),
            Alike::Yes,
            "a rare path more"
        );
        assert_eq!(with(&[]), Alike::Unknown);
    }
}
