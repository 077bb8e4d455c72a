//! Settings of the instrumenter.

use std::str::FromStr;
use std::sync::Arc;

use trodden_profile::events::EventKinds;

use crate::filter::Filter;
use crate::guide::Guide;

/// Which probes are emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeKind {
    /// A volatile flag is tested at each path end; when it is set, (method, path) goes into a ring.
    Yieldpoint,
    /// Each path end is counted exactly, in per-thread arrays.
    Counters,
    /// The path register only; the agent reads it from frames at safepoints.
    Safepoint,
    /// Each path end is appended to a buffer of the thread, and what else
    /// [`InstrumentOptions::events`] asks for.
    Events,
    /// Path ends of structure graphs (one per loop) are counted while the graph's switch is on.
    Structural,
}

impl ProbeKind {
    /// All kinds, for sweeps.
    pub const ALL: [ProbeKind; 5] = [
        ProbeKind::Yieldpoint,
        ProbeKind::Counters,
        ProbeKind::Safepoint,
        ProbeKind::Events,
        ProbeKind::Structural,
    ];

    /// The name used in options and profiles.
    pub const fn name(self) -> &'static str {
        match self {
            ProbeKind::Yieldpoint => "yieldpoint",
            ProbeKind::Counters => "counters",
            ProbeKind::Safepoint => "safepoint",
            ProbeKind::Events => "events",
            ProbeKind::Structural => "structural",
        }
    }
}

impl FromStr for ProbeKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| {
            format!("unknown probe '{name}' (known: yieldpoint, counters, safepoint, events, structural)")
        })
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
/// | `static long events()` | `events` | the calling thread's block |
/// | `static int enter(long block, int upper)` | `events` | an activation begins; how many are below it |
/// | `static void path(long block, int depth, int upper, int path)` | `events` | a path of that activation ended |
/// | `static void lastPath(long block, int depth, int upper, int path)` | `events` | and with it the activation |
/// | `static void path(long block, int upper, int path)` | `events` | a path ended, where activations are not wanted |
/// | `static void onlyPath(int upper, int path)` | `events` | a whole activation |
/// | `static long enterFrom(long block, int upper)` | `events` with call sites | an activation begins; the caller's call word |
/// | `static long initialise(long block, int upper)` | the same | the same, of a class initialiser |
/// | `static void call(long block, long caller, int bci)` | the same | that activation is about to call |
/// | `static void exit(long block, long caller, int upper)` | the same | it has ended |
/// | `static void path(long block, long caller, int upper, int path)` | the same | a path of it ended |
/// | `static void lastPath(long block, long caller, int upper, int path)` | the same | and with it the activation |
/// | `static long enterTimed(long block, int upper)`, `initialiseTimed`, `exitTimed` | the same, timed (`InstrumentOptions::timed`) | as without time, after telling how much has passed |
/// | `static long enterAlong(long block, int upper)`, `initialiseAlong`, `exitAlong` | the same, with paths to calls (`InstrumentOptions::call_paths`) | as without them |
/// | `static void callAlong(long block, long caller, int bci, int upper, int register)` | the same | that activation is about to call, and has taken that path |
/// | `static void begins(int upper)`, `initialises(int upper)` | `events` in bursts (`InstrumentOptions::bursts`) | an activation begins, of a class initialiser |
/// | `static void calls(int upper, int bci)` | the same | it is about to call |
/// | `static void ends(int upper)` | the same | it ends |
/// | `static void pathIfWanted(long block, int upper, int path)` | `events` | a path ended, where most are left out (`InstrumentOptions::skips`) |
/// | `static void onlyPathIfWanted(int upper, int path)` | `events` | the same, for a whole activation |
/// | `static void structuralPath(int slot, int path)` | `structural` | a path ended of the structure graph whose slots begin there |
/// | `static void structuralHashed(int slot, int path)` | `structural` | the same, of a graph with too many paths for dense slots |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shim {
    /// Internal name of the class.
    pub class: String,
}

impl Shim {
    /// Every instrumented class has one of these names in its constant pool: that of the agent's shim, or the mark of code
    /// that was instrumented ahead of its run, whose shim has another name in each output.
    pub const MARKS: [&'static str; 2] = ["java/lang/Trodden", "trodden/Runtime"];

    /// The mark for classes that call this shim.
    pub fn mark(&self) -> &'static str {
        let own = Self::MARKS.into_iter().find(|mark| *mark == self.class);
        own.unwrap_or(Self::MARKS[1])
    }
}

impl Default for Shim {
    /// The shim that the agent defines in java.base: visible to every class, in named modules too.
    fn default() -> Self {
        Shim {
            class: Self::MARKS[0].to_owned(),
        }
    }
}

/// Settings of the instrumenter.
#[derive(Clone, Debug)]
pub struct InstrumentOptions {
    /// Which probes.
    pub probe: ProbeKind,
    /// Which events, if the probe is [`ProbeKind::Events`].
    pub events: EventKinds,
    /// Are calls and returns told in bursts only, between which probes do no more than test a flag? Nothing else is told then.
    pub bursts: bool,
    /// Does somebody else tell calls and returns, and no code carry probes? Classes are then numbered only, never written, and no method
    /// is left out because probes would not fit. Only with events that have calls.
    pub unprobed: bool,
    /// Does each call tell the caller's path register? Only where calls are told with call sites, and neither time nor paths are.
    pub call_paths: bool,
    /// Do calls and returns tell how much time has passed since the last one? Only where they are told with call sites, and paths are not.
    pub timed: bool,
    /// Are path ends left out of the stream that nobody wants? Only where activations are none of its events.
    pub skips: bool,
    /// Which classes and methods.
    pub filter: Filter,
    /// What the probes call.
    pub shim: Shim,
    /// Largest number of paths per method; above, cut points are added. At most `i32::MAX`.
    pub path_limit: u64,
    /// Report nothing for iterations of single-path loops. Default: only with `yieldpoint`.
    pub skip_single_path_loops: bool,
    /// Put probes into methods with a single path too: whether they ran is then known. Default: no.
    pub single_path_methods: bool,
    /// Frequencies of a former run, by which methods are numbered where it knows them.
    pub guide: Option<Arc<Guide>>,
}

impl InstrumentOptions {
    /// Defaults for a kind of probe.
    pub fn new(probe: ProbeKind) -> Self {
        InstrumentOptions {
            probe,
            events: EventKinds::ACTIVATION_PATHS,
            bursts: false,
            unprobed: false,
            call_paths: false,
            timed: false,
            skips: false,
            filter: Filter::default(),
            shim: Shim::default(),
            path_limit: i32::MAX as u64,
            skip_single_path_loops: probe == ProbeKind::Yieldpoint,
            single_path_methods: false,
            guide: None,
        }
    }
}
