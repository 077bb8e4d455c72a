//! Options about which code carries probes, and which.

use crate::options::entry::{Effect, Level, OptionEntry, Use};
use crate::options::value_error::file_name;

pub const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "use-profile",
        value: "FILE|own:DURATION",
        default: "none",
        example: "x.trodden",
        help: "Whose counts keep updates off hot edges: a former run's, or this run's after a time",
        code: true,
        effect: Effect::Classes,
        set: |o, value| Ok(o.code.use_profile = Some(value.parse()?)),
        get: |o| o.code.use_profile.as_ref().map(ToString::to_string),
        // Classes that are numbered again have ids of their own.
        mark: Some(|o| o.former_profile().is_some().to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "memory",
        value: "FILE",
        default: "none",
        example: "x.plan",
        help: "Methods that earlier runs know, so that they get no probes; 'trodden run' writes it",
        level: Level::Research,
        uses: &[Use::RETIRING],
        code: true,
        effect: Effect::Classes,
        set: |o, value| Ok(o.code.memory = Some(file_name(value)?)),
        get: |o| o.code.memory.clone(),
        mark: Some(|o| o.code.memory.is_some().to_string()),
        ..OptionEntry::PLAIN
    },
];
