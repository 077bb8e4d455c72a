//! A generator with a fixed sequence, the same on every machine: figures that were published depend on it.

/// A linear congruential generator (MMIX's); the upper bits are given out.
pub struct Random(pub u64);

impl Random {
    /// From 0 to below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}
