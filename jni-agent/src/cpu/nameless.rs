//! When the stacks of all threads are read for the names of old versions: that stops each thread, so that it
//! is done after classes were changed, and then more and more rarely.

use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_secs(1);
const LAST: Duration = Duration::from_secs(60);

/// Looks so far.
#[derive(Debug, Default)]
pub struct Nameless {
    /// The number of changes of classes at the last look, when the next one may be, and the wait after that.
    last: Option<(u64, Instant, Duration)>,
}

impl Nameless {
    /// A frame has no name, after this many changes of classes. True if it is time to look.
    pub fn is_due(&mut self, moves: u64, now: Instant) -> bool {
        let wait = match self.last {
            Some((then, next, _)) if then == moves && now < next => return false,
            Some((then, _, wait)) if then == moves => (2 * wait).min(LAST),
            _ => FIRST,
        };
        self.last = Some((moves, now + wait, wait));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_once_after_a_change_then_more_and_more_rarely() {
        let start = Instant::now();
        let mut nameless = Nameless::default();
        let mut looks = |moves: u64, seconds: std::ops::Range<u64>| -> Vec<u64> {
            seconds
                .filter(|&at| nameless.is_due(moves, start + Duration::from_secs(at)))
                .collect()
        };
        assert_eq!(looks(1, 0..200), [0, 1, 3, 7, 15, 31, 63, 123, 183]);
        assert_eq!(looks(2, 184..190), [184, 185, 187]);
    }
}
