//! The table of facts: one line each.

use std::time::Duration;

use super::{Fact, FactEntry, FactKind, MergeRule, Unit};

macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $id:ident: $type:ty = $name:literal, $kind:expr, $rule:ident;)*) => {
        $($(#[doc = $doc])+ pub const $id: Fact<$type> = Fact::new($name, $kind, MergeRule::$rule);)*

        /// All facts.
        pub const ALL: &[FactEntry] = &[$($id.entry),*];
    };
}

const COUNT: FactKind = FactKind::Count;
const NS: FactKind = FactKind::Duration(Unit::Ns);
const MS: FactKind = FactKind::Duration(Unit::Ms);
const TENTH_MS: FactKind = FactKind::Duration(Unit::TenthMs);
const TEXT: FactKind = FactKind::Text;

facts! {
    // The run and its host.
    /// Runs that were merged.
    RUNS: u64 = "runs", COUNT, Sum;
    /// Operating system.
    OS: String = "os", TEXT, List;
    /// Processor architecture.
    ARCH: String = "arch", TEXT, List;
    /// Processors that the JVM could use.
    CPUS: u64 = "cpus", COUNT, List;
    /// Process id.
    PID: u64 = "pid", COUNT, List;
    /// Did the agent come into a running JVM? `true` or `false`.
    ATTACHED: String = "attached", TEXT, List;
    /// Outputs of `trodden instrument` that ran.
    INSTRUMENTED_AHEAD: u64 = "instrumented_ahead", COUNT, Max;
    /// The output of `trodden instrument` that a path map belongs to.
    UNIT: String = "unit", TEXT, List;
    /// Include patterns that matched no class, joined with `+`.
    UNMATCHED_INCLUDE: String = "unmatched_include", TEXT, List;
    /// Names of classes like those patterns, joined with `+`.
    NEAR_NAMES: String = "near_names", TEXT, List;
    /// Panics of the agent that were caught.
    PANICS: u64 = "panics", COUNT, Sum;
    /// Options of `trodden replay`.
    REPLAY: String = "replay", TEXT, List;
    /// `true`: the trace was never finished.
    TRUNCATED: String = "truncated", TEXT, List;

    /// Why HotSpot's own counts were not read.
    HOTSPOT_UNREAD: String = "hotspot_unread", TEXT, List;

    // Windows of a fleet.
    /// What was running.
    SERVICE: String = "service", TEXT, List;
    /// Which build of it: a name, or 16 hex digits of the class path's hash.
    BUILD: String = "build", TEXT, List;
    /// Where it ran.
    HOST: String = "host", TEXT, List;
    /// More words about the JVM: `region:eu+zone:a`, keys ascending.
    LABELS: String = "labels", TEXT, List;
    /// 32 hex digits: random for each recording, that is a JVM and a start of profiling in it.
    JVM_ID: String = "jvm_id", TEXT, List;
    /// Number of the window, from 1, without gaps for one `jvm_id`.
    WINDOW: u64 = "window", COUNT, Max;
    /// When the window began, milliseconds since 1970-01-01 UTC: when the one before it ended.
    WINDOW_STARTED_MS: u64 = "window_started_ms", COUNT, Min;
    /// When the window ended.
    WINDOW_ENDED_MS: u64 = "window_ended_ms", COUNT, Max;
    /// `true`: the last window of its recording.
    WINDOW_LAST: String = "window_last", TEXT, List;
    /// `1/100` if this host was drawn: one of a hundred.
    FLEET: String = "fleet", TEXT, List;

    // Counters and samples of paths.
    /// Path ends, samples or chunks of events that were lost.
    LOST: u64 = "lost", COUNT, Sum;
    /// The value of the option about paths that an exception cuts off.
    CUT_PATHS: String = "cut_paths", TEXT, List;
    /// The value of the option about paths that are open at the end.
    OPEN_PATHS: String = "open_paths", TEXT, List;
    /// Frames at the end whose path was read.
    OPEN_FRAMES: u64 = "open_frames", COUNT, Sum;
    /// Frames at the end whose path could not be read.
    OPEN_FRAMES_UNREAD: u64 = "open_frames_unread", COUNT, Sum;
    /// Ticks of the sampling clock.
    TICKS: u64 = "ticks", COUNT, Sum;
    /// Ticks that came more than half an interval late.
    OVERRUNS: u64 = "overruns", COUNT, Sum;
    /// Samples taken.
    SAMPLES: u64 = "samples", COUNT, Sum;
    /// Samples of methods that are not known.
    UNKNOWN_SAMPLES: u64 = "unknown_samples", COUNT, Sum;
    /// CPU time that samples of CPU time took themselves: reading stacks, and adding them up.
    SAMPLING_MS: Duration = "sampling_ms", TENTH_MS, Sum;
    /// Clock by which a thread's CPU time between samples is measured: `task-clock` (the kernel's own, exact to
    /// microseconds), `timer` (at the system's ticks), or `safepoint` (a thread of the agent's).
    CPU_CLOCK: String = "cpu_clock", TEXT, List;
    /// CPU time of the threads that are sampled, by their own clocks: time without samples, too.
    SAMPLED_THREADS_MS: Duration = "sampled_threads_ms", TENTH_MS, Sum;
    /// CPU time that samples found inside of calls of probes. It is in no method.
    PROBES_MS: Duration = "probes_ms", TENTH_MS, Sum;
    /// Windows that were not full when the next tick came; of fixed duration: that saw no path end.
    SHORT_WINDOWS: u64 = "short_windows", COUNT, Sum;
    /// Path ends seen in windows.
    WINDOW_PATH_ENDS: u64 = "window_path_ends", COUNT, Sum;
    /// How long windows of fixed duration were open.
    WINDOW_NS: Duration = "window_ns", NS, Sum;
    /// Windows of fixed duration that were dropped, because it is not known how long they were open.
    BLOCKED_WINDOWS: u64 = "blocked_windows", COUNT, Sum;
    /// Frames of instrumented methods that the `safepoint` probe looked at.
    FRAMES: u64 = "frames", COUNT, Sum;
    /// Frames whose path register could not be read.
    INVALID_SLOTS: u64 = "invalid_slots", COUNT, Sum;
    /// Frames at a place that belongs to no block, or whose register is no path.
    IMPLAUSIBLE: u64 = "implausible", COUNT, Sum;
    /// Classes that were numbered again, by a profile of the run itself.
    CLASSES_RENUMBERED: u64 = "classes_renumbered", COUNT, Sum;
    /// How long that took.
    RENUMBERING_MS: Duration = "renumbering_ms", MS, Sum;

    // Taking probes out and putting them back.
    /// Calls of RetransformClasses.
    RETRANSFORMATIONS: u64 = "retransformations", COUNT, Sum;
    /// Classes whose probes were taken out.
    CLASSES_RETIRED: u64 = "classes_retired", COUNT, Sum;
    /// Classes whose probes were put back.
    CLASSES_REARMED: u64 = "classes_rearmed", COUNT, Sum;
    /// Classes that the JVM did not change.
    CLASSES_NOT_RETRANSFORMED: u64 = "classes_not_retransformed", COUNT, Sum;
    /// Changes that waited, because the time allowed was used up.
    CHANGES_PUT_OFF: u64 = "changes_put_off", COUNT, Sum;
    /// Methods without probes at the end.
    METHODS_SILENT: u64 = "methods_silent", COUNT, Max;
    /// Methods that were without probes at some time.
    METHODS_ESTIMATED: u64 = "methods_estimated", COUNT, Max;
    /// Pauses for RetransformClasses.
    RETRANSFORMING_MS: Duration = "retransforming_ms", TENTH_MS, Sum;
    /// The longest such pause.
    LONGEST_RETRANSFORMATION_MS: Duration = "longest_retransformation_ms", TENTH_MS, Max;
    /// Time that counting took, as estimated.
    COUNTING_MS_ESTIMATED: Duration = "counting_ms_estimated", TENTH_MS, Sum;
    /// Time that the compiler took to compile again, as estimated.
    RECOMPILING_MS_ESTIMATED: Duration = "recompiling_ms_estimated", TENTH_MS, Sum;
    /// Time that the program ran uncompiled code for it, as assumed.
    SLOWED_MS_ASSUMED: Duration = "slowed_ms_assumed", TENTH_MS, Sum;

    // Structure graphs.
    /// Structure graphs of all classes.
    STRUCTURE_GRAPHS: u64 = "structure_graphs", COUNT, Max;
    /// Those that ran.
    STRUCTURE_GRAPHS_RUN: u64 = "structure_graphs_run", COUNT, Max;
    /// Windows of structure graphs that were filled.
    WINDOWS_FILLED: u64 = "windows_filled", COUNT, Sum;
    /// Spans of time after which windows were looked at.
    SPANS: u64 = "spans", COUNT, Sum;
    /// Path ends of structure graphs in the whole run, as estimated.
    STRUCTURAL_PATHS_ESTIMATED: u64 = "structural_paths_estimated", COUNT, Sum;
    /// As many of these as ended where methods had no probes.
    WITHOUT_PROBES_ESTIMATED: u64 = "without_probes_estimated", COUNT, Sum;
    /// Runs in which it is not known how much faster the program ran without probes.
    PACE_NOT_KNOWN: u64 = "pace_not_known", COUNT, Sum;
    /// Structural paths that belong to no path of the method, as estimated.
    UNMAPPED_PATHS_ESTIMATED: u64 = "unmapped_paths_estimated", COUNT, Sum;

    // The event stream.
    /// Words that analyses took.
    EVENTS: u64 = "events", COUNT, Sum;
    /// Threads with a stream.
    THREADS: u64 = "threads", COUNT, Sum;
    /// Path ends of methods that are not known.
    UNKNOWN: u64 = "unknown", COUNT, Sum;
    /// Activations whose beginning was not seen.
    ORPHANS: u64 = "orphans", COUNT, Sum;
    /// Activations whose end was not seen.
    LOST_EXITS: u64 = "lost_exits", COUNT, Sum;
    /// Places in the stream where words were lost.
    GAPS: u64 = "gaps", COUNT, Sum;
    /// Words that make no sense.
    BAD_WORDS: u64 = "bad_words", COUNT, Sum;
    /// Activations.
    ACTIVATIONS: u64 = "activations", COUNT, Sum;
    /// Activations in bursts.
    ACTIVATIONS_SAMPLED: u64 = "activations_sampled", COUNT, Sum;
    /// Bursts in the running program.
    BURSTS: u64 = "bursts", COUNT, Sum;
    /// How long they lasted.
    BURST_NS: Duration = "burst_ns", NS, Sum;
    /// Threads whose stack was too deep to begin a burst.
    BURSTS_TOO_DEEP: u64 = "bursts_too_deep", COUNT, Sum;
    /// How long switching the JVM's events on and off took.
    BURST_SWITCH_NS: Duration = "burst_switch_ns", NS, Sum;
    /// Stacks that were walked to find activations from before.
    STACKS_WALKED: u64 = "stacks_walked", COUNT, Sum;
    /// Threads whose stacks are walked no more.
    STACKS_GIVEN_UP: u64 = "stacks_given_up", COUNT, Sum;
    /// Samples of allocations.
    ALLOC_SAMPLES: u64 = "alloc_samples", COUNT, Sum;

    // Kinds of profile made from it.
    /// Path ends of methods that are not known, in path forests.
    KPATHS_UNKNOWN: u64 = "kpaths_unknown", COUNT, Sum;
    /// Path ends in no counter of a path forest.
    KPATHS_DROPPED: u64 = "kpaths_dropped", COUNT, Sum;
    /// Calls of methods that are not known, in contexts.
    CONTEXTS_UNKNOWN: u64 = "contexts_unknown", COUNT, Sum;
    /// Calls in no counter of a context.
    CONTEXTS_DROPPED: u64 = "contexts_dropped", COUNT, Sum;
    /// As [`ORPHANS`], for contexts.
    CONTEXTS_ORPHANS: u64 = "contexts_orphans", COUNT, Sum;
    /// As [`LOST_EXITS`], for contexts.
    CONTEXTS_LOST_EXITS: u64 = "contexts_lost_exits", COUNT, Sum;
    /// As [`GAPS`], for contexts.
    CONTEXTS_GAPS: u64 = "contexts_gaps", COUNT, Sum;
    /// As [`BAD_WORDS`], for contexts.
    CONTEXTS_BAD_WORDS: u64 = "contexts_bad_words", COUNT, Sum;
    /// Calls and returns of the stream, with bursts in the analysis.
    CONTEXTS_EVENTS: u64 = "contexts_events", COUNT, Sum;
    /// Calls and returns that bursts took in.
    CONTEXTS_EVENTS_IN_BURSTS: u64 = "contexts_events_in_bursts", COUNT, Sum;
    /// Bursts of contexts.
    CONTEXTS_BURSTS: u64 = "contexts_bursts", COUNT, Sum;
    /// Bursts of contexts that were left out.
    CONTEXTS_BURSTS_SKIPPED: u64 = "contexts_bursts_skipped", COUNT, Sum;
    /// Frames of the stacks with which bursts began.
    CONTEXTS_FRAMES_WALKED: u64 = "contexts_frames_walked", COUNT, Sum;
    /// `exact`: all subpaths were counted.
    SUBPATHS_COUNTED: String = "subpaths_counted", TEXT, List;
    /// Lengths that were counted, if the longest were given up.
    SUBPATHS_LENGTHS_COUNTED: String = "subpaths_lengths_counted", TEXT, List;
    /// Who left out path ends that no sample needed: `probes` or `consumer`.
    SUBPATHS_SKIPPING: String = "subpaths_skipping", TEXT, List;
    /// Subpaths that were executed once.
    SUBPATHS_EXECUTED_ONCE: u64 = "subpaths_executed_once", COUNT, Sum;
    /// Path ends of methods that are not known, in subpaths.
    SUBPATHS_UNKNOWN: u64 = "subpaths_unknown", COUNT, Sum;
    /// Subpaths that a threshold left out.
    SUBPATHS_LEFT_OUT: u64 = "subpaths_left_out", COUNT, Sum;
    /// How often these were in the sample.
    SUBPATHS_LEFT_OUT_SAMPLES: u64 = "subpaths_left_out_samples", COUNT, Sum;
}
