//! Options of profile `subpaths`.

use crate::options::entry::{Effect, Level, OptionEntry, TakenBy, Use};
use crate::options::value_error::ValueError;
use crate::options::values::{format_bytes, parse_amount, parse_bytes};
use std::num::NonZeroU64;

/// Bytes that a sample of subpaths may have.
const FOOTPRINTS: std::ops::RangeInclusive<u32> = 1 << 10..=1 << 30;

/// An option of subpaths that changes what counts mean.
const PLAIN: OptionEntry = OptionEntry {
    taken: TakenBy::Both,
    uses: &[Use::SUBPATHS],
    effect: Effect::Counts(&[Use::SUBPATHS]),
    ..OptionEntry::PLAIN
};

pub const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "footprint",
        value: "BYTES",
        default: "1M",
        example: "16k",
        help: "Most bytes of a thread's sample (64k, 4M)",
        set: |o, value| {
            let bytes = parse_bytes(value)
                .and_then(|bytes| u32::try_from(bytes).ok())
                .filter(|bytes| FOOTPRINTS.contains(bytes));
            let why = "is not a number of bytes from 1k to 1024M, such as 64k";
            Ok(o.subpaths.footprint = bytes.ok_or_else(|| ValueError::refused(value, why))?)
        },
        get: |o| Some(format_bytes(o.subpaths.footprint.into())),
        ..PLAIN
    },
    OptionEntry {
        name: "lengths",
        value: "pow2:N|pow2-uniform:N|any:N|any-uniform:N",
        default: "pow2:1024",
        example: "any:7",
        help: "Up to N blocks; the shorter the likelier, or all alike (uniform)",
        set: |o, value| Ok(o.subpaths.lengths = value.parse()?),
        get: |o| Some(o.subpaths.lengths.to_string()),
        ..PLAIN
    },
];

/// A choice that OSP leaves open, for replays.
const RESEARCH: OptionEntry = OptionEntry {
    taken: TakenBy::Replay,
    level: Level::Research,
    ..PLAIN
};

pub const RESEARCH_ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "threshold",
        value: "none|top:N|samples:N|share:SHARE",
        default: "none",
        example: "top:5",
        help: "Only the first N, those N times in the sample, or those with a share of all go into the profile",
        set: |o, value| Ok(o.subpaths.threshold = value.parse()?),
        get: |o| Some(o.subpaths.threshold.to_string()),
        ..RESEARCH
    },
    OptionEntry {
        name: "starts",
        value: "anywhere|prefer:WEIGHT|headers",
        default: "anywhere",
        example: "headers",
        help: "Where they begin; at a loop's header so many times as likely, or there alone",
        set: |o, value| Ok(o.subpaths.starts = value.parse()?),
        get: |o| Some(o.subpaths.starts.to_string()),
        ..RESEARCH
    },
    OptionEntry {
        name: "identity",
        value: "rotation|xor",
        default: "rotation",
        example: "xor",
        help: "Which are the same one; the same blocks in the same order up to rotation, or by xor of blocks and length",
        set: |o, value| Ok(o.subpaths.identity = value.parse()?),
        get: |o| Some(o.subpaths.identity.to_string()),
        ..RESEARCH
    },
    OptionEntry {
        name: "half-life",
        value: "BLOCKS|none",
        default: "none",
        example: "50M",
        help: "After so many blocks of a thread, what was counted before counts half (200k, 50M)",
        set: |o, value| Ok(o.subpaths.half_life = blocks(value)?),
        get: |o| Some(blocks_or_none(o.subpaths.half_life)),
        ..RESEARCH
    },
    OptionEntry {
        name: "sliding-window",
        value: "BLOCKS|none",
        default: "none",
        example: "20M",
        help: "Only the last so many blocks of each thread count (200k, 50M); not with half-life",
        uses: &[Use::SAMPLED_SUBPATHS],
        set: |o, value| Ok(o.subpaths.sliding_window = blocks(value)?),
        get: |o| Some(blocks_or_none(o.subpaths.sliding_window)),
        ..RESEARCH
    },
    OptionEntry {
        name: "distance",
        value: "auto|START:FLOOR|expect:BLOCKS:GAIN",
        default: "auto",
        example: "5:6",
        help: "Mean distance between samples in blocks, at first and later, or as it fits a run of so many blocks",
        uses: &[Use::SAMPLED_SUBPATHS],
        set: |o, value| Ok(o.subpaths.distance = value.parse()?),
        get: |o| Some(o.subpaths.distance.to_string()),
        ..RESEARCH
    },
    OptionEntry {
        name: "counts",
        value: "sampled|exact",
        default: "sampled",
        example: "exact",
        help: "A sample of bounded size, or all of them, as a yardstick (slow, much memory)",
        set: |o, value| Ok(o.subpaths.counts = value.parse()?),
        get: |o| Some(o.subpaths.counts.to_string()),
        ..RESEARCH
    },
];

/// A number of blocks, or `none`.
fn blocks(value: &str) -> Result<Option<NonZeroU64>, ValueError> {
    if value == "none" {
        return Ok(None);
    }
    let blocks = parse_amount(value).and_then(NonZeroU64::new);
    let why = "is neither a number of blocks such as 200k or 50M, nor 'none'";
    blocks.map(Some).ok_or_else(|| ValueError::refused(value, why))
}

fn blocks_or_none(blocks: Option<NonZeroU64>) -> String {
    blocks.map_or_else(|| "none".to_owned(), |blocks| blocks.to_string())
}
