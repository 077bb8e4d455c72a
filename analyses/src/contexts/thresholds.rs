//! `phi` and `epsilon`.

use super::ContextError;

/// From which share of all calls on a context is hot, and how much a counter may be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    phi: f64,
    epsilon: f64,
}

impl Default for Thresholds {
    /// `phi` = 1e-4 and `epsilon` = `phi` / 5, as in the paper's experiments (HCCT section 5.2).
    fn default() -> Self {
        Thresholds {
            phi: 1e-4,
            epsilon: 2e-5,
        }
    }
}

impl Thresholds {
    /// Fails unless 0 < `epsilon` < `phi` <= 1 and `epsilon` is at least 1e-8.
    pub fn new(phi: f64, epsilon: f64) -> Result<Self, ContextError> {
        if 1e-8 <= epsilon && epsilon < phi && phi <= 1.0 {
            Ok(Thresholds { phi, epsilon })
        } else {
            Err(ContextError::Thresholds { phi, epsilon })
        }
    }

    /// With `epsilon` = `phi` / 5. Fails unless 5e-8 <= `phi` <= 1.
    pub fn of_phi(phi: f64) -> Result<Self, ContextError> {
        Thresholds::new(phi, phi / 5.0)
    }

    /// Share of all calls from which on a context is hot.
    pub fn phi(self) -> f64 {
        self.phi
    }

    /// Error allowed, as a share of all calls.
    pub fn epsilon(self) -> f64 {
        self.epsilon
    }

    /// Counters of Space Saving, and calls in a bucket of Lossy Counting: with `w` of them counters are wrong
    /// by `floor(N / w)` at most.
    ///
    /// The paper takes `1 / epsilon`. With that, rounding `phi * N` down lets a context through that has
    /// exactly `floor((phi - epsilon) * N)`, against its definition 1. One counter more in 32 excludes that
    /// from `N = 32 / epsilon` on. At least `2 / phi`, so that `floor(N / w) < floor(phi * N)` even if
    /// `epsilon` is nearly `phi`: nothing hot is ever without a counter.
    pub fn width(self) -> u64 {
        let for_error = (33.0 / (32.0 * self.epsilon)).ceil();
        for_error.max((2.0 / self.phi).ceil()) as u64
    }

    /// `floor(share * total)`.
    pub(super) fn floor(share: f64, total: u64) -> u64 {
        (share * total as f64).floor() as u64
    }

    /// The weaker of two guarantees: what holds for the sum of two profiles.
    pub(super) fn weaker(self, other: Thresholds) -> Thresholds {
        Thresholds {
            phi: self.phi.max(other.phi),
            epsilon: self.epsilon.max(other.epsilon),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_leaves_room_for_the_guarantee() {
        for (phi, epsilon) in [
            (0.1, 1.0 / 30.0),
            (0.1, 0.0999),
            (0.5, 0.1),
            (1e-2, 2e-3),
            (0.013, 0.0129),
        ] {
            let thresholds = Thresholds::new(phi, epsilon).unwrap();
            for n in 1..100_000u64 {
                let (error, hot) = ((n - 1) / thresholds.width(), Thresholds::floor(phi, n));
                // Nothing hot can be without a counter (while there are no more calls than counters, all have
                // one).
                assert!(n <= thresholds.width() || error < hot, "{phi} {epsilon} {n}");
                if n as f64 >= 32.0 / epsilon {
                    assert!(
                        hot - error > Thresholds::floor(phi - epsilon, n),
                        "{phi} {epsilon} {n}"
                    );
                }
            }
        }
    }

    #[test]
    fn thresholds_that_make_no_sense() {
        for (phi, epsilon) in [
            (0.1, 0.1),
            (0.1, 0.0),
            (1.1, 0.1),
            (f64::NAN, 0.1),
            (0.1, f64::NAN),
            (0.1, -1.0),
        ] {
            assert!(Thresholds::new(phi, epsilon).is_err(), "{phi} {epsilon}");
        }
        assert_eq!(Thresholds::default(), Thresholds::of_phi(1e-4).unwrap());
    }
}
