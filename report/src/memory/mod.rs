//! Methods that this run did not measure, because earlier runs know them, in each format.

pub(crate) mod section;

use trodden_insight::memory::Earlier;
use trodden_profile::Known;

const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;

/// `run 1, 3 days before`.
pub(crate) fn run(earlier: &Earlier) -> String {
    let number = earlier.run.number;
    let Some(age) = earlier.age_ms else {
        return format!("run {number}");
    };
    if age < MINUTE_MS {
        return format!("run {number}, a moment before");
    }
    let (unit, what) = match age {
        DAY_MS.. => (DAY_MS, "day"),
        HOUR_MS.. => (HOUR_MS, "hour"),
        _ => (MINUTE_MS, "minute"),
    };
    let plural = if age / unit == 1 { "" } else { "s" };
    format!("run {number}, {} {what}{plural} before", age / unit)
}

/// `counts are of run 1, 3 days before; not measured in this run: its paths are settled`.
pub(crate) fn mark(earlier: &Earlier) -> String {
    let why = match earlier.known {
        Known::Settled => "its paths are settled",
        Known::Cold => "it was cold",
    };
    format!("counts are of {}; not measured in this run: {why}", run(earlier))
}

#[cfg(test)]
mod tests {
    use trodden_profile::{MemoryRun, Remembered};

    use super::*;

    #[test]
    fn ages() {
        let (earlier_run, about) = (
            MemoryRun {
                number: 4,
                ..MemoryRun::default()
            },
            Remembered::default(),
        );
        for (age_ms, said) in [
            (None, "run 4"),
            (Some(0), "run 4, a moment before"),
            (Some(HOUR_MS), "run 4, 1 hour before"),
            (Some(2 * DAY_MS - 1), "run 4, 1 day before"),
            (Some(9 * DAY_MS), "run 4, 9 days before"),
        ] {
            let earlier = Earlier {
                run: &earlier_run,
                about: &about,
                known: Known::Cold,
                age_ms,
            };
            assert_eq!(run(&earlier), said);
        }
    }
}
