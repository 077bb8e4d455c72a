//! Where path ends of a window go in the ring, and how many path ends an entry represents.
//!
//! A window of fixed duration sees an unknown number of path ends, from none to a million, and all of it is
//! to be represented. So the ring gets coarser as it fills: with *strata* of 2^s entries each, the entries of
//! the first hold a place each, those of the second two places, of the third four and so on. Of all path ends
//! that go to an entry the last one stays, and represents all of them. Wherever the window ends, each path
//! end it saw had the same expected weight, memory is logarithmic, and nothing has to be known in advance.
//!
//! Path end number `n` is at place `n / 1.618…`: with whole numbers the entries of a stratum would all hold
//! the same iterations of a loop that repeats itself every 2, 4, 8 … path ends.

use std::num::NonZeroU32;
use std::ops::Range;

/// A layout of path ends in the ring. The shim finds the [`entry`](Self::entry) in its own way
/// (`Trodden.pathEnd`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strata {
    /// Binary logarithm of the length of a stratum.
    pub log: u32,
    /// Places per path end, in units of 2^-32.
    pub step: u64,
}

impl Strata {
    /// Most path ends of a window; a quarter of a second of 1 ns each.
    pub const MAX_PATH_ENDS: u64 = 1 << 28;

    /// Path end number n goes to entry n.
    pub const PLAIN: Strata = Strata {
        log: 30,
        step: 1 << 32,
    };

    /// With that many entries per stratum, a power of two to 2^16.
    pub fn of(entries: NonZeroU32) -> Strata {
        Strata {
            log: entries.ilog2().min(16),
            // 2^32 over the golden ratio.
            step: 0x9e37_79b9,
        }
    }

    /// The entry of a path end of a window, with numbers from 0 to below
    /// [`MAX_PATH_ENDS`](Self::MAX_PATH_ENDS).
    pub fn entry(self, path_end: u64) -> usize {
        let place = path_end * self.step + (1 << 32 << self.log);
        let shift = place.ilog2() - self.log;
        ((u64::from(shift - 32) << self.log) + (place >> shift) - (1 << self.log)) as usize
    }

    /// How many entries that many path ends take.
    pub fn entries(self, path_ends: u64) -> usize {
        path_ends.checked_sub(1).map_or(0, |last| self.entry(last) + 1)
    }

    /// Numbers of the path ends that go to an entry; never empty.
    pub fn path_ends(self, entry: usize) -> Range<u64> {
        let length = 1u128 << self.log;
        let shift = 32 + (entry >> self.log);
        let within = entry as u128 & (length - 1);
        let first = |entry: u128| {
            let place = (entry << shift) - (length << 32);
            place.div_ceil(self.step.into()) as u64
        };
        first(length + within)..first(length + within + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strata(entries: u32) -> Strata {
        Strata::of(NonZeroU32::new(entries).unwrap())
    }

    #[test]
    fn every_path_end_goes_to_one_entry_and_entries_are_in_order() {
        for layout in [strata(1), strata(2), strata(64), strata(256)] {
            let mut next = 0;
            for entry in 0..layout.entries(100_000) {
                let path_ends = layout.path_ends(entry);
                assert_eq!(path_ends.start, next, "{layout:?} {entry}");
                assert!(!path_ends.is_empty(), "{layout:?} {entry}");
                next = path_ends.end;
                for path_end in path_ends {
                    assert_eq!(layout.entry(path_end), entry, "{layout:?} {path_end}");
                }
            }
            assert!(next >= 100_000);
        }
    }

    #[test]
    fn later_entries_hold_more_and_all_of_a_stratum_the_same() {
        let layout = strata(64);
        for entry in 0..layout.entries(Strata::MAX_PATH_ENDS) {
            let range = layout.path_ends(entry);
            let mean = 1.618_034 * (1u64 << (entry / 64)) as f64;
            let held = (range.end - range.start) as f64;
            assert!((held - mean).abs() < 1.0, "{entry}: {held}");
        }
    }

    #[test]
    fn entries_stay_few() {
        assert_eq!(strata(256).entries(0), 0);
        assert_eq!(strata(256).entries(1), 1);
        assert!(strata(256).entries(20_000) <= 7 * 256);
        assert!(strata(256).entries(Strata::MAX_PATH_ENDS) <= 8192);
    }

    #[test]
    fn plain_is_one_by_one() {
        for n in [0, 1, 79, 80, 1 << 20] {
            assert_eq!(Strata::PLAIN.entry(n), n as usize);
            assert_eq!(Strata::PLAIN.entries(n), n as usize);
            assert_eq!(Strata::PLAIN.path_ends(n as usize), n..n + 1);
        }
    }

    /// Whatever two paths alternate with a period of a power of two: the entries of a stratum show both as
    /// often as they occur.
    #[test]
    fn loops_of_even_periods_are_not_aliased() {
        let layout = strata(64);
        for period in [2u64, 4, 8, 16, 32] {
            for stratum in 1..10 {
                let kept = (64 * stratum..64 * (stratum + 1)).map(|entry| layout.path_ends(entry).end - 1);
                let first = kept.filter(|n| n % period < period / 2).count();
                assert!(
                    (24..=40).contains(&first),
                    "period {period}, stratum {stratum}: {first}"
                );
            }
        }
    }
}
