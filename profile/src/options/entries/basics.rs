//! Options about the kinds of profile and the probes.

use crate::options::choices::ProfileOptions;
use crate::options::entry::{Effect, Level, OptionEntry, TakenBy, Use};
use crate::options::syntax::{join_list, split_list};
use crate::options::value_error::ValueError;
use crate::options::values::{Action, Probe, ProfileKind};

pub const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "profile",
        value: "paths|kpaths|contexts|subpaths|structural|coverage|null",
        default: "paths",
        example: "contexts",
        help: "What is profiled; several are joined by +. null is for replays",
        list: true,
        taken: TakenBy::Both,
        only_replayed: |o| o.has(ProfileKind::Null),
        level: Level::Basic,
        effect: Effect::Classes,
        set: |o, value| {
            o.profile.clear();
            for kind in split_list(value) {
                let kind = kind.parse()?;
                if !o.profile.contains(&kind) {
                    o.profile.push(kind);
                }
            }
            Ok(())
        },
        get: |o| Some(join_list(o.profile.iter().map(|kind| kind.name()))),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "coverage",
        value: "lines|branches|paths",
        default: "branches",
        example: "paths",
        help: "What coverage is to know; paths are counted",
        uses: &[Use::COVERAGE],
        effect: Effect::Classes,
        set: |o, value| Ok(o.coverage = value.parse()?),
        get: |o| Some(o.coverage.to_string()),
        // Lines and branches are the same probes.
        mark: Some(|o| o.covers_paths().to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "probe",
        value: "yieldpoint|counters|safepoint|events|auto|none",
        default: "auto",
        example: "counters",
        help: "How path ends are observed; none: only CPU time is sampled",
        effect: Effect::Classes,
        set: |o, value| Ok(o.probe = value.parse()?),
        get: |o| Some(o.probe.to_string()),
        // What `auto` stands for depends on other options.
        mark: Some(|o| {
            if o.retires() && !o.is_structural() {
                Probe::Auto.to_string()
            } else {
                o.probe_in_use().to_string()
            }
        }),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "include",
        value: "PATTERN",
        default: "all but the JDK",
        example: "a.*",
        help: "Classes to profile (wildcards * and ?), or Class#method",
        list: true,
        level: Level::Basic,
        code: true,
        effect: Effect::Classes,
        set: |o, value| Ok(o.code.include = patterns(value)?),
        get: |o| shown(&o.code.include),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "exclude",
        value: "PATTERN",
        default: "none",
        example: "a.*",
        help: "Classes, or Class#method, to leave alone; wins over include",
        list: true,
        level: Level::Basic,
        code: true,
        effect: Effect::Classes,
        set: |o, value| Ok(o.code.exclude = patterns(value)?),
        get: |o| shown(&o.code.exclude),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "requests",
        value: "PATTERN|http|servlet|spring|jaxrs|httpserver|grpc|kafka|spans",
        default: "none",
        example: "http",
        help: "Methods that handle requests (Class#method, or those of a framework; spans: only spans), for 'trodden slow'",
        list: true,
        uses: &[Use::COUNTED],
        code: true,
        effect: Effect::Classes,
        set: |o, value| Ok(o.code.requests = patterns(value)?),
        get: |o| shown(&o.code.requests),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "skip-main",
        value: "PATTERN",
        default: "none, or the build tool",
        example: "a.Main",
        help: "Main classes or jars whose JVMs are left alone",
        list: true,
        set: |o, value| Ok(o.code.skip_main = patterns(value)?),
        get: |o| shown(&o.code.skip_main),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "seed",
        value: "N",
        default: "0",
        example: "5",
        help: "For whatever is random: windows, bursts, samples",
        taken: TakenBy::Both,
        level: Level::Research,
        effect: Effect::Counts(&[Use::CONTEXTS, Use::SUBPATHS]),
        set: |o, value| {
            let seed = value.parse().ok().filter(|_| !value.starts_with('+'));
            o.seed = seed.ok_or_else(|| ValueError::Range(value.to_owned(), 0, u64::MAX))?;
            Ok(())
        },
        get: |o| Some(o.seed.to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "config",
        value: "FILE",
        default: "none",
        example: "options.properties",
        help: "A properties file with options; what is given directly wins over it",
        taken: TakenBy::Both,
        actions: Action::ALL,
        // Read before all others: see `ProfileOptions::read_pairs`.
        ..OptionEntry::PLAIN
    },
];

/// Patterns of a list.
fn patterns(value: &str) -> Result<Vec<String>, ValueError> {
    let patterns = split_list(value);
    for pattern in &patterns {
        if pattern.is_empty() {
            return Err(ValueError::Rule("a pattern is empty"));
        }
        if let Some(separator) = pattern.chars().find(|c| matches!(c, ':' | ';')) {
            let mended = pattern.replace(separator, "+");
            return Err(ValueError::Separator(pattern.clone(), separator, mended));
        }
    }
    Ok(patterns)
}

fn shown(patterns: &[String]) -> Option<String> {
    (!patterns.is_empty()).then(|| join_list(patterns.iter().map(String::as_str)))
}

impl ProfileOptions {
    /// Is this among what is profiled?
    pub fn has(&self, kind: ProfileKind) -> bool {
        self.profile.contains(&kind)
    }
}
