//! Options of profile `contexts`.

use super::entry::{Effect, Level, OptionEntry, Use};
use super::values::{CallPaths, ContextAlgorithm, ContextWeight, Share, format_bytes, parse_bytes};

/// Options of profile `contexts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextChoices {
    /// From which share of all calls on a context is hot.
    pub phi: Share,
    /// How much a counter may be wrong, as a share of all calls; `None`: a fifth of `phi`.
    pub epsilon: Option<Share>,
    /// What decides which are kept.
    pub algorithm: ContextAlgorithm,
    /// Are contexts distinguished by the path that led to each call?
    pub call_paths: CallPaths,
    /// What is counted.
    pub weight: ContextWeight,
    /// With `weight=alloc`: mean number of bytes from one allocation that is charged to the next; 0: all are.
    pub alloc_interval: u32,
}

impl Default for ContextChoices {
    fn default() -> Self {
        ContextChoices {
            phi: Share::new(1e-4).expect("a share"),
            epsilon: None,
            algorithm: ContextAlgorithm::LazySpaceSaving,
            call_paths: CallPaths::Off,
            weight: ContextWeight::Calls,
            alloc_interval: 64 << 10,
        }
    }
}

/// An option of contexts that changes what counts mean.
const PLAIN: OptionEntry = OptionEntry {
    uses: &[Use::CONTEXTS],
    effect: Effect::Counts(&[Use::CONTEXTS]),
    ..OptionEntry::PLAIN
};

pub(super) const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "phi",
        value: "SHARE",
        default: "1e-4",
        example: "0.01",
        help: "A context is hot from this share of all calls on",
        replay: true,
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
        replay: true,
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
        value: "lss|bss|lc|sticky|exact|null",
        default: "lss",
        example: "exact",
        help: "What decides which contexts are kept (exact: all; null: none, to see what following the calls costs)",
        replay: true,
        set: |o, value| Ok(o.contexts.algorithm = value.parse()?),
        get: |o| Some(o.contexts.algorithm.to_string()),
        ..PLAIN
    },
    OptionEntry {
        name: "weight",
        value: "calls|time|alloc",
        default: "calls",
        example: "time",
        help: "What is counted: calls, nanoseconds, or bytes allocated",
        effect: Effect::Classes,
        set: |o, value| Ok(o.contexts.weight = value.parse()?),
        get: |o| Some(o.contexts.weight.to_string()),
        ..PLAIN
    },
    OptionEntry {
        name: "alloc-interval",
        value: "BYTES",
        default: "64k",
        example: "1M",
        help: "Mean number of bytes from one allocation that is charged to the next (0: every one is)",
        level: Level::Research,
        uses: &[Use::ALLOCATIONS],
        // Every interval gives unbiased sums.
        effect: Effect::Nothing,
        set: |o, value| {
            let bytes = parse_bytes(value).filter(|&bytes| bytes <= i32::MAX as u32);
            let reason = || format!("'{value}' is not a number of bytes such as 0, 4096, 64k or 1M");
            Ok(o.contexts.alloc_interval = bytes.ok_or_else(reason)?)
        },
        get: |o| Some(format_bytes(o.contexts.alloc_interval)),
        ..PLAIN
    },
    OptionEntry {
        name: "call-paths",
        value: "off|on",
        default: "off",
        example: "on",
        help: "Are calls from one place distinguished by the path that the caller took to get there?",
        effect: Effect::Classes,
        set: |o, value| Ok(o.contexts.call_paths = value.parse()?),
        get: |o| Some(o.contexts.call_paths.to_string()),
        ..PLAIN
    },
];
