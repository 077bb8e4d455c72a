//! Options about windows: what many JVMs write into spool folders, and which of them do.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use super::entry::{Effect, OptionEntry, Use};
use super::output::file_name;
use super::syntax::{join_list, split_list};
use super::values::{format_duration, parse_duration};

/// The longest name of a service, build, host, label or its value, in bytes.
const LONGEST_NAME: usize = 200;
/// How long a draw of `fleet` holds: a day, which is one of UTC as Unix time counts it.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Time between windows, where it was not said.
pub(super) const WINDOW: Duration = Duration::from_secs(60);

/// Options about windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetChoices {
    /// The folder that windows go to; `None`: there are none.
    pub spool: Option<String>,
    /// While the folder's files take more bytes than this, none is written.
    pub limit: u64,
    /// What is running; the main class or jar by default.
    pub service: Option<String>,
    /// Which build of it; by default a hash of the class path.
    pub build: Option<String>,
    /// Where; the host's name by default.
    pub host: Option<String>,
    /// More words about the JVM.
    pub labels: BTreeMap<String, String>,
    /// Which share of all hosts records.
    pub fleet: Option<Fleet>,
    /// File with the key of windows' HMACs.
    pub hmac_key: Option<String>,
}

/// One host of many records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// One in that number of hosts.
    pub of: NonZeroU32,
    /// How long a draw holds, in whole seconds.
    pub holds: Duration,
}

impl Default for FleetChoices {
    fn default() -> Self {
        FleetChoices {
            spool: None,
            limit: 256 << 20,
            service: None,
            build: None,
            host: None,
            labels: BTreeMap::new(),
            fleet: None,
            hmac_key: None,
        }
    }
}

impl FleetChoices {
    /// The labels as one text: `region:eu+zone:a`, keys ascending. Empty if there are none.
    pub fn labels_text(&self) -> String {
        let labels = self.labels.iter().map(|(key, value)| format!("{key}:{value}"));
        labels.collect::<Vec<_>>().join("+")
    }
}

pub(super) const ENTRIES: &[OptionEntry] = &[
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
        set: |o, value| match bytes(value) {
            Some(limit) => Ok(o.fleet.limit = limit),
            None => Err(format!("'{value}' is not a number of bytes such as 64M or 2G")),
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
        default: "a hash of the class path",
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
fn fleet(given: &str) -> Result<Fleet, String> {
    let (share, holds) = match given.split_once(':') {
        Some((share, holds)) => (share, parse_duration(holds)?),
        None => (given, DAY),
    };
    if holds.subsec_nanos() != 0 {
        return Err(format!("'{given}': a draw holds for a whole number of seconds"));
    }
    let number = share.strip_prefix("1/").filter(|n| !n.starts_with('+'));
    let of = number.and_then(|n| n.parse().ok());
    let of = of.ok_or_else(|| format!("'{given}' is not 1/N, such as 1/100"))?;
    Ok(Fleet { of, holds })
}

/// A name that reports and folders can hold.
fn name(given: &str) -> Result<String, String> {
    if given.trim().is_empty() {
        return Err("the name is empty".to_owned());
    }
    if given.len() > LONGEST_NAME {
        return Err(format!("the name is longer than {LONGEST_NAME} bytes"));
    }
    match given.chars().find(|c| c.is_control()) {
        Some(c) => Err(format!("there is a control character ({c:?}) in the name")),
        None => Ok(given.to_owned()),
    }
}

fn labels(given: &str) -> Result<BTreeMap<String, String>, String> {
    let mut labels = BTreeMap::new();
    for label in split_list(given) {
        let (key, value) = label
            .split_once(':')
            .ok_or_else(|| format!("'{label}' is not KEY:VALUE, such as region:eu"))?;
        let good = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if key.is_empty() || !key.chars().all(good) {
            return Err(format!(
                "the key of '{label}' is not made of letters, digits, '_', '-' and '.'"
            ));
        }
        if value.contains(['+', ',']) {
            return Err(format!("there is a '+' or a ',' in the value of '{label}'"));
        }
        let (key, value) = (
            name(key)?,
            name(value).map_err(|e| format!("label '{label}': {e}"))?,
        );
        if labels.insert(key, value).is_some() {
            return Err(format!("label '{label}': its key is given twice"));
        }
    }
    Ok(labels)
}

/// A number of bytes, with `k`, `M` or `G` for powers of 1024.
fn bytes(given: &str) -> Option<u64> {
    let (digits, unit) = match given.strip_suffix(['k', 'M', 'G']) {
        Some(digits) if given.ends_with('k') => (digits, 1 << 10),
        Some(digits) if given.ends_with('M') => (digits, 1 << 20),
        Some(digits) => (digits, 1 << 30),
        None => (given, 1),
    };
    // "+5" is a number to Rust, and none to us.
    let number = digits.parse::<u64>().ok().filter(|_| !digits.starts_with('+'))?;
    number.checked_mul(unit)
}

/// The same number of bytes in words that [`bytes`] reads.
fn format_bytes(number: u64) -> String {
    let units = [("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10), ("", 1)];
    let unit = units.into_iter().find(|(_, unit)| number.is_multiple_of(*unit));
    let (name, unit) = unit.filter(|_| number > 0).unwrap_or(("", 1));
    format!("{}{name}", number / unit)
}
