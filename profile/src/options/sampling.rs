//! Options of probes that sample by the clock.

use std::num::NonZeroU32;
use std::time::Duration;

use super::entry::{Effect, Level, OptionEntry, Use};
use super::values::{format_duration, parse_duration};
use super::{ProfileOptions, SCHEDULE, SampledBy, Schedule, ScheduleError};

/// Options of probes that sample by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplingChoices {
    /// Which path ends after a tick are sampled.
    pub schedule: Schedule,
    /// Time between ticks.
    pub interval: Duration,
    /// CPU time of a thread from one sample of its stack to the next; `None`: no samples of stacks.
    pub sample: Option<Duration>,
    /// How their stacks are read.
    pub sampled_by: SampledBy,
}

impl Default for SamplingChoices {
    fn default() -> Self {
        SamplingChoices {
            schedule: Schedule::DEFAULT,
            interval: Duration::from_millis(20),
            sample: None,
            sampled_by: SampledBy::Auto,
        }
    }
}

pub(super) const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: SCHEDULE,
        value: "timer|ag:SAMPLES:STRIDE|sag:SAMPLES:STRIDE|span:DURATION:SAMPLES",
        default: "span:1ms:256",
        example: "ag:3:5",
        help: "Which path ends after a clock tick are sampled",
        level: Level::Research,
        uses: &[Use::YIELDPOINT],
        effect: Effect::Counts(&[Use::YIELDPOINT]),
        set: |o, value| Ok(o.sampling.schedule = value.parse().map_err(reason)?),
        get: |o| Some(o.sampling.schedule.to_string()),
        ..OptionEntry::PLAIN
    },
    // These two come after the schedule that they change.
    OptionEntry {
        name: "samples",
        value: "N",
        default: "the schedule's",
        example: "3",
        help: "Samples per clock tick; changes the schedule, without one sag:64:17",
        level: Level::Research,
        uses: &[Use::YIELDPOINT],
        part_of: Some(SCHEDULE),
        set: |o, value| {
            let given = positive(value)?;
            o.sampling.schedule = match o.schedule_to_change() {
                // As a whole, so that the number is checked.
                Schedule::Span { duration, .. } => format!("span:{}:{given}", format_duration(duration))
                    .parse()
                    .map_err(reason)?,
                Schedule::Timer => return Err(TIMER.to_owned()),
                Schedule::Ag { stride, .. } => Schedule::Ag {
                    samples: given,
                    stride,
                },
                Schedule::Sag { stride, .. } => Schedule::Sag {
                    samples: given,
                    stride,
                },
            };
            Ok(())
        },
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "stride",
        value: "N",
        default: "the schedule's",
        example: "3",
        help: "Stride in path ends; changes the schedule, without one sag:64:17",
        level: Level::Research,
        uses: &[Use::YIELDPOINT],
        part_of: Some(SCHEDULE),
        set: |o, value| {
            let stride = positive(value)?;
            o.sampling.schedule = match o.schedule_to_change() {
                Schedule::Span { .. } => {
                    return Err("schedule 'span' has no stride; use ag or sag".to_owned());
                }
                Schedule::Timer => return Err(TIMER.to_owned()),
                Schedule::Ag { samples, .. } => Schedule::Ag { samples, stride },
                Schedule::Sag { samples, .. } => Schedule::Sag { samples, stride },
            };
            Ok(())
        },
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "interval",
        value: "DURATION",
        default: "20ms",
        example: "5ms",
        help: "Time between clock ticks",
        uses: &[Use::YIELDPOINT, Use::SAFEPOINT, Use::WINDOWS],
        // Windows of a fixed time are scaled by the interval.
        effect: Effect::Counts(&[Use::SAMPLES_PER_TICK, Use::SAFEPOINT]),
        set: |o, value| Ok(o.sampling.interval = parse_duration(value)?),
        get: |o| Some(format_duration(o.sampling.interval)),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "sample",
        value: "DURATION|off",
        default: "off",
        example: "1ms",
        help: "CPU time of a thread from one sample of its stack to the next: where the time goes, the JDK included",
        set: |o, value| Ok(o.sampling.sample = sample(value)?),
        get: |o| Some(o.sampling.sample.map_or_else(|| OFF.to_owned(), format_duration)),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "sampler",
        value: "auto|async|safepoint",
        default: "auto",
        example: "safepoint",
        help: "How stacks are read for CPU time: wherever a thread is, or at safepoints only (no signals; coarser)",
        level: Level::Research,
        uses: &[Use::CPU],
        set: |o, value| Ok(o.sampling.sampled_by = value.parse()?),
        get: |o| Some(o.sampling.sampled_by.to_string()),
        ..OptionEntry::PLAIN
    },
];

const OFF: &str = "off";
/// With less, a program would be busy with its samples.
const LEAST_SAMPLE: Duration = Duration::from_micros(100);

fn sample(value: &str) -> Result<Option<Duration>, String> {
    match value {
        OFF => Ok(None),
        _ => match parse_duration(value)? {
            least if least < LEAST_SAMPLE => Err(format!(
                "'{value}' is too short for a sample: at least {}",
                format_duration(LEAST_SAMPLE)
            )),
            interval => Ok(Some(interval)),
        },
    }
}

const TIMER: &str = "schedule 'timer' takes one sample per tick; use ag or sag";

fn reason(error: ScheduleError) -> String {
    error.to_string()
}

fn positive(value: &str) -> Result<NonZeroU32, String> {
    let number = value.parse().ok().filter(|_| !value.starts_with('+'));
    number.ok_or_else(|| format!("'{value}' is not a number from 1 to {}", u32::MAX))
}

impl ProfileOptions {
    /// What `samples` and `stride` change. The default has no stride, and samples of another kind: with no
    /// schedule they mean that of PEP.
    fn schedule_to_change(&self) -> Schedule {
        match self.is_given(SCHEDULE) {
            true => self.sampling.schedule,
            false => Schedule::PEP,
        }
    }
}
