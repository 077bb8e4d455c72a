//! The sampling schedule: which path ends become samples once the clock has ticked.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// How many path ends after a clock tick are sampled, and which.
///
/// Option syntax (`schedule=…`, and [`Display`](fmt::Display)): `timer`, `ag:SAMPLES:STRIDE`,
/// `sag:SAMPLES:STRIDE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// One sample per tick: the first path end after it.
    Timer,
    /// Arnold-Grove sampling: per tick `samples` samples, every `stride`-th path end; the distance to the
    /// first rotates over 1 to `stride`.
    Ag {
        /// Samples taken per tick.
        samples: NonZeroU32,
        /// Distance between two samples, in path ends; 1 takes every one.
        stride: NonZeroU32,
    },
    /// Simplified Arnold-Grove (PEP section 4.4): after a tick 0 to `stride - 1` path ends are skipped, in
    /// rotation, then `samples` path ends in a row are taken.
    Sag {
        /// Samples taken per tick, all in a row.
        samples: NonZeroU32,
        /// Bound of the distance to the first sample, in path ends; 1 skips none.
        stride: NonZeroU32,
    },
}

impl Schedule {
    /// PEP(64,17), the configuration that the paper recommends (section 4.4 and its evaluation).
    pub const DEFAULT: Schedule = Schedule::Sag {
        samples: NonZeroU32::new(64).unwrap(),
        stride: NonZeroU32::new(17).unwrap(),
    };

    /// Samples taken per tick.
    pub const fn samples(self) -> u32 {
        match self {
            Schedule::Timer => 1,
            Schedule::Ag { samples, .. } | Schedule::Sag { samples, .. } => samples.get(),
        }
    }

    /// The stride; 1 for [`Schedule::Timer`], which has none.
    pub const fn stride(self) -> u32 {
        match self {
            Schedule::Timer => 1,
            Schedule::Ag { stride, .. } | Schedule::Sag { stride, .. } => stride.get(),
        }
    }

    /// Which path ends after tick number `tick` are sampled: their indices among the path ends that follow the
    /// tick, 0 being the first. Ascending; as many as [`samples`](Schedule::samples).
    ///
    /// PEP section 4.4: before its first sample, tick `t` strides by `t mod STRIDE + 1` path ends, so it skips
    /// `t mod STRIDE` of them; after that, full Arnold-Grove samples every STRIDE-th path end and the simplified
    /// form every one.
    pub fn sample_indices(self, tick: u64) -> impl ExactSizeIterator<Item = u64> + Clone {
        let (first, step) = (self.skipped(tick), self.step());
        (0..self.samples()).map(move |k| first + u64::from(k) * step)
    }

    /// Index of the last sample of a tick; one more than this is how many path ends a ring has to record.
    pub fn last_index(self, tick: u64) -> u64 {
        self.skipped(tick) + u64::from(self.samples() - 1) * self.step()
    }

    /// Path ends skipped between a tick and its first sample.
    fn skipped(self, tick: u64) -> u64 {
        tick % u64::from(self.stride())
    }

    /// Distance between two samples of one tick.
    fn step(self) -> u64 {
        match self {
            Schedule::Timer | Schedule::Sag { .. } => 1,
            Schedule::Ag { stride, .. } => u64::from(stride.get()),
        }
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule::DEFAULT
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Timer => f.write_str("timer"),
            Schedule::Ag { samples, stride } => write!(f, "ag:{samples}:{stride}"),
            Schedule::Sag { samples, stride } => write!(f, "sag:{samples}:{stride}"),
        }
    }
}

/// A schedule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("schedule '{given}': {reason} (known: timer, ag:SAMPLES:STRIDE, sag:SAMPLES:STRIDE)")]
pub struct ScheduleError {
    /// What was given.
    pub given: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(given: &str) -> Result<Self, ScheduleError> {
        let error = |reason| ScheduleError {
            given: given.to_owned(),
            reason,
        };
        let number = |text: &str, reason| text.parse::<NonZeroU32>().map_err(|_| error(reason));
        let parts: Vec<&str> = given.split(':').collect();
        match parts.as_slice() {
            ["timer"] => Ok(Schedule::Timer),
            [kind @ ("ag" | "sag"), samples, stride] => {
                let samples = number(samples, "SAMPLES is not a number from 1 to 4294967295")?;
                let stride = number(stride, "STRIDE is not a number from 1 to 4294967295")?;
                Ok(match *kind {
                    "ag" => Schedule::Ag { samples, stride },
                    _ => Schedule::Sag { samples, stride },
                })
            }
            ["timer", ..] => Err(error("timer takes no numbers")),
            ["ag" | "sag", ..] => Err(error("SAMPLES and STRIDE are both needed")),
            _ => Err(error("unknown kind")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_round_trips() {
        for text in ["timer", "ag:64:17", "sag:64:17", "sag:1:1", "ag:4294967295:3"] {
            assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        }
        assert_eq!(Schedule::default().to_string(), "sag:64:17");
    }

    fn indices(schedule: &str, tick: u64) -> Vec<u64> {
        schedule
            .parse::<Schedule>()
            .unwrap()
            .sample_indices(tick)
            .collect()
    }

    /// SAMPLES 4 and STRIDE 3, as in PEP figure 5.
    #[test]
    fn the_three_schedules_of_pep_figure_5() {
        for tick in 0..5 {
            assert_eq!(indices("timer", tick), [0]);
        }
        assert_eq!(indices("ag:4:3", 0), [0, 3, 6, 9]);
        assert_eq!(indices("ag:4:3", 1), [1, 4, 7, 10]);
        assert_eq!(indices("ag:4:3", 2), [2, 5, 8, 11]);
        assert_eq!(indices("ag:4:3", 3), [0, 3, 6, 9]);
        assert_eq!(indices("sag:4:3", 0), [0, 1, 2, 3]);
        assert_eq!(indices("sag:4:3", 1), [1, 2, 3, 4]);
        assert_eq!(indices("sag:4:3", 2), [2, 3, 4, 5]);
        assert_eq!(indices("sag:4:3", 3), [0, 1, 2, 3]);
    }

    /// PEP section 4.4: PEP(1,1) is timer-based sampling; PEP(64,17) skips 0 to 16, then takes 64.
    #[test]
    fn the_configurations_the_paper_names() {
        for tick in 0..40 {
            assert_eq!(indices("sag:1:1", tick), indices("timer", tick));
            assert_eq!(indices("ag:1:1", tick), indices("timer", tick));
            let taken = indices("sag:64:17", tick);
            assert_eq!(taken, (tick % 17..tick % 17 + 64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn last_index_is_the_last_sample() {
        for text in ["timer", "sag:64:17", "ag:64:17", "ag:1:9", "sag:1:9", "ag:7:1"] {
            let schedule: Schedule = text.parse().unwrap();
            for tick in 0..40 {
                assert_eq!(
                    schedule.sample_indices(tick).last(),
                    Some(schedule.last_index(tick)),
                    "{text}"
                );
                assert_eq!(
                    schedule.sample_indices(tick).len(),
                    schedule.samples() as usize,
                    "{text}"
                );
            }
        }
        let widest: Schedule = "ag:4294967295:4294967295".parse().unwrap();
        assert_eq!(widest.last_index(u64::MAX), 4294967294 * 4294967295);
    }

    #[test]
    fn bad_schedules_say_why() {
        for (text, reason) in [
            ("", "unknown kind"),
            ("sga:64:17", "unknown kind"),
            ("timer:1", "no numbers"),
            ("ag", "both needed"),
            ("ag:64", "both needed"),
            ("sag:64:17:1", "both needed"),
            ("sag:0:17", "SAMPLES"),
            ("sag:64:-1", "STRIDE"),
            ("sag:64:4294967296", "STRIDE"),
        ] {
            let message = text.parse::<Schedule>().unwrap_err().to_string();
            assert!(message.contains(reason), "{text}: {message}");
        }
    }
}
