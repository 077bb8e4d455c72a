//! Options of profile `structural`, and of probes that retire.

use std::num::NonZeroU32;
use std::time::Duration;

use super::entry::{Effect, Level, OptionEntry, Use};
use super::values::{format_duration, parse_bool, parse_duration};

/// Options of profile `structural`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StructuralChoices {
    /// Paths of a window, at most a million; `None`: every path is counted.
    pub window: Option<NonZeroU32>,
    /// Are probes taken out of methods whose windows have been filled?
    pub retire: bool,
}

/// Options of probes that are taken out once enough is known: probe `auto`, profile `structural`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetiringChoices {
    /// Share of the run that profiling may take, in hundredths of a per cent.
    pub share: Option<u32>,
    /// Time until classes whose probes were taken out get them again, if it is fixed.
    pub rearm: Option<Duration>,
}

impl Default for StructuralChoices {
    fn default() -> Self {
        StructuralChoices {
            window: NonZeroU32::new(100),
            retire: true,
        }
    }
}

/// Most paths that a window may have.
const MOST_IN_WINDOW: u32 = 1_000_000;

pub(super) const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "window",
        value: "PATHS|all",
        default: "100",
        example: "50",
        help: "Paths after which a loop is switched off until its next window (all: every path is counted)",
        uses: &[Use::STRUCTURAL],
        // Whether there are windows is also asked when a class is loaded.
        effect: Effect::Counts(&[Use::STRUCTURAL]),
        set: |o, value| Ok(o.structural.window = window(value)?),
        get: |o| {
            let window = o.structural.window.map(|paths| paths.to_string());
            Some(window.unwrap_or_else(|| "all".to_owned()))
        },
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "retire",
        value: "true|false",
        default: "true",
        example: "false",
        help: "Are probes taken out of methods whose windows have been filled?",
        level: Level::Research,
        uses: &[Use::WINDOWS],
        set: |o, value| Ok(o.structural.retire = parse_bool(value)?),
        get: |o| Some(o.structural.retire.to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "rearm",
        value: "DURATION",
        default: "grows from 20s, within the budget",
        example: "5s",
        help: "When classes whose probes were taken out get them again",
        level: Level::Research,
        uses: &[Use::RETIRING],
        set: |o, value| Ok(o.retiring.rearm = Some(parse_duration(value)?)),
        get: |o| o.retiring.rearm.map(format_duration),
        ..OptionEntry::PLAIN
    },
];

fn window(value: &str) -> Result<Option<NonZeroU32>, String> {
    if value == "all" {
        return Ok(None);
    }
    let paths = value.parse().ok();
    let paths = paths.filter(|paths: &NonZeroU32| paths.get() <= MOST_IN_WINDOW);
    match paths {
        Some(paths) => Ok(Some(paths)),
        None => Err(format!(
            "'{value}' is neither a number of paths from 1 to {MOST_IN_WINDOW} nor 'all'"
        )),
    }
}
