//! Counts by groups of bursts, and the error of estimates that follows from them.

use crate::model::cpu::share_interval;

/// Groups that bursts are dealt to in turn, the same for all threads: by their differences the error of an
/// estimate is known.
pub const BURST_GROUPS: usize = 16;

/// Counts per group of bursts. Each group is a sample of the whole run, and all are alike but for chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByGroup(pub [u64; BURST_GROUPS]);

/// Groups in which there must have been calls: fewer say too little of each other.
const MIN_GROUPS: usize = 4;

/// 97.5 % quantiles of Student's distribution, from one degree of freedom on.
const STUDENT: [f64; BURST_GROUPS - 1] = [
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604,
    2.1448, 2.1314,
];

impl ByGroup {
    /// Adds what another part of the same groups, or another sample, has.
    pub fn plus(&mut self, other: &ByGroup) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = own.saturating_add(other);
        }
    }

    /// What is left of these without the others'. `None`: there were more of those.
    pub fn minus(&self, other: &ByGroup) -> Option<ByGroup> {
        let mut rest = *self;
        for (own, other) in rest.0.iter_mut().zip(other.0) {
            *own = own.checked_sub(other)?;
        }
        Some(rest)
    }

    /// The sum.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, &part| sum.saturating_add(part))
    }

    /// Bounds of the share of these in `all` in 95 of 100 samples like this one. `None`: there are calls in
    /// too few groups for that to be known.
    ///
    /// The share is a ratio of two sums over groups, so its variance is that of what each group has beyond
    /// the share of its own calls (Wolter, *Introduction to Variance Estimation*, sections 2.4 and 6.4).
    /// Student's distribution, as there are few groups.
    pub fn share_interval(&self, all: &ByGroup) -> Option<(f64, f64)> {
        let groups = all.0.iter().filter(|&&calls| calls > 0).count();
        if groups < MIN_GROUPS {
            return None;
        }
        let whole = all.total() as f64;
        let share = self.total() as f64 / whole;
        let beyond = |(&part, &of): (&u64, &u64)| (part as f64 - share * of as f64).powi(2);
        let squares: f64 = self.0.iter().zip(&all.0).map(beyond).sum();
        let freedom = groups - 1;
        let error = (squares * groups as f64 / freedom as f64).sqrt() / whole;
        let half = STUDENT[freedom - 1] * error;
        Some(((share - half).max(0.0), (share + half).min(1.0)))
    }
}

/// Bounds of a product of shares, given the part and the whole of each factor per group, in 95 of 100
/// samples like this one; `None` as of [`ByGroup::share_interval`].
///
/// The jackknife: the product without each group in turn (Wolter, *Introduction to Variance Estimation*,
/// section 4.2). No narrower than Wilson's interval of as many independent counts, as groups that agree on
/// none or all say too much.
pub fn product_interval(shares: &[[ByGroup; 2]]) -> Option<(f64, f64)> {
    let [_, whole] = shares.first()?;
    let groups: Vec<usize> = (0..BURST_GROUPS).filter(|&group| whole.0[group] > 0).collect();
    if groups.len() < MIN_GROUPS {
        return None;
    }
    let product = |left_out: Option<usize>| {
        let rest = |of: &ByGroup| of.total().saturating_sub(left_out.map_or(0, |group| of.0[group]));
        let share = |[part, whole]: &[ByGroup; 2]| match rest(whole) {
            0 => 0.0,
            of => rest(part) as f64 / of as f64,
        };
        shares.iter().map(share).product::<f64>()
    };
    let all = product(None);
    let of_one = |&group: &usize| (product(Some(group)) - all).powi(2);
    let squares: f64 = groups.iter().map(of_one).sum();
    let freedom = groups.len() - 1;
    let error = (squares * freedom as f64 / groups.len() as f64).sqrt();
    let half = STUDENT[freedom - 1] * error;
    let least = shares.iter().map(|[_, whole]| whole.total()).min()?;
    let (low, high) = share_interval((all * least as f64).round() as u64, least);
    Some(((all - half).clamp(0.0, low), (all + half).clamp(high, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_agree_leave_no_doubt() {
        let all = ByGroup(std::array::from_fn(|group| 100 * (group as u64 + 1)));
        let part = ByGroup(all.0.map(|calls| calls / 4));
        let (low, high) = part.share_interval(&all).unwrap();
        assert!(
            (low - 0.25).abs() < 1e-12 && (high - 0.25).abs() < 1e-12,
            "{low} {high}"
        );
    }

    #[test]
    fn few_groups_say_nothing() {
        let mut all = ByGroup::default();
        all.0[..3].fill(50);
        assert_eq!(all.share_interval(&all), None);
        all.0[3] = 1;
        assert_eq!(all.share_interval(&all), Some((1.0, 1.0)));
        assert_eq!(ByGroup::default().share_interval(&all), Some((0.0, 0.0)));
    }

    #[test]
    fn the_interval_of_one_share_is_that_of_a_ratio() {
        let all = ByGroup(std::array::from_fn(|group| 900 + 13 * (group as u64 * 7 % 16)));
        let part = ByGroup(std::array::from_fn(|group| 300 + 11 * (group as u64 * 5 % 16)));
        let (low, high) = part.share_interval(&all).unwrap();
        let (least, most) = product_interval(&[[part, all]]).unwrap();
        assert!((low - least).abs() < 1e-3 && (high - most).abs() < 1e-3);
    }

    #[test]
    fn the_interval_of_a_product_is_the_jackknifes() {
        // Reckoned apart (Python): 1000, 2000, … 16000 of 40000 each, twice.
        let part = ByGroup(std::array::from_fn(|group| 1000 * (group as u64 + 1)));
        let all = ByGroup([40_000; BURST_GROUPS]);
        let (low, high) = product_interval(&[[part, all], [part, all]]).unwrap();
        assert!((low - 0.018194).abs() < 1e-6, "{low}");
        assert!((high - 0.072118).abs() < 1e-6, "{high}");
    }

    #[test]
    fn groups_that_agree_on_all_are_not_certain() {
        // Wilson's interval of 64 of 64.
        let all = ByGroup([4; BURST_GROUPS]);
        let (low, high) = product_interval(&[[all, all], [all, all]]).unwrap();
        assert!((low - 64.0 / (64.0 + 1.959_963_984_540_054f64.powi(2))).abs() < 1e-9 && high == 1.0);
    }

    #[test]
    fn the_interval_is_that_of_a_ratio() {
        // Reckoned apart (Python): x = 1…16, n = 20 each; p = 0.425, s² = 16/15 · Σ(x − 8.5)², over 320,
        // times 2.1314.
        let part = ByGroup(std::array::from_fn(|group| group as u64 + 1));
        let (low, high) = part.share_interval(&ByGroup([20; BURST_GROUPS])).unwrap();
        assert!((low - 0.298_156).abs() < 1e-6, "{low}");
        assert!((high - 0.551_844).abs() < 1e-6, "{high}");
    }
}
