//! What is profiled, and how.

use super::entry::{Effect, Level, OptionEntry};
use super::syntax::{join_list, split_list};
use super::{Action, Probe, ProfileKind, ProfileOptions, Use};

pub(super) const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "profile",
        value: "paths|kpaths|contexts|subpaths|structural|coverage|null",
        default: "paths",
        example: "contexts",
        help: "What is profiled (structural: each loop on its own; coverage: what ran at all, by probes that compiled code \
               drops; null: nothing, to see what the event stream costs)",
        list: true,
        replay: true,
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
        example: "lines",
        help: "What coverage is to know: lines and branches (one kind of probe tells both), or paths too, which are counted \
               (probe=counters,single-path-methods=probe,cut-paths=count)",
        uses: &[Use::COVERAGE],
        set: |o, value| Ok(o.coverage = value.parse()?),
        get: |o| Some(o.coverage.to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "probe",
        value: "yieldpoint|counters|safepoint|events|auto|none",
        default: "auto",
        example: "counters",
        help: "How path ends are observed: sampled, all counted, read from frames at safepoints, or as a stream with \
               calls and returns; none: only CPU time is sampled",
        effect: Effect::Classes,
        set: |o, value| Ok(o.probe = value.parse()?),
        get: |o| Some(o.probe.to_string()),
        // What `auto` stands for depends on other options.
        mark: Some(|o| match o.retires() && !o.is_structural() {
            true => Probe::Auto.to_string(),
            false => o.probe_in_use().to_string(),
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
        name: "skip-main",
        value: "PATTERN",
        default: "none; with 'trodden run mvn' or 'gradle' the build tool itself",
        example: "a.Main",
        help: "JVMs whose main class (or jar, as on the command line) is left alone: for agents that come by JAVA_TOOL_OPTIONS",
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
        help: "For whatever is random: where the rotation of strides begins, times of windows and bursts, samples of subpaths",
        replay: true,
        level: Level::Research,
        effect: Effect::Counts(&[Use::CONTEXTS, Use::SUBPATHS]),
        set: |o, value| {
            let seed = value.parse().ok().filter(|_| !value.starts_with('+'));
            o.seed = seed.ok_or_else(|| format!("'{value}' is not a number from 0 to {}", u64::MAX))?;
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
        replay: true,
        actions: Action::ALL,
        // Read before all others: see `ProfileOptions::read_pairs`.
        ..OptionEntry::PLAIN
    },
];

/// Patterns of a list.
fn patterns(value: &str) -> Result<Vec<String>, String> {
    let patterns = split_list(value);
    for pattern in &patterns {
        if pattern.is_empty() {
            return Err("a pattern is empty".to_owned());
        }
        if let Some(separator) = pattern.chars().find(|c| matches!(c, ':' | ';')) {
            let mended = pattern.replace(separator, "+");
            return Err(format!(
                "'{pattern}' matches nothing, as no name holds '{separator}'; patterns are joined by '+' or ',': {mended}"
            ));
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
