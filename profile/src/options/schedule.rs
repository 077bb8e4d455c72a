//! The sampling schedule: which path ends become samples once the clock has ticked.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use super::value_error::ValueError;
use super::{format_duration, parse_duration};

/// How many path ends after a clock tick are sampled, and which.
///
/// Option syntax (`schedule=…`, and [`Display`](fmt::Display)): `timer`, `ag:SAMPLES:STRIDE`,
/// `sag:SAMPLES:STRIDE`, `span:DURATION:SAMPLES`.
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
    /// Windows of a fixed duration instead of a fixed number of path ends (not in PEP). The other schedules
    /// take as many samples in an interval of a thousand path ends per second as in one of ten million. Here
    /// a window's samples represent all path ends that it saw, so that counts are in proportion to how often
    /// paths were executed.
    Span {
        /// How long a window is open; at most [`Schedule::MAX_SPAN`].
        duration: Duration,
        /// About this number of path ends are all kept, of twice as many that follow every second, of four
        /// times as many every fourth, and so on; each represents those dropped next to it. A power of two,
        /// at most [`Schedule::MAX_SPAN_SAMPLES`].
        samples: NonZeroU32,
    },
}

impl Schedule {
    /// Windows of 1 ms: as cheap as [`Schedule::PEP`], and nearer to the truth on every program measured
    /// (`benchmarks-java/book/benchmarks.md`).
    pub const DEFAULT: Schedule = Schedule::Span {
        duration: Duration::from_millis(1),
        samples: NonZeroU32::new(256).unwrap(),
    };

    /// PEP(64,17), the configuration that the paper recommends (section 4.4 and its evaluation).
    pub const PEP: Schedule = Schedule::Sag {
        samples: NonZeroU32::new(64).unwrap(),
        stride: NonZeroU32::new(17).unwrap(),
    };

    /// Longest window of [`Schedule::Span`].
    pub const MAX_SPAN: Duration = Duration::from_millis(100);

    /// Most samples that [`Schedule::Span`] takes at one density.
    pub const MAX_SPAN_SAMPLES: u32 = 4096;

    /// Samples taken per tick; with [`Schedule::Span`] those at full density.
    pub const fn samples(self) -> u32 {
        match self {
            Schedule::Timer => 1,
            Schedule::Ag { samples, .. } | Schedule::Sag { samples, .. } | Schedule::Span { samples, .. } => {
                samples.get()
            }
        }
    }

    /// The stride; 1 for [`Schedule::Timer`] and [`Schedule::Span`], which have none.
    pub const fn stride(self) -> u32 {
        match self {
            Schedule::Timer | Schedule::Span { .. } => 1,
            Schedule::Ag { stride, .. } | Schedule::Sag { stride, .. } => stride.get(),
        }
    }

    /// Which path ends after tick number `tick` are sampled: their indices among the path ends that follow
    /// the tick, 0 being the first. Ascending; as many as [`samples`](Schedule::samples).
    ///
    /// PEP section 4.4: before its first sample, tick `t` strides by `t mod STRIDE + 1` path ends, so it
    /// skips `t mod STRIDE` of them; after that, full Arnold-Grove samples every STRIDE-th path end and the
    /// simplified form every one. [`Schedule::Span`], where there is no time to go by (a recorded stream),
    /// takes the first ones.
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
            Schedule::Timer | Schedule::Sag { .. } | Schedule::Span { .. } => 1,
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
            Schedule::Span { duration, samples } => {
                write!(f, "span:{}:{samples}", format_duration(*duration))
            }
        }
    }
}

impl FromStr for Schedule {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<Self, ValueError> {
        let error = |reason| ValueError::Schedule(given.to_owned(), reason);
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
            ["span", duration, samples] => {
                let duration = parse_duration(duration)
                    .ok()
                    .filter(|d| *d <= Schedule::MAX_SPAN)
                    .ok_or_else(|| error("DURATION is not a duration up to 100ms, such as 200us"))?;
                let reason = "SAMPLES is not a power of two from 1 to 4096";
                let samples = number(samples, reason)?;
                if !samples.is_power_of_two() || samples.get() > Schedule::MAX_SPAN_SAMPLES {
                    return Err(error(reason));
                }
                Ok(Schedule::Span { duration, samples })
            }
            ["timer", ..] => Err(error("timer takes no numbers")),
            ["ag" | "sag", ..] => Err(error("SAMPLES and STRIDE are both needed")),
            ["span", ..] => Err(error("DURATION and SAMPLES are both needed")),
            _ => Err(error("unknown kind")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_round_trips() {
        for text in [
            "timer",
            "ag:64:17",
            "sag:64:17",
            "sag:1:1",
            "ag:4294967295:3",
            "span:200us:256",
            "span:100ms:4096",
            "span:1ns:1",
        ] {
            assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        }
        assert_eq!(Schedule::default().to_string(), "span:1ms:256");
        assert_eq!(Schedule::PEP.to_string(), "sag:64:17");
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
            ("span", "both needed"),
            ("span:200us", "both needed"),
            ("span:64:17", "DURATION"),
            ("span:0us:64", "DURATION"),
            ("span:101ms:64", "DURATION"),
            ("span:200us:100", "power of two"),
            ("span:200us:0", "power of two"),
            ("span:200us:8192", "power of two"),
        ] {
            let message = text.parse::<Schedule>().unwrap_err().to_string();
            assert!(message.contains(reason), "{text}: {message}");
        }
    }
}
