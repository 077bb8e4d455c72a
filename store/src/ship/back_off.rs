//! Pauses after failures.

use std::time::Duration;

/// Pauses that double from failure to failure up to a longest one, each between half of itself and all of it by lot: shippers
/// of many hosts that lost a store together do not come back together.
#[derive(Clone, Debug)]
pub struct BackOff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl BackOff {
    /// First and longest pause.
    pub fn new(first: Duration, longest: Duration) -> Self {
        BackOff {
            first,
            longest,
            next: first,
        }
    }

    /// How long to wait now.
    pub fn failed(&mut self) -> Duration {
        // The lower 53 bits: the upper ones say of which version a UUID is.
        let random = uuid::Uuid::new_v4().as_u128() as u64 & ((1 << 53) - 1);
        let part = 0.5 + random as f64 / (1u64 << 54) as f64;
        let pause = self.next.mul_f64(part);
        self.next = (self.next * 2).min(self.longest);
        pause
    }

    /// The next pause is the first one again.
    pub fn succeeded(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_longest_and_begin_anew() {
        let (first, longest) = (Duration::from_secs(1), Duration::from_secs(20));
        let mut back_off = BackOff::new(first, longest);
        for expected in [1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 20.0] {
            let pause = back_off.failed().as_secs_f64();
            assert!(
                (expected / 2.0..=expected).contains(&pause),
                "{pause} of {expected}"
            );
        }
        back_off.succeeded();
        assert!(back_off.failed() <= first);
    }
}
