//! Random numbers that depend on a seed alone, the same on every machine.

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// `true` once in `n` times. `n` is not 0.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.next().is_multiple_of(u64::from(n))
    }

    /// How often something fails that succeeds once in `2^rate` times, before it succeeds.
    pub fn failures(&mut self, rate: u32) -> u64 {
        match rate {
            0 => 0,
            1 => u64::from(self.next().trailing_zeros()),
            _ => {
                // Inverse of the geometric distribution; 53 bits, never 0.
                let uniform = ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
                (uniform.ln() / (-(0.5f64.powi(rate as i32))).ln_1p()) as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_geometric() {
        let mut random = Random::new(7);
        for rate in [0, 1, 2, 5, 10] {
            let draws = 100_000u64;
            let sum: u64 = (0..draws).map(|_| random.failures(rate)).sum();
            let (mean, expected) = (sum as f64 / draws as f64, 2f64.powi(rate as i32) - 1.0);
            assert!((mean - expected).abs() <= 0.02 * expected, "{rate}: {mean}");
        }
        let hits = (0..100_000).filter(|_| random.one_in(20)).count();
        assert!((4_700..5_300).contains(&hits), "{hits}");
    }
}
