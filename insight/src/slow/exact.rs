//! Fisher's exact test, and the size of a weighted sample.

/// Logarithms of factorials.
pub struct Factorials(Vec<f64>);

impl Factorials {
    /// Those of 0 to a number.
    pub fn up_to(last: usize) -> Self {
        let mut all = Vec::with_capacity(last + 1);
        all.push(0.0);
        for number in 1..=last {
            all.push(all[number - 1] + (number as f64).ln());
        }
        Factorials(all)
    }

    fn choose(&self, of: usize, chosen: usize) -> f64 {
        self.0[of] - self.0[chosen] - self.0[of - chosen]
    }

    /// The probability that at least `hits[0]` of `sizes[0]` have a property, if chance alone chose which of both groups
    /// have it: `hits[1]` of the other group's `sizes[1]` do. The factorials reach to the sum of both sizes.
    pub fn at_least(&self, hits: [usize; 2], sizes: [usize; 2]) -> f64 {
        let all = sizes[0] + sizes[1];
        let with = hits[0] + hits[1];
        let most = with.min(sizes[0]);
        let first = self.choose(with, hits[0]) + self.choose(all - with, sizes[0] - hits[0])
            - self.choose(all, sizes[0]);
        let mut term = first.exp();
        let mut sum = 0.0;
        for hit in hits[0]..=most {
            sum += term;
            // That of the next number, by what changes in the three binomials. Where the first is too small to be a number,
            // so is the sum.
            let up = (with - hit) as f64 * (sizes[0] - hit) as f64;
            let down = (hit + 1) as f64 * (all - with + hit + 1).saturating_sub(sizes[0]) as f64;
            term *= up / down;
            if term < sum * 1e-12 {
                break;
            }
        }
        sum.min(1.0)
    }
}

/// The number of equal weights that estimate a share as well as these do (Kish): `(Σw)² / Σw²`.
pub fn effective(weights: impl Iterator<Item = f64>) -> f64 {
    let (sum, squares) = weights.fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to choose the first group, one after the other.
    fn by_hand(hits: [usize; 2], sizes: [usize; 2]) -> f64 {
        let (all, with) = (sizes[0] + sizes[1], hits[0] + hits[1]);
        let (mut groups, mut as_many) = (0u32, 0u32);
        for group in 0..1u32 << all {
            if group.count_ones() as usize == sizes[0] {
                groups += 1;
                // The first ones have the property.
                let hit = (group & ((1 << with) - 1)).count_ones() as usize;
                as_many += u32::from(hit >= hits[0]);
            }
        }
        f64::from(as_many) / f64::from(groups)
    }

    #[test]
    fn all_small_tables() {
        let factorials = Factorials::up_to(13);
        for all in 1..=13 {
            for first in 0..=all {
                let sizes = [first, all - first];
                for hits in 0..=sizes[0] {
                    for others in 0..=sizes[1] {
                        let (found, truth) = (
                            factorials.at_least([hits, others], sizes),
                            by_hand([hits, others], sizes),
                        );
                        assert!(
                            (found - truth).abs() < 1e-9,
                            "{hits} {others} of {sizes:?}: {found} {truth}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn large_tables() {
        let factorials = Factorials::up_to(20_612);
        // By exact integers, in Python: sums of `comb(with, k) * comb(all - with, first - k)`, divided by `comb(all, first)`.
        for (hits, sizes, truth) in [
            ([15, 5], [100, 200], 9.850179e-05),
            ([40, 300], [400, 6000], 6.328913e-05),
            ([3, 0], [12, 5000], 1.049061e-08),
            ([250, 9000], [612, 20000], 9.812383e-01),
        ] {
            let found = factorials.at_least(hits, sizes);
            assert!(
                (found / truth - 1.0).abs() < 1e-6,
                "{hits:?} of {sizes:?}: {found} {truth}"
            );
        }
        // Too small to be a number.
        let found = factorials.at_least([900, 50], [1_000, 19_000]);
        assert!((0.0..1e-300).contains(&found), "{found}");
    }

    #[test]
    fn unequal_weights_are_worth_less() {
        assert_eq!(effective([2.0; 10].into_iter()), 10.0);
        assert_eq!(effective([1.0, 3.0].into_iter()), 1.6);
        assert_eq!(effective(std::iter::empty()), 0.0);
    }
}
