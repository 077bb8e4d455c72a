//! Random decisions: gaps between samples, lengths, survivors. A seed alone determines all of it.

use crate::contexts::random::Random;

/// Draws from the distributions that sampling needs.
#[derive(Clone, Debug)]
pub(super) struct Draws(Random);

impl Draws {
    /// The sequence of a seed. Streams with different numbers are independent of each other.
    pub fn new(seed: u64, stream: u64) -> Self {
        // Once through the generator: neighbouring numbers must not give sequences that overlap.
        let mut mixer = Random::new(seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
        Draws(Random::new(mixer.next()))
    }

    /// Above 0, below 1, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        ((self.0.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// From 0 to `limit - 1`, all alike (to within 2^-53).
    pub fn below(&mut self, limit: u32) -> u32 {
        (self.unit() * f64::from(limit)) as u32
    }

    /// Failures before the first success, each try succeeding with `probability`: the gap between two items
    /// of a sample that takes each item independently with that probability (Vitter's skips, OSP section
    /// 2.3).
    pub fn gap(&mut self, probability: f64) -> u64 {
        match probability {
            p if p >= 1.0 => 0,
            p if p > 0.0 => (self.unit().ln() / (-p).ln_1p()) as u64, // saturates
            _ => u64::MAX,
        }
    }

    /// How many of `count` survive, each independently with probability `keep`: exactly binomial, in time
    /// proportional to the rarer of survivors and victims.
    pub fn survivors(&mut self, count: u64, keep: f64) -> u64 {
        if keep > 0.5 {
            count - self.hits(count, 1.0 - keep)
        } else {
            self.hits(count, keep)
        }
    }

    fn hits(&mut self, count: u64, probability: f64) -> u64 {
        let (mut rest, mut hits) = (count, 0);
        if probability <= 0.0 {
            return 0;
        }
        loop {
            let gap = self.gap(probability);
            if gap >= rest {
                return hits;
            }
            rest -= gap + 1;
            hits += 1;
        }
    }

    /// `true` with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pearson's statistic of observed counts against probabilities; the last cell takes the rest.
    fn chi_square(observed: &[u64], probabilities: &[f64]) -> f64 {
        let draws = observed.iter().sum::<u64>() as f64;
        let cells = observed.iter().zip(probabilities);
        cells
            .map(|(&o, &p)| (o as f64 - draws * p).powi(2) / (draws * p))
            .sum()
    }

    #[test]
    fn gaps_are_geometric() {
        let mut draws = Draws::new(3, 0);
        for p in [0.9, 0.5, 0.2] {
            let mut observed = [0u64; 8];
            (0..80_000).for_each(|_| observed[draws.gap(p).min(7) as usize] += 1);
            let mut expected: Vec<f64> = (0..7).map(|n| p * (1.0f64 - p).powi(n)).collect();
            expected.push((1.0f64 - p).powi(7));
            if p == 0.9 {
                // Too few to compare one by one.
                observed[4] += observed[5..].iter().sum::<u64>();
                expected[4] += expected[5..].iter().sum::<f64>();
                observed[5..].fill(0);
            }
            let cells = if p == 0.9 { 5 } else { 8 };
            // 99.9 % of the distribution with 7 degrees of freedom.
            assert!(
                chi_square(&observed[..cells], &expected[..cells]) < 24.3,
                "{p}: {observed:?}"
            );
        }
        assert_eq!(draws.gap(1.0), 0);
        assert_eq!(draws.gap(0.0), u64::MAX);
    }

    #[test]
    fn survivors_are_binomial() {
        let mut draws = Draws::new(4, 0);
        for keep in [0.1, 0.5, 8.0 / 9.0] {
            let mut observed = [0u64; 7];
            (0..60_000).for_each(|_| observed[draws.survivors(6, keep) as usize] += 1);
            let choose = [1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0];
            let expected: Vec<f64> = (0..7)
                .map(|n| choose[n as usize] * keep.powi(n) * (1.0 - keep).powi(6 - n))
                .collect();
            let cells: Vec<usize> = (0..7).filter(|&n| expected[n] * 60_000.0 > 5.0).collect();
            let observed: Vec<u64> = cells.iter().map(|&n| observed[n]).collect();
            let expected: Vec<f64> = cells.iter().map(|&n| expected[n]).collect();
            // 99.9 % with 6 degrees of freedom.
            assert!(chi_square(&observed, &expected) < 22.5, "{keep}: {observed:?}");
        }
        assert_eq!((draws.survivors(9, 1.0), draws.survivors(9, 0.0)), (9, 0));
    }
}
