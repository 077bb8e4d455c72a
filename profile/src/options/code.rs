//! Options about which code carries probes, and which.

use std::time::Duration;

use super::entry::{Effect, Level, OptionEntry, Use};
use super::output::file_name;
use super::values::{
    CutPaths, OpenPaths, SinglePathLoops, SinglePathMethods, format_duration, parse_duration,
};

/// Options about which code carries probes, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeChoices {
    /// Include patterns; empty for the default.
    pub include: Vec<String>,
    /// Exclude patterns.
    pub exclude: Vec<String>,
    /// Most paths of a method before it is cut; 2 to `i32::MAX`.
    pub path_limit: u32,
    /// `None`: skip with probe `yieldpoint`, else probe. See
    /// [`ProfileOptions::skips_single_path_loops`](super::ProfileOptions::skips_single_path_loops).
    pub single_path_loops: Option<SinglePathLoops>,
    /// JVMs whose main class or jar is one of these are left alone.
    pub skip_main: Vec<String>,
    /// Do methods with a single path carry a probe?
    pub single_path_methods: SinglePathMethods,
    /// Are paths counted that an exception cuts off?
    pub cut_paths: CutPaths,
    /// `None`: read with probe `counters`. See
    /// [`ProfileOptions::reads_open_paths`](super::ProfileOptions::reads_open_paths).
    pub open_paths: Option<OpenPaths>,
    /// Profile of a former run, by whose frequencies methods are numbered.
    pub use_profile: Option<String>,
    /// Plan of methods that get no probes, as earlier runs know them.
    pub memory: Option<String>,
    /// Probes `counters` and `yieldpoint`: when hot classes are numbered again by this run's own frequencies.
    pub renumber: Option<Duration>,
}

impl Default for CodeChoices {
    fn default() -> Self {
        CodeChoices {
            include: Vec::new(),
            exclude: Vec::new(),
            skip_main: Vec::new(),
            path_limit: i32::MAX as u32,
            single_path_loops: None,
            single_path_methods: SinglePathMethods::Skip,
            cut_paths: CutPaths::Skip,
            open_paths: None,
            use_profile: None,
            memory: None,
            renumber: None,
        }
    }
}

pub(super) const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "single-path-methods",
        value: "skip|probe",
        default: "skip",
        example: "probe",
        help: "Do methods with a single path carry a probe? (For line coverage, which shows whether they ran.)",
        code: true,
        effect: Effect::Classes,
        set: |o, value| Ok(o.code.single_path_methods = value.parse()?),
        get: |o| Some(o.code.single_path_methods.to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "cut-paths",
        value: "skip|count",
        default: "skip",
        example: "count",
        help: "Are paths counted that an exception cuts off, up to the block in which it came? (For coverage.)",
        uses: &[Use::EVERY_PATH_END],
        code: true,
        effect: Effect::Classes,
        set: |o, value| Ok(o.code.cut_paths = value.parse()?),
        get: |o| Some(o.code.cut_paths.to_string()),
        mark: Some(|o| o.counts_cut_paths().to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "open-paths",
        value: "skip|read",
        default: "read with counters, else skip",
        example: "skip",
        help: "Are paths counted that are under way when the profile is written, up to the block that runs?",
        uses: &[Use::EVERY_PATH_END],
        code: true,
        effect: Effect::Classes,
        set: |o, value| Ok(o.code.open_paths = Some(value.parse()?)),
        get: |o| o.code.open_paths.map(|choice| choice.to_string()),
        mark: Some(|o| o.reads_open_paths().to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "single-path-loops",
        value: "skip|probe",
        default: "probe",
        example: "skip",
        help: "Do iterations of branchless innermost loops carry a probe?",
        code: true,
        effect: Effect::Classes,
        set: |o, value| Ok(o.code.single_path_loops = Some(value.parse()?)),
        get: |o| o.code.single_path_loops.map(|choice| choice.to_string()),
        mark: Some(|o| o.skips_single_path_loops().to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "path-limit",
        aliases: &["path_limit"],
        value: "N",
        default: "2147483647",
        example: "2",
        help: "Most paths of a method before its paths are cut in two",
        level: Level::Research,
        code: true,
        effect: Effect::Classes,
        set: |o, value| match value.parse() {
            Ok(limit @ 2..=0x7fff_ffff) => Ok(o.code.path_limit = limit),
            _ => Err(format!("'{value}' is not a number from 2 to {}", i32::MAX)),
        },
        get: |o| Some(o.code.path_limit.to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "use-profile",
        value: "FILE",
        default: "none",
        example: "x.trodden",
        help: "A profile of a former run: its hottest edges carry no register update (profile-guided probes)",
        code: true,
        effect: Effect::Classes,
        set: |o, value| Ok(o.code.use_profile = Some(file_name(value)?)),
        get: |o| o.code.use_profile.clone(),
        mark: Some(|o| o.code.use_profile.is_some().to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "memory",
        value: "FILE",
        default: "none",
        example: "x.plan",
        help: "Which methods get no probes because earlier runs know them; 'trodden run' writes it",
        level: Level::Research,
        uses: &[Use::RETIRING],
        code: true,
        effect: Effect::Classes,
        set: |o, value| Ok(o.code.memory = Some(file_name(value)?)),
        get: |o| o.code.memory.clone(),
        mark: Some(|o| o.code.memory.is_some().to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "renumber",
        value: "DURATION",
        default: "never",
        example: "5s",
        help: "Once, after that time, hot classes get the probes that use-profile would give them, by the run's own counts",
        level: Level::Research,
        uses: &[Use::STAYING_COUNTS],
        // Classes that are numbered again have ids of their own.
        code: true,
        effect: Effect::Nothing,
        set: |o, value| Ok(o.code.renumber = Some(parse_duration(value)?)),
        get: |o| o.code.renumber.map(format_duration),
        ..OptionEntry::PLAIN
    },
];
