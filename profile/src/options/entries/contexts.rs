//! Options of profile `contexts`.

use crate::options::contexts::ALLOC_INTERVAL;
use crate::options::entry::{Effect, Level, OptionEntry, TakenBy, Use};
use crate::options::value_error::ValueError;
use crate::options::values::{ContextAlgorithm, ContextWeight, format_bytes, parse_bytes};

/// Reads what is counted, and for allocations the mean number of bytes between two that are charged.
fn weight(given: &str) -> Result<(ContextWeight, u32), ValueError> {
    let Some(bytes) = given.strip_prefix("alloc:") else {
        return Ok((given.parse()?, ALLOC_INTERVAL));
    };
    let bytes = parse_bytes(bytes).and_then(|bytes| i32::try_from(bytes).ok());
    let why = "has no number of bytes such as alloc:0, alloc:4096, alloc:64k or alloc:1M";
    let bytes = bytes.ok_or_else(|| ValueError::refused(given, why))?;
    Ok((ContextWeight::Alloc, bytes as u32))
}

/// Calls that are kept apart by the path to them.
const CALL_PATHS: &str = "call-paths";

/// An option of contexts that changes what counts mean.
const PLAIN: OptionEntry = OptionEntry {
    uses: &[Use::CONTEXTS],
    effect: Effect::Counts(&[Use::CONTEXTS]),
    ..OptionEntry::PLAIN
};

pub const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "phi",
        value: "SHARE",
        default: "1e-4",
        example: "0.01",
        help: "A context is hot from this share of all calls on",
        taken: TakenBy::Both,
        set: |o, value| Ok(o.contexts.phi = value.parse()?),
        get: |o| Some(o.contexts.phi.to_string()),
        ..PLAIN
    },
    OptionEntry {
        name: "epsilon",
        value: "SHARE|phi/5",
        default: "phi/5",
        example: "1e-5",
        help: "How much a counter may be wrong, as a share of all calls",
        taken: TakenBy::Both,
        level: Level::Research,
        set: |o, value| {
            o.contexts.epsilon = match value {
                "phi/5" => None,
                share => Some(share.parse()?),
            };
            Ok(())
        },
        get: |o| {
            let share = o.contexts.epsilon.map(|share| share.to_string());
            Some(share.unwrap_or_else(|| "phi/5".to_owned()))
        },
        ..PLAIN
    },
    OptionEntry {
        name: "algorithm",
        value: "lss|exact|bss|lc|sticky|null",
        default: "lss",
        example: "exact",
        help: "Which contexts are kept; bss, lc, sticky and null are for replays",
        taken: TakenBy::Both,
        only_replayed: |o| {
            let lives = [ContextAlgorithm::LazySpaceSaving, ContextAlgorithm::Exact];
            !lives.contains(&o.contexts.algorithm)
        },
        set: |o, value| Ok(o.contexts.algorithm = value.parse()?),
        get: |o| Some(o.contexts.algorithm.to_string()),
        ..PLAIN
    },
    OptionEntry {
        name: "weight",
        value: "calls|call-paths|time|alloc[:BYTES]",
        default: "calls",
        example: "time",
        help: "What is counted; call-paths: calls, apart for each path to them; BYTES: mean number between allocations that are charged",
        effect: Effect::Classes,
        set: |o, value| {
            o.contexts.call_paths = value == CALL_PATHS;
            let weighs = if o.contexts.call_paths { "calls" } else { value };
            let (weight, bytes) = weight(weighs)?;
            o.contexts.weight = weight;
            o.contexts.alloc_interval = bytes;
            Ok(())
        },
        get: |o| {
            if o.contexts.call_paths {
                return Some(CALL_PATHS.to_owned());
            }
            let weight = o.contexts.weight;
            Some(match o.contexts.alloc_interval {
                ALLOC_INTERVAL => weight.to_string(),
                bytes => format!("{weight}:{}", format_bytes(bytes.into())),
            })
        },
        // Every interval gives unbiased sums.
        mark: Some(|o| format!("{} {}", o.contexts.weight, o.contexts.call_paths)),
        ..PLAIN
    },
];
