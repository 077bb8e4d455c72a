//! Options of profile `structural`, and of probes that retire.

use crate::options::entry::{Effect, OptionEntry, Use};
use crate::options::structural::StructuralChoices;
use crate::options::value_error::ValueError;
use std::num::NonZeroU32;

/// Most paths that a window may have.
const MAX_IN_WINDOW: u32 = 1_000_000;

pub const ENTRIES: &[OptionEntry] = &[OptionEntry {
    name: "window",
    value: "PATHS[:keep]|all",
    default: "100",
    example: "50",
    help: "Paths after which a loop is off until its next window; keep: probes stay",
    uses: &[Use::STRUCTURAL],
    // Whether there are windows is also asked when a class is loaded.
    effect: Effect::Counts(&[Use::STRUCTURAL]),
    set: |o, value| Ok(o.structural = window(value)?),
    get: |o| {
        let keep = if o.structural.retire { "" } else { KEEP };
        let window = o.structural.window.map(|paths| format!("{paths}{keep}"));
        Some(window.unwrap_or_else(|| "all".to_owned()))
    },
    mark: Some(|o| format!("{:?}", o.structural.window)),
    ..OptionEntry::PLAIN
}];

/// The text that follows the paths of a window where probes stay.
const KEEP: &str = ":keep";

fn window(value: &str) -> Result<StructuralChoices, ValueError> {
    if value == "all" {
        return Ok(StructuralChoices {
            window: None,
            retire: true,
        });
    }
    let (number, retire) = match value.strip_suffix(KEEP) {
        Some(number) => (number, false),
        None => (value, true),
    };
    let paths = number.parse().ok();
    match paths.filter(|paths: &NonZeroU32| paths.get() <= MAX_IN_WINDOW) {
        Some(paths) => Ok(StructuralChoices {
            window: Some(paths),
            retire,
        }),
        None => {
            let why = "is neither a number of paths from 1 to 1000000 nor 'all'";
            Err(ValueError::refused(value, why))
        }
    }
}
