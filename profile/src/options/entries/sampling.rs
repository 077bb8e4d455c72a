//! Options of probes that sample by the clock.

use crate::options::entry::{Effect, Level, OptionEntry, Use};
use crate::options::value_error::ValueError;
use crate::options::values::{SampledBy, format_duration, parse_duration};
use std::time::Duration;

pub const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "schedule",
        value: "timer|ag:SAMPLES:STRIDE|sag:SAMPLES:STRIDE|span:DURATION:SAMPLES",
        default: "span:1ms:256",
        example: "ag:3:5",
        help: "Which path ends after a tick are sampled",
        level: Level::Research,
        uses: &[Use::YIELDPOINT],
        effect: Effect::Counts(&[Use::YIELDPOINT]),
        set: |o, value| Ok(o.sampling.schedule = value.parse()?),
        get: |o| Some(o.sampling.schedule.to_string()),
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
        value: "[async:|timer:|safepoint:]DURATION|off",
        default: "off",
        example: "1ms",
        help: "CPU time between samples of a thread's stack; timer: by no finer clock than the system's ticks; safepoint: without signals",
        set: |o, value| {
            let (by, interval) = sample(value)?;
            o.sampling.sampled_by = by;
            o.sampling.sample = interval;
            Ok(())
        },
        get: |o| {
            Some(
                match (o.sampling.sample.map(format_duration), o.sampling.sampled_by) {
                    (None, _) => OFF.to_owned(),
                    (Some(interval), SampledBy::Auto) => interval,
                    (Some(interval), by) => format!("{by}:{interval}"),
                },
            )
        },
        ..OptionEntry::PLAIN
    },
];

const OFF: &str = "off";

/// With less, a program would be busy with its samples.
const MIN_SAMPLE: Duration = Duration::from_micros(100);

/// Reads how stacks are read, and the time between samples.
fn sample(value: &str) -> Result<(SampledBy, Option<Duration>), ValueError> {
    if value == OFF {
        return Ok((SampledBy::Auto, None));
    }
    let (by, interval) = match value.split_once(':') {
        Some((by, interval)) => (by.parse()?, interval),
        None => (SampledBy::Auto, value),
    };
    match parse_duration(interval)? {
        least if least < MIN_SAMPLE => {
            let why = "is too short for a sample: at least 100us";
            Err(ValueError::refused(value, why))
        }
        interval => Ok((by, Some(interval))),
    }
}
