//! Options about windows: what many JVMs write into spool folders, and which of them do.

use crate::options::entry::{Effect, OptionEntry, Use};
use crate::options::fleet::{DAY, Fleet};
use crate::options::syntax::{join_list, split_list};
use crate::options::value_error::{ValueError, file_name};
use crate::options::values::{format_bytes, format_duration, parse_bytes, parse_duration};
use std::collections::BTreeMap;

/// The longest name of a service, build, host, label or its value, in bytes.
const MAX_NAME: usize = 200;

pub const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "spool",
        value: "DIR",
        default: "none",
        example: "spool",
        help: "Write windows, what was counted since the last one, into this folder: every 60 s, or as dump says",
        // It decides what `auto` stands for.
        effect: Effect::Classes,
        set: |o, value| Ok(o.fleet.spool = Some(file_name(value)?)),
        get: |o| o.fleet.spool.clone(),
        mark: Some(|o| o.spools().to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "spool-limit",
        value: "BYTES",
        default: "256M",
        example: "1G",
        help: "Most bytes of the folder; with more, windows wait for room",
        uses: &[Use::SPOOL],
        set: |o, value| match parse_bytes(value) {
            Some(limit) => Ok(o.fleet.limit = limit),
            None => Err(ValueError::refused(
                value,
                "is not a number of bytes such as 64M or 2G",
            )),
        },
        get: |o| Some(format_bytes(o.fleet.limit)),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "service",
        value: "NAME",
        default: "the main class or jar",
        example: "shop",
        help: "What is running",
        uses: &[Use::SPOOL],
        set: |o, value| Ok(o.fleet.service = Some(name(value)?)),
        get: |o| o.fleet.service.clone(),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "build",
        value: "NAME",
        default: "the commit in the jar, or a hash of the class path",
        example: "v2",
        help: "Which build of it",
        uses: &[Use::SPOOL],
        set: |o, value| Ok(o.fleet.build = Some(name(value)?)),
        get: |o| o.fleet.build.clone(),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "host",
        value: "NAME",
        default: "the host's name",
        example: "web-7",
        help: "Where it runs; fleet draws by it",
        uses: &[Use::SPOOL],
        set: |o, value| Ok(o.fleet.host = Some(name(value)?)),
        get: |o| o.fleet.host.clone(),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "labels",
        value: "KEY:VALUE",
        default: "none",
        example: "region:eu",
        help: "More words about the JVM (region:eu+zone:a)",
        list: true,
        uses: &[Use::SPOOL],
        set: |o, value| Ok(o.fleet.labels = labels(value)?),
        get: |o| {
            let labels: Vec<String> = o.fleet.labels.iter().map(|(k, v)| format!("{k}:{v}")).collect();
            (!labels.is_empty()).then(|| join_list(labels.iter().map(String::as_str)))
        },
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "fleet",
        value: "1/N[:DURATION]",
        default: "1/1",
        example: "1/100",
        help: "Record on one of N hosts only, drawn again each day or after that time",
        uses: &[Use::SPOOL],
        set: |o, value| Ok(o.fleet.fleet = Some(fleet(value)?)),
        get: |o| {
            o.fleet.fleet.map(|Fleet { of, holds }| match holds {
                DAY => format!("1/{of}"),
                holds => format!("1/{of}:{}", format_duration(holds)),
            })
        },
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "hmac-key",
        value: "FILE",
        default: "none",
        example: "key",
        help: "Write the HMAC-SHA-256 of each window, with the key in this file",
        uses: &[Use::SPOOL],
        set: |o, value| Ok(o.fleet.hmac_key = Some(file_name(value)?)),
        get: |o| o.fleet.hmac_key.clone(),
        ..OptionEntry::PLAIN
    },
];

/// Reads a share of all hosts, and how long a draw holds.
fn fleet(given: &str) -> Result<Fleet, ValueError> {
    let (share, holds) = match given.split_once(':') {
        Some((share, holds)) => (share, parse_duration(holds)?),
        None => (given, DAY),
    };
    if holds.subsec_nanos() != 0 {
        return Err(ValueError::Draw(given.to_owned()));
    }
    let number = share.strip_prefix("1/").filter(|n| !n.starts_with('+'));
    let of = number.and_then(|n| n.parse().ok());
    let of = of.ok_or_else(|| ValueError::refused(given, "is not 1/N, such as 1/100"))?;
    Ok(Fleet { of, holds })
}

/// A name that reports and folders can hold.
fn name(given: &str) -> Result<String, ValueError> {
    if given.trim().is_empty() {
        return Err(ValueError::Rule("the name is empty"));
    }
    if given.len() > MAX_NAME {
        return Err(ValueError::Rule("the name is longer than 200 bytes"));
    }
    match given.chars().find(|c| c.is_control()) {
        Some(c) => Err(ValueError::Control(c)),
        None => Ok(given.to_owned()),
    }
}

fn labels(given: &str) -> Result<BTreeMap<String, String>, ValueError> {
    let mut labels = BTreeMap::new();
    for label in split_list(given) {
        let wrong = |why| ValueError::refused(&label, why);
        let (key, value) = label
            .split_once(':')
            .ok_or_else(|| wrong("is not KEY:VALUE, such as region:eu"))?;
        let good = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if key.is_empty() || !key.chars().all(good) {
            return Err(wrong(
                "has a key that is not made of letters, digits, '_', '-' and '.'",
            ));
        }
        if value.contains(['+', ',']) {
            return Err(wrong("has a '+' or a ',' in its value"));
        }
        let in_label = |error| ValueError::Label(label.clone(), Box::new(error));
        if labels
            .insert(name(key)?, name(value).map_err(in_label)?)
            .is_some()
        {
            return Err(in_label(ValueError::Rule("its key is given twice")));
        }
    }
    Ok(labels)
}
