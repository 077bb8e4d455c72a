//! Options about files and messages.

use crate::options::entry::{Effect, Level, OptionEntry, TakenBy};
use crate::options::file_pattern::FileFormat;
use crate::options::value_error::file_name;
use crate::options::values::{Action, format_duration, parse_bool, parse_duration};

pub const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "file",
        value: "PATTERN",
        default: "trodden-%p.trodden",
        example: "x.html",
        help: "Where the profile goes: %p pid, %t UTC time, %{ENV} variable; .trace records the stream",
        actions: &[Action::Start, Action::Stop, Action::Dump, Action::Report],
        // A trace has events that an analysis may not need.
        effect: Effect::Classes,
        set: |o, value| Ok(o.output.file = value.parse()?),
        get: |o| Some(o.output.file.to_string()),
        mark: Some(|o| (o.output.file.format() == FileFormat::Trace).to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "dump",
        value: "DURATION",
        default: "only at the end",
        example: "5s",
        help: "Write the profile periodically as well",
        set: |o, value| Ok(o.output.dump = Some(parse_duration(value)?)),
        get: |o| o.output.dump.map(format_duration),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "arguments",
        value: "names|all",
        default: "names",
        example: "all",
        help: "The program's arguments: options without their values, or all of them",
        set: |o, value| Ok(o.output.arguments = value.parse()?),
        get: |o| Some(o.output.arguments.to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "quiet",
        value: "true|false",
        default: "false",
        example: "true",
        help: "Show no message but errors, and no report after a run",
        taken: TakenBy::Both,
        actions: Action::ALL,
        set: |o, value| Ok(o.output.quiet = parse_bool(value)?),
        get: |o| Some(o.output.quiet.to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "loglevel",
        value: "error|warn|info|debug",
        default: "warn",
        example: "debug",
        help: "Least severity of messages that are shown",
        actions: Action::ALL,
        set: |o, value| Ok(o.output.loglevel = value.parse()?),
        get: |o| Some(o.output.loglevel.to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "log",
        value: "FILE",
        default: "standard error",
        example: "log.txt",
        help: "Where messages go",
        actions: Action::ALL,
        set: |o, value| Ok(o.output.log = Some(file_name(value)?)),
        get: |o| o.output.log.clone(),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "out",
        value: "FILE",
        default: "the log",
        example: "out.txt",
        help: "Where the agent writes its answer to an attach command",
        level: Level::Research,
        actions: Action::ALL,
        set: |o, value| Ok(o.output.out = Some(file_name(value)?)),
        get: |o| o.output.out.clone(),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "lease",
        value: "FILE",
        default: "none",
        example: "lease",
        help: "Stop when no process holds a lock (flock) on this file any more",
        level: Level::Research,
        set: |o, value| Ok(o.output.lease = Some(file_name(value)?)),
        get: |o| o.output.lease.clone(),
        ..OptionEntry::PLAIN
    },
];
