//! The one table of option names, which the parser, the command line's help and the documentation share.

/// What is to be known about one option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionName {
    /// The word: `--name VALUE` on the command line, `name=value` elsewhere.
    pub name: &'static str,
    /// What values look like.
    pub value: &'static str,
    /// The default in words or in option syntax.
    pub default: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// May it be given several times, or with `+` between values?
    pub list: bool,
    /// Does it say what becomes of an event stream, so that a replay takes it? All others are about the program that runs.
    pub replay: bool,
}

const fn option(
    name: &'static str,
    value: &'static str,
    default: &'static str,
    help: &'static str,
) -> OptionName {
    OptionName {
        name,
        value,
        default,
        help,
        list: false,
        replay: false,
    }
}

const fn list(
    name: &'static str,
    value: &'static str,
    default: &'static str,
    help: &'static str,
) -> OptionName {
    OptionName {
        list: true,
        ..option(name, value, default, help)
    }
}

/// One that a replay takes, too.
const fn analysis(option: OptionName) -> OptionName {
    OptionName {
        replay: true,
        ..option
    }
}

/// All options of this version, in the order in which they are shown.
pub const OPTIONS: &[OptionName] = &[
    analysis(list(
        "profile",
        "paths|kpaths|contexts|subpaths|structural|null",
        "paths",
        "What is profiled (structural: each loop on its own; null: nothing, to see what the event stream costs)",
    )),
    option(
        "probe",
        "yieldpoint|counters|safepoint|events|auto",
        "auto",
        "How path ends are observed: sampled, all counted, read from frames at safepoints, or as a stream with calls and returns",
    ),
    option(
        "schedule",
        "timer|ag:SAMPLES:STRIDE|sag:SAMPLES:STRIDE|span:DURATION:SAMPLES",
        "span:1ms:256",
        "Which path ends after a clock tick are sampled",
    ),
    option(
        "samples",
        "N",
        "the schedule's",
        "Samples per clock tick; changes the schedule, without one sag:64:17",
    ),
    option(
        "stride",
        "N",
        "the schedule's",
        "Stride in path ends; changes the schedule, without one sag:64:17",
    ),
    option("interval", "DURATION", "20ms", "Time between clock ticks"),
    analysis(option(
        "k",
        "N",
        "10",
        "kpaths: longest sequence of paths that is counted",
    )),
    analysis(option(
        "budget",
        "N|PERCENT",
        "none, 1%",
        "kpaths: most nodes a forest may have (1000, 200k, 2M); cold ones are pruned, the error is told. probe=auto, structural: share of the run that profiling may take",
    )),
    option(
        "rearm",
        "DURATION",
        "grows from 20s, within the budget",
        "probe=auto, structural: when classes whose probes were taken out get them again",
    ),
    option(
        "window",
        "PATHS|all",
        "100",
        "structural: paths after which a loop is switched off until its next window (all: every path is counted)",
    ),
    option(
        "retire",
        "true|false",
        "true",
        "structural: are probes taken out of methods whose windows have been filled?",
    ),
    analysis(option(
        "phi",
        "SHARE",
        "1e-4",
        "contexts: a context is hot from this share of all calls on",
    )),
    analysis(option(
        "epsilon",
        "SHARE|phi/5",
        "phi/5",
        "contexts: how much a counter may be wrong, as a share of all calls",
    )),
    analysis(option(
        "algorithm",
        "lss|bss|lc|sticky|exact|null",
        "lss",
        "contexts: what decides which are kept (exact: all; null: none, to see what following the calls costs)",
    )),
    option(
        "call-paths",
        "off|on",
        "off",
        "contexts: are calls from one place told apart by the path that the caller took to get there?",
    ),
    option(
        "weight",
        "calls|time|alloc",
        "calls",
        "contexts: what is counted: calls, nanoseconds, or bytes allocated",
    ),
    option(
        "alloc-interval",
        "BYTES",
        "64k",
        "contexts with weight=alloc: mean number of bytes from one allocation that is charged to the next (0: every one is)",
    ),
    analysis(option(
        "burst",
        "off|static:INTERVAL:LENGTH|adaptive:INTERVAL:LENGTH:RR",
        "off",
        "kpaths: only LENGTH of every INTERVAL activations; contexts: of every INTERVAL calls and returns, or with times (2ms:200us) probes are off but for LENGTH of every INTERVAL",
    )),
    option(
        "burst-events",
        "probes|jvm",
        "probes",
        "contexts in bursts by the clock: who tells calls and returns, probes in the code or the JVM itself (from start-up only; nothing is in the code between bursts)",
    ),
    analysis(option(
        "footprint",
        "BYTES",
        "64k",
        "subpaths: most bytes of a thread's sample (16k, 1M)",
    )),
    analysis(option(
        "lengths",
        "pow2:N|pow2-uniform:N|any:N|any-uniform:N",
        "pow2:1024",
        "subpaths: powers of two or any lengths from 2 to N blocks, the shorter the likelier, or all alike (uniform)",
    )),
    analysis(option(
        "starts",
        "anywhere|prefer:WEIGHT|headers",
        "anywhere",
        "subpaths: where they begin; at a loop's header so many times as likely, or there alone",
    )),
    analysis(option(
        "identity",
        "rotation|xor",
        "rotation",
        "subpaths: which are the same one; the same blocks in the same order up to rotation, or by xor of blocks and length",
    )),
    analysis(option(
        "half-life",
        "BLOCKS|none",
        "none",
        "subpaths: after so many blocks of a thread, what was counted before counts half (200k, 50M)",
    )),
    analysis(option(
        "distance",
        "auto|START:FLOOR|expect:BLOCKS:GAIN",
        "auto",
        "subpaths: mean distance between samples in blocks, at first and later, or as it fits a run of so many blocks",
    )),
    analysis(option(
        "threshold",
        "none|top:N|samples:N|share:SHARE",
        "none",
        "subpaths: only the first N, those N times in the sample, or those with a share of all go into the profile",
    )),
    analysis(option(
        "counts",
        "sampled|exact",
        "sampled",
        "subpaths: a sample of bounded size, or all of them, as a yardstick (slow, much memory)",
    )),
    option(
        "skipping",
        "probes|consumer",
        "probes",
        "subpaths: who passes over path ends that no sample needs; another profile beside it, or consumer=agent, wants all",
    ),
    option(
        "consumer",
        "program|agent",
        "program",
        "events: who runs the analyses, the program's threads or one of the agent's",
    ),
    list(
        "include",
        "PATTERN",
        "all but the JDK",
        "Classes to profile (wildcards * and ?), or Class#method",
    ),
    list(
        "exclude",
        "PATTERN",
        "none",
        "Classes, or Class#method, to leave alone; wins over include",
    ),
    option(
        "file",
        "PATTERN",
        "trodden-%p.trodden",
        "Where the profile goes: %p pid, %t UTC time, %{ENV} variable, %% percent sign; .trace records the stream",
    ),
    option(
        "dump",
        "DURATION",
        "only at the end",
        "Write the profile periodically as well",
    ),
    option(
        "path_limit",
        "N",
        "2147483647",
        "Most paths a method may have before paths are cut in two",
    ),
    option(
        "single-path-loops",
        "skip|probe",
        "skip with yieldpoint, else probe",
        "Do iterations of branchless innermost loops carry a probe?",
    ),
    option(
        "single-path-methods",
        "skip|probe",
        "skip",
        "Do methods with a single path carry a probe? (Line coverage wants to know whether they ran.)",
    ),
    option(
        "use-profile",
        "FILE",
        "none",
        "A profile of a former run: its hottest edges carry no register update (profile-guided probes)",
    ),
    option(
        "renumber",
        "DURATION",
        "never",
        "counters, yieldpoint: once, after that time, hot classes get the probes that use-profile would give them, by the run's own counts",
    ),
    analysis(option(
        "seed",
        "N",
        "0",
        "Where the schedule's rotation of strides begins, or the random times of its windows; subpaths: which samples are drawn",
    )),
    option(
        "loglevel",
        "error|warn|info|debug",
        "warn",
        "Least severity of messages that are shown",
    ),
    option("log", "FILE", "standard error", "Where messages go"),
    analysis(option(
        "quiet",
        "true|false",
        "false",
        "Show no message but errors, and no report after a run",
    )),
    option(
        "out",
        "FILE",
        "the log",
        "Where the agent writes its answer to an attach command",
    ),
    analysis(option(
        "config",
        "FILE",
        "none",
        "A properties file with options; what is given directly wins over it",
    )),
];

/// The entry of a name.
pub fn option_named(name: &str) -> Option<&'static OptionName> {
    OPTIONS.iter().find(|option| option.name == name)
}

/// The word of `known` that is most like `given`, if any is near enough to be a likely slip.
pub(super) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_ascii_lowercase();
    known
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(&given, word), word))
        .filter(|&(distance, word)| distance <= 1 + word.len() / 4)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, word)| word)
}
