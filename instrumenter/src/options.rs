//! Settings of the instrumenter.

use std::str::FromStr;
use std::sync::Arc;

use trodden_profile::events::EventKinds;

use crate::filter::Filter;
use crate::guide::Guide;
use crate::leave::Leave;

/// Which probes are emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeKind {
    /// A volatile flag is tested at each path end; when it is set, (method, path) goes into a ring.
    Yieldpoint,
    /// Each path end is counted exactly, in per-thread arrays.
    Counters,
    /// The path register only; the agent reads it from frames at safepoints.
    Safepoint,
    /// Path ends, activations or calls are appended to a buffer of the thread, as [`EventProbes`] says.
    Events,
    /// Path ends of structure graphs (one per loop) are counted while the graph's switch is on.
    Structural,
    /// Each block and each way of a decision is marked when it runs for the first time.
    Coverage,
}

impl ProbeKind {
    /// All kinds, for sweeps.
    pub const ALL: [ProbeKind; 6] = [
        ProbeKind::Yieldpoint,
        ProbeKind::Counters,
        ProbeKind::Safepoint,
        ProbeKind::Events,
        ProbeKind::Structural,
        ProbeKind::Coverage,
    ];

    /// The name used in options and profiles.
    pub const fn name(self) -> &'static str {
        match self {
            ProbeKind::Yieldpoint => "yieldpoint",
            ProbeKind::Counters => "counters",
            ProbeKind::Safepoint => "safepoint",
            ProbeKind::Events => "events",
            ProbeKind::Structural => "structural",
            ProbeKind::Coverage => "coverage",
        }
    }
}

/// No probe has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown probe '{0}' (known: yieldpoint, counters, safepoint, events, structural, coverage)")]
pub struct UnknownProbe(pub String);

impl FromStr for ProbeKind {
    type Err = UnknownProbe;

    fn from_str(name: &str) -> Result<Self, UnknownProbe> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| UnknownProbe(name.to_owned()))
    }
}

/// Which probes are emitted, and what those of the event stream report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Probes {
    /// See [`ProbeKind::Yieldpoint`].
    Yieldpoint,
    /// See [`ProbeKind::Counters`].
    Counters,
    /// See [`ProbeKind::Safepoint`].
    Safepoint,
    /// See [`ProbeKind::Events`].
    Events(EventProbes),
    /// See [`ProbeKind::Structural`].
    Structural,
    /// See [`ProbeKind::Coverage`].
    Coverage,
}

impl Probes {
    /// Their kind.
    pub const fn kind(self) -> ProbeKind {
        match self {
            Probes::Yieldpoint => ProbeKind::Yieldpoint,
            Probes::Counters => ProbeKind::Counters,
            Probes::Safepoint => ProbeKind::Safepoint,
            Probes::Events(_) => ProbeKind::Events,
            Probes::Structural => ProbeKind::Structural,
            Probes::Coverage => ProbeKind::Coverage,
        }
    }

    /// The kinds of events that they write; none for probes that write no events.
    pub const fn events(self) -> EventKinds {
        match self {
            Probes::Events(events) => events.kinds(),
            _ => EventKinds::NONE,
        }
    }

    /// Returns true if code is changed. If not, classes are numbered and never written.
    pub const fn change_code(self) -> bool {
        !matches!(
            self,
            Probes::Events(EventProbes::JvmCallBursts | EventProbes::JvmSteps { .. })
        )
    }
}

/// The probes of a kind; of the event stream those for [`EventProbes::Activations`].
impl From<ProbeKind> for Probes {
    fn from(kind: ProbeKind) -> Self {
        match kind {
            ProbeKind::Yieldpoint => Probes::Yieldpoint,
            ProbeKind::Counters => Probes::Counters,
            ProbeKind::Safepoint => Probes::Safepoint,
            ProbeKind::Events => Probes::Events(EventProbes::Activations),
            ProbeKind::Structural => Probes::Structural,
            ProbeKind::Coverage => Probes::Coverage,
        }
    }
}

impl From<EventProbes> for Probes {
    fn from(events: EventProbes) -> Self {
        Probes::Events(events)
    }
}

/// The events that probes of the event stream report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventProbes {
    /// Each path end, but not to which activation it belongs.
    Paths,
    /// Path ends that the analysis has asked for; the probe itself skips the others.
    WantedPaths,
    /// Path ends, and where activations begin and end. A method that ends one path per activation writes one
    /// word.
    Activations,
    /// The same, but an activation that ends one path counts it in slots, as `counters` does, and reports
    /// nothing: for k-iteration paths, of which nothing follows such a path.
    CountedActivations,
    /// As `Activations`, but each activation writes its beginning and its end, so that calls are seen to be
    /// nested in it.
    NestedActivations,
    /// Calls with their call sites, and returns.
    Calls(CallWeight),
    /// Calls with their call sites, and returns, while the agent's flag is set; else a probe only tests the
    /// flag.
    CallBursts,
    /// The JVM itself reports calls and returns in bursts. Classes are numbered, but never written, and no
    /// method is left out because probes would not fit.
    JvmCallBursts,
    /// The JVM itself reports in bursts which instructions are executed, and the agent makes path ends of it.
    /// Classes are numbered, but never written.
    JvmSteps {
        /// True if beginnings and ends of activations are wanted, too.
        activations: bool,
    },
}

/// The data that probes report in addition to calls and returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallWeight {
    /// Nothing.
    Nothing,
    /// Each path end.
    Paths,
    /// At each call the caller's path register.
    PathsToCalls,
    /// At each call and return the time since the one before.
    Time,
}

impl EventProbes {
    /// All of them.
    pub const ALL: [EventProbes; 13] = [
        EventProbes::Paths,
        EventProbes::WantedPaths,
        EventProbes::Activations,
        EventProbes::CountedActivations,
        EventProbes::NestedActivations,
        EventProbes::Calls(CallWeight::Nothing),
        EventProbes::Calls(CallWeight::Paths),
        EventProbes::Calls(CallWeight::PathsToCalls),
        EventProbes::Calls(CallWeight::Time),
        EventProbes::CallBursts,
        EventProbes::JvmCallBursts,
        EventProbes::JvmSteps { activations: false },
        EventProbes::JvmSteps { activations: true },
    ];

    /// The cheapest probes that write these kinds of events.
    pub const fn for_kinds(kinds: EventKinds) -> Self {
        match kinds {
            EventKinds {
                call_sites: true,
                paths: true,
                ..
            } => EventProbes::Calls(CallWeight::Paths),
            EventKinds { call_sites: true, .. } => EventProbes::Calls(CallWeight::Nothing),
            EventKinds {
                activations: false, ..
            } => EventProbes::Paths,
            EventKinds { only_paths: true, .. } => EventProbes::Activations,
            EventKinds {
                only_paths: false, ..
            } => EventProbes::NestedActivations,
        }
    }

    /// The kinds of events that they write.
    pub const fn kinds(self) -> EventKinds {
        const CALLS: EventKinds = EventKinds {
            activations: true,
            call_sites: true,
            ..EventKinds::NONE
        };
        match self {
            EventProbes::Paths | EventProbes::WantedPaths | EventProbes::JvmSteps { activations: false } => {
                EventKinds::PATHS
            }
            EventProbes::Activations
            | EventProbes::CountedActivations
            | EventProbes::JvmSteps { activations: true } => EventKinds::ACTIVATION_PATHS,
            EventProbes::NestedActivations => EventKinds {
                only_paths: false,
                ..EventKinds::ACTIVATION_PATHS
            },
            EventProbes::Calls(CallWeight::Paths) => EventKinds { paths: true, ..CALLS },
            EventProbes::Calls(CallWeight::Nothing | CallWeight::PathsToCalls | CallWeight::Time)
            | EventProbes::CallBursts
            | EventProbes::JvmCallBursts => CALLS,
        }
    }
}

/// Names of the Java class that instrumented code calls. Its methods:
///
/// | method | used by | meaning |
/// | --- | --- | --- |
/// | `static void pathEnd(int method, int path)` | `yieldpoint` | flag test, ring store |
/// | `static long counters(int offset)` | `counters` | where the calling thread counts for the class whose
/// slots begin at that offset |
/// | `static void count(long counters, int slot)` | `counters` | one more, in a method that fetched
/// `counters` at entry |
/// | `static void count(int offset, int slot)` | `counters` | one more, fetched here (methods that end one
/// path per activation) |
/// | `static void countHashed(int method, int path)` | `counters` | one more, for methods with too many paths
/// for dense slots |
/// | `static void cut(int method, int register, int block)` | `counters` with cut paths
/// ([`InstrumentOptions::cut_paths`]) | an exception came in that block; nothing to count if the block is
/// negative |
/// | `static long events()` | `events` | the calling thread's block |
/// | `static int enter(long block, int upper)` | `events` | an activation begins; how many are below it |
/// | `static long events(long known)` | `events` with counted activations | the same, if it is not known |
/// | `static int pathReporting(long block, int depth, int upper, int path)` | the same | a path that is not
/// the activation's only one; `depth` is negative before the first |
/// | `static void lastOrOnlyPath(long block, int depth, int upper, int path, int offset)` | the same | the
/// last path, or the only one, which is counted |
/// | `static void path(long block, int depth, int upper, int path)` | `events` | a path of that activation
/// ended |
/// | `static void lastPath(long block, int depth, int upper, int path)` | `events` | and with it the
/// activation |
/// | `static void path(long block, int upper, int path)` | `events` | a path ended, where activations are not
/// wanted |
/// | `static void onlyPath(int upper, int path)` | `events` | a whole activation |
/// | `static long enterFrom(long block, int upper)` | `events` with call sites | an activation begins; the
/// caller's call word |
/// | `static long initialise(long block, int upper)` | the same | the same, of a class initialiser |
/// | `static void call(long block, long caller, int bci)` | the same | that activation is about to call |
/// | `static void exit(long block, long caller, int upper)` | the same | it has ended |
/// | `static void path(long block, long caller, int upper, int path)` | the same | a path of it ended |
/// | `static void lastPath(long block, long caller, int upper, int path)` | the same | and with it the
/// activation |
/// | `static long enterTimed(long block, int upper)`, `initialiseTimed`, `exitTimed` | the same, timed
/// (`CallWeight::Time`) | as without time, after reporting how much has passed |
/// | `static long enterAlong(long block, int upper)`, `initialiseAlong`, `exitAlong` | the same, for
/// `CallWeight::PathsToCalls` | as without them |
/// | `static void callAlong(long block, long caller, int bci, int upper, int register)` | the same | that
/// activation is about to call, and has taken that path |
/// | `static void begins(int upper)`, `initialises(int upper)` | `EventProbes::CallBursts` | an activation
/// begins, of a class initialiser |
/// | `static void calls(int upper, int bci)` | the same | it is about to call |
/// | `static void ends(int upper)` | the same | it ends |
/// | `static void pathIfWanted(long block, int upper, int path)` | `events` | a path ended, where most are
/// skipped (`EventProbes::WantedPaths`) |
/// | `static void onlyPathIfWanted(int upper, int path)` | `events` | the same, for a whole activation |
/// | `static void structuralPath(int slot, int path)` | `structural` | a path ended of the structure graph
/// whose slots begin there |
/// | `static void structuralHashed(int slot, int path)` | `structural` | the same, of a graph with too many
/// paths for dense slots |
/// | `static int requestBegins(int name)` | [`RequestMethods`](crate::RequestMethods) | an activation of a
/// method that handles requests begins; how many it is in |
/// | `static void requestEnds(int depth)` | the same | it ends |
/// | `static void covered(int probe)` | `coverage` | execution passed that probe |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shim {
    /// Internal name of the class.
    pub class: String,
}

impl Shim {
    /// Every instrumented class has one of these names in its constant pool: that of the agent's shim, or the
    /// mark of code that was instrumented ahead of its run, whose shim has another name in each output.
    pub const MARKS: [&'static str; 2] = [Self::AT_LOAD, "trodden/Runtime"];
    /// The agent's shim.
    pub const AT_LOAD: &'static str = "java/lang/Trodden";

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
    pub probes: Probes,
    /// Which classes and methods.
    pub filter: Filter,
    /// The methods that probes call.
    pub shim: Shim,
    /// Largest number of paths per method; above, cut points are added. At most `i32::MAX`.
    pub path_limit: u64,
    /// Report nothing for iterations of single-path loops. Default: no.
    pub skip_single_path_loops: bool,
    /// Put probes into methods with a single path too: whether they ran is then known. Default: no.
    pub single_path_methods: bool,
    /// True if paths are to be counted that an exception cuts off. Only `counters` can. Default: no.
    pub cut_paths: bool,
    /// True if the registers of open activations have to be readable from their frames. Only for `counters`;
    /// `safepoint` can always. Default: no.
    pub open_paths: bool,
    /// True if counts of methods that call others are on
    /// [other pages](trodden_profile::CounterLayout::apart) than those of methods that do not. Only for
    /// `counters`. Default: no.
    pub callers_apart: bool,
    /// Probes of coverage are where the path map alone says
    /// ([`ClassCoverage::of_map`](crate::ClassCoverage::of_map)): more of them, for callers that have no
    /// class file later. Default: no.
    pub coverage_by_map: bool,
    /// Frequencies of a former run, by which methods are numbered where it knows them.
    pub guide: Option<Arc<Guide>>,
    /// Methods that get no probes, because earlier runs know them.
    pub leave: Option<Arc<Leave>>,
    /// True if path maps get the [shapes](trodden_profile::MethodShape) of their methods at once. Default:
    /// yes. If not, [`shapes`](crate::shapes) makes them later from the same bytes.
    pub shapes: bool,
    /// True if classes that have Trodden's marks are prepared, too: for maps of their methods without probes.
    /// Only for probes that change no code. Default: no.
    pub marked_classes: bool,
}

impl InstrumentOptions {
    /// Defaults for these probes.
    pub fn new(probes: impl Into<Probes>) -> Self {
        let probes = probes.into();
        InstrumentOptions {
            probes,
            filter: Filter::default(),
            shim: Shim::default(),
            path_limit: i32::MAX as u64,
            skip_single_path_loops: false,
            single_path_methods: false,
            cut_paths: false,
            open_paths: false,
            callers_apart: false,
            coverage_by_map: false,
            guide: None,
            leave: None,
            shapes: true,
            marked_classes: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_for_kinds_of_events_write_these_kinds() {
        for probes in EventProbes::ALL {
            let found = EventProbes::for_kinds(probes.kinds());
            assert_eq!(found.kinds(), probes.kinds(), "{probes:?}");
            assert_eq!(Probes::from(probes).kind(), ProbeKind::Events);
        }
        for kind in ProbeKind::ALL {
            assert_eq!(Probes::from(kind).kind(), kind);
            assert_eq!(kind.name().parse(), Ok(kind));
        }
    }
}
