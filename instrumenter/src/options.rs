//! Settings of the instrumenter.

use std::str::FromStr;

use crate::filter::Filter;

/// Which probes are emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeKind {
    /// A volatile flag is tested at each path end; when it is set, (method, path) goes into a ring.
    Yieldpoint,
    /// Each path end is counted exactly, in per-thread arrays.
    Counters,
    /// The path register only; the agent reads it from frames at safepoints.
    Safepoint,
}

impl ProbeKind {
    /// All kinds, for sweeps.
    pub const ALL: [ProbeKind; 3] = [ProbeKind::Yieldpoint, ProbeKind::Counters, ProbeKind::Safepoint];

    /// The name used in options and profiles.
    pub const fn name(self) -> &'static str {
        match self {
            ProbeKind::Yieldpoint => "yieldpoint",
            ProbeKind::Counters => "counters",
            ProbeKind::Safepoint => "safepoint",
        }
    }
}

impl FromStr for ProbeKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| format!("unknown probe '{name}' (known: yieldpoint, counters, safepoint)"))
    }
}

/// Names of the Java class that instrumented code calls. Its methods:
///
/// | method | used by | meaning |
/// | --- | --- | --- |
/// | `static void pathEnd(int method, int path)` | `yieldpoint` | flag test, ring store |
/// | `static long counters(int offset)` | `counters` | where the calling thread counts for the class whose slots begin at that offset |
/// | `static void count(long counters, int slot)` | `counters` | one more, in a method that fetched `counters` at entry |
/// | `static void count(int offset, int slot)` | `counters` | one more, fetched here (methods that end one path per activation) |
/// | `static void countHashed(int method, int path)` | `counters` | one more, for methods with too many paths for dense slots |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shim {
    /// Internal name of the class.
    pub class: String,
}

impl Default for Shim {
    /// The shim that the agent defines in java.base: visible to every class, in named modules too.
    fn default() -> Self {
        Shim {
            class: "java/lang/Trodden".to_owned(),
        }
    }
}

/// Settings of the instrumenter.
#[derive(Clone, Debug)]
pub struct InstrumentOptions {
    /// Which probes.
    pub probe: ProbeKind,
    /// Which classes and methods.
    pub filter: Filter,
    /// What the probes call.
    pub shim: Shim,
    /// Largest number of paths per method; above, cut points are added. At most `i32::MAX`.
    pub path_limit: u64,
    /// Report nothing for iterations of single-path loops. Default: only with `yieldpoint`.
    pub skip_single_path_loops: bool,
}

impl InstrumentOptions {
    /// Defaults for a kind of probe.
    pub fn new(probe: ProbeKind) -> Self {
        InstrumentOptions {
            probe,
            filter: Filter::default(),
            shim: Shim::default(),
            path_limit: i32::MAX as u64,
            skip_single_path_loops: probe == ProbeKind::Yieldpoint,
        }
    }
}
