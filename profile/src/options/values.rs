//! Types of the options' values: durations, probes, log levels, actions.

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;
use std::time::Duration;

use super::value_error::ValueError;

/// Declares the words of an option that knows only a few, with `ALL`, `name`, `Display` and `FromStr`.
macro_rules! words {
    ($(#[$doc:meta])* $type:ident, $what:literal { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$vdoc])* $variant,)+ }

        impl $type {
            /// All of them, in order.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// The word in option syntax.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $word,)+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $type {
            type Err = ValueError;

            fn from_str(given: &str) -> Result<Self, ValueError> {
                let found = Self::ALL.iter().copied().find(|one| one.name() == given);
                found.ok_or_else(|| ValueError::Unknown($what, given.to_owned(), &[$($word),+]))
            }
        }
    };
}

words! {
    /// Request to the agent: the leading word of the agent string.
    Action, "action" {
        /// Instrument and record. The default.
        Start = "start",
        /// Stop recording and write the profile.
        Stop = "stop",
        /// Write the profile and continue.
        Dump = "dump",
        /// Forget the counts and continue.
        Reset = "reset",
        /// Report what is going on.
        Status = "status",
        /// Write the profile and show it.
        Report = "report",
    }
}

words! {
    /// How path ends are observed, or `auto`.
    Probe, "probe" {
        /// The default, by measurements, see [`Probe::resolved`].
        Auto = "auto",
        /// A flag is tested at path ends; path ends are sampled on a schedule.
        Yieldpoint = "yieldpoint",
        /// Every path end is counted.
        Counters = "counters",
        /// The path register is read from frames at safepoints.
        Safepoint = "safepoint",
        /// Path ends, calls and returns are written to a buffer of the thread, which analyses consume.
        Events = "events",
        /// Nothing of the program is changed; CPU time is sampled.
        None = "none",
    }
}

impl Probe {
    /// The probe that `auto` selects where plain paths are profiled by probes that stay; any other is
    /// used. See [`ProfileOptions::probe_in_use`](super::ProfileOptions::probe_in_use).
    pub const fn resolved(self) -> Probe {
        match self {
            Probe::Auto => Probe::Yieldpoint,
            probe => probe,
        }
    }
}

words! {
    /// How stacks of threads are read when CPU time is sampled.
    SampledBy, "way to read stacks" {
        /// As `async`; where the JVM or the system refuses, as `safepoint`.
        Auto = "auto",
        /// In a signal handler, wherever the thread is.
        Async = "async",
        /// As `async`, at ticks of the system's timers, even where there is a finer clock.
        Timer = "timer",
        /// By a thread of the agent's, which asks the JVM: that stops each thread at its next safepoint.
        Safepoint = "safepoint",
    }
}

words! {
    /// Severity of messages, most severe first.
    #[derive(Default)]
    LogLevel, "log level" {
        /// Something did not work.
        Error = "error",
        /// Something worked less well than wished.
        #[default]
        Warn = "warn",
        /// A few lines per run.
        Info = "info",
        /// Everything.
        Debug = "debug",
    }
}

words! {
    /// Do methods with a single path carry a probe?
    SinglePathMethods, "choice" {
        /// No: there is nothing to distinguish.
        Skip = "skip",
        /// Yes, so that line coverage knows whether they ran.
        Probe = "probe",
    }
}

words! {
    /// Are paths counted that an exception cuts off?
    CutPaths, "choice" {
        /// No.
        Skip = "skip",
        /// Yes, up to the block in which the exception came.
        Count = "count",
    }
}

words! {
    /// What about paths of activations that are open when a profile is written?
    OpenPaths, "choice" {
        /// Nothing.
        Skip = "skip",
        /// They are read from the frames of all threads, up to the block that runs.
        Read = "read",
    }
}

words! {
    /// How much of the program's arguments a profile has.
    #[derive(Default)]
    Arguments, "choice" {
        /// Names of options, [without their values](crate::without_values). The default.
        #[default]
        Names = "names",
        /// All of them.
        All = "all",
    }
}

words! {
    /// Equality of subpaths.
    SubpathIdentity, "identity" {
        /// The same blocks in the same order, wherever in a circle they begin. The default.
        Rotation = "rotation",
        /// The same blocks an odd number of times, in any order, and the same length: the paper's prototype.
        Xor = "xor",
    }
}

words! {
    /// Are subpaths sampled, or all counted?
    SubpathCounts, "choice" {
        /// A sample of bounded size. The default.
        Sampled = "sampled",
        /// All are counted, so that estimates can be compared with them.
        Exact = "exact",
    }
}

words! {
    /// Kind of profile.
    ProfileKind, "profile" {
        /// Ball-Larus paths and the edges on them.
        Paths = "paths",
        /// Which paths follow which, across loop iterations.
        KPaths = "kpaths",
        /// Which chains of calls are hot.
        Contexts = "contexts",
        /// Hot sequences of blocks, across loops and calls.
        Subpaths = "subpaths",
        /// Each loop on its own, in windows.
        Structural = "structural",
        /// Which blocks and which ways of decisions ran.
        Coverage = "coverage",
        /// Nothing: shows what the event stream alone costs.
        Null = "null",
    }
}

words! {
    /// Extent of profile `coverage`.
    CoverageOf, "coverage" {
        /// Which lines ran. The probes that tell tell branches, too.
        Lines = "lines",
        /// Which lines ran, and which ways of decisions.
        Branches = "branches",
        /// Which paths ran: they are counted.
        Paths = "paths",
    }
}

words! {
    /// Algorithm that decides which calling contexts are kept.
    ContextAlgorithm, "algorithm" {
        /// Space Saving with a lazy queue. The default.
        LazySpaceSaving = "lss",
        /// Space Saving with buckets.
        BucketSpaceSaving = "bss",
        /// Lossy Counting.
        LossyCounting = "lc",
        /// Sticky Sampling, which fails with a probability of one in a million.
        StickySampling = "sticky",
        /// All are kept.
        Exact = "exact",
        /// None is kept: shows what following the calls costs.
        Null = "null",
    }
}

words! {
    /// Quantity that is counted per context.
    #[derive(Default)]
    ContextWeight, "weight" {
        /// Calls. The default.
        #[default]
        Calls = "calls",
        /// Nanoseconds that pass while it is the innermost one.
        Time = "time",
        /// Bytes that are allocated while it is.
        Alloc = "alloc",
    }
}

impl ContextWeight {
    /// Its unit: `calls`, `ns`, `bytes`.
    pub const fn unit(self) -> &'static str {
        match self {
            ContextWeight::Calls => "calls",
            ContextWeight::Time => "ns",
            ContextWeight::Alloc => "bytes",
        }
    }
}

/// A share, above 0 and up to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Share(f64);

/// It is never NaN.
impl Eq for Share {}

impl Share {
    /// `None` if it is not above 0 and up to 1.
    pub fn new(share: f64) -> Option<Share> {
        (share > 0.0 && share <= 1.0).then_some(Share(share))
    }

    /// The share.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Such that it is read back to the same.
        if self.0 < 0.001 {
            write!(f, "{:e}", self.0)
        } else {
            write!(f, "{}", self.0)
        }
    }
}

impl FromStr for Share {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<Self, ValueError> {
        let share = given.parse().ok().and_then(Share::new);
        share.ok_or_else(|| ValueError::refused(given, "is not a share above 0 and up to 1, such as 1e-4"))
    }
}

/// Which windows of the event stream are analysed: `off` for all of it, `static:INTERVAL:LENGTH`,
/// `jvm:INTERVAL:LENGTH`, or `adaptive:INTERVAL:LENGTH:RR`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Burst {
    /// Everything.
    #[default]
    Off,
    /// After every `interval` activations of a thread, `length` of them, whole. For contexts: calls and
    /// returns.
    Static {
        /// From the beginning of a window to that of the next, in activations of the thread.
        interval: NonZeroU64,
        /// Activations in a window; not more than `interval`.
        length: NonZeroU32,
    },
    /// For contexts: the same, but windows that begin in a context in which one began before are left out.
    Adaptive {
        /// From the beginning of a window to that of the next, in calls and returns of the thread.
        interval: NonZeroU64,
        /// Calls and returns in a window; not more than `interval`.
        length: NonZeroU32,
        /// One in this number of windows that would be left out takes place.
        reenable: Option<NonZeroU32>,
    },
    /// Of a running program: the same by the clock, and between windows nothing is reported.
    Timed {
        /// From the beginning of a window to that of the next, on average: it begins at a random time of each
        /// interval.
        interval: Duration,
        /// How long a window is; less than `interval`.
        length: Duration,
        /// The source of calls, returns and paths.
        events: BurstEvents,
    },
}

/// The source of calls, returns and paths in bursts by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BurstEvents {
    /// Probes in the code, which are off between bursts: calls and returns. In option syntax `static`.
    Probes,
    /// The JVM, by its own events, which are on in bursts only: nothing is in the code. In option syntax
    /// `jvm`.
    Jvm,
}

impl fmt::Display for Burst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Burst::Off => f.write_str("off"),
            Burst::Static { interval, length } => write!(f, "static:{interval}:{length}"),
            Burst::Adaptive {
                interval,
                length,
                reenable,
            } => {
                write!(f, "adaptive:{interval}:{length}:")?;
                match reenable {
                    None => f.write_str("none"),
                    Some(n) => write!(f, "{}", 100 / n.get()),
                }
            }
            Burst::Timed {
                interval,
                length,
                events,
            } => {
                let kind = match events {
                    BurstEvents::Probes => "static",
                    BurstEvents::Jvm => "jvm",
                };
                let [interval, length] = [interval, length].map(|time| format_duration(*time));
                write!(f, "{kind}:{interval}:{length}")
            }
        }
    }
}

impl FromStr for Burst {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<Self, ValueError> {
        if given == "off" {
            return Ok(Burst::Off);
        }
        let shape = || {
            let kinds = "is none of off, static:INTERVAL:LENGTH (in activations, or times), jvm:INTERVAL:LENGTH (times) \
                         and adaptive:INTERVAL:LENGTH:RR";
            ValueError::refused(given, kinds)
        };
        let (kind, numbers) = given.split_once(':').ok_or_else(shape)?;
        let (numbers, rate) = match kind {
            "static" | "jvm" => (numbers, None),
            "adaptive" => {
                let (numbers, rate) = numbers.rsplit_once(':').ok_or_else(shape)?;
                (numbers, Some(parse_rate(rate)?))
            }
            _ => return Err(shape()),
        };
        let (interval, length) = numbers.split_once(':').ok_or_else(shape)?;
        let times = (parse_duration(interval).ok()).zip(parse_duration(length).ok());
        if let (Some((interval, length)), None) = (times, rate) {
            if length >= interval {
                let [length, interval] = [length, interval].map(format_duration);
                return Err(ValueError::NoPause(length, interval));
            }
            let events = if kind == "jvm" {
                BurstEvents::Jvm
            } else {
                BurstEvents::Probes
            };
            return Ok(Burst::Timed {
                interval,
                length,
                events,
            });
        }
        let numbers: Option<(NonZeroU64, NonZeroU32)> = interval.parse().ok().zip(length.parse().ok());
        let (interval, length) = numbers.filter(|_| kind != "jvm").ok_or_else(shape)?;
        if u64::from(length.get()) > interval.get() {
            return Err(ValueError::LongWindow(length.get(), interval.get()));
        }
        Ok(match rate {
            None => Burst::Static { interval, length },
            Some(reenable) => Burst::Adaptive {
                interval,
                length,
                reenable,
            },
        })
    }
}

/// Reads the rate at which windows are re-enabled: `none`, or a percentage that is one in a whole number.
fn parse_rate(given: &str) -> Result<Option<NonZeroU32>, ValueError> {
    if given == "none" {
        return Ok(None);
    }
    let percent: Option<u32> = given.strip_suffix('%').unwrap_or(given).parse().ok();
    let divides = percent.filter(|&p| p > 0 && 100u32.is_multiple_of(p));
    let one_in = divides.and_then(|percent| NonZeroU32::new(100 / percent));
    let expected = "is neither 'none' nor a percentage that divides 100, such as 5, 10 or 20";
    one_in
        .map(Some)
        .ok_or_else(|| ValueError::refused(given, expected))
}

const UNITS: [(&str, u64); 8] = [
    ("w", 604_800_000_000_000),
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Reads a duration: a whole number and a unit, `ns`, `us`, `ms`, `s`, `m`, `h`, `d` or `w`. Zero is refused.
///
/// # Errors
/// If it is no duration.
pub fn parse_duration(given: &str) -> Result<Duration, ValueError> {
    let wrong = |why| Err(ValueError::Duration(given.to_owned(), why));
    let digits = given.len() - given.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = given.split_at(digits);
    if number.is_empty() {
        return Err(ValueError::refused(given, "is not a duration such as 20ms"));
    }
    if unit.is_empty() {
        return wrong("lacks a unit (ns, us, ms, s, m, h, d or w)");
    }
    let Some(&(_, nanos)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(ValueError::Unit(unit.to_owned(), given.to_owned()));
    };
    match number.parse::<u64>().ok().and_then(|n| n.checked_mul(nanos)) {
        None => wrong("is too long"),
        Some(0) => wrong("must be longer than zero"),
        Some(nanos) => Ok(Duration::from_nanos(nanos)),
    }
}

/// Writes a duration so that [`parse_duration`] reads the same back, in the largest unit that divides it.
pub fn format_duration(duration: Duration) -> String {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let unit = UNITS.iter().find(|(_, unit)| nanos.is_multiple_of(*unit));
    let (name, unit) = unit.copied().unwrap_or(("ns", 1));
    format!("{}{name}", nanos / unit)
}

/// Reads `true` or `false` (or nothing, for a bare word: true).
pub(super) fn parse_bool(given: &str) -> Result<bool, ValueError> {
    match given {
        "" | "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(ValueError::refused(given, "is neither 'true' nor 'false'")),
    }
}

/// How long subpaths are, and how likely each length is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubpathLengths {
    /// Only powers of two?
    pub powers: bool,
    /// All alike? Else the shorter the likelier: in proportion to 1 / length.
    pub uniform: bool,
    /// The longest, in blocks: 2 to [`MAX_SUBPATH`](super::MAX_SUBPATH).
    pub limit: u32,
}

impl Default for SubpathLengths {
    fn default() -> Self {
        SubpathLengths {
            powers: true,
            uniform: false,
            limit: 1024,
        }
    }
}

impl fmt::Display for SubpathLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.powers { "pow2" } else { "any" };
        let uniform = if self.uniform { "-uniform" } else { "" };
        write!(f, "{kind}{uniform}:{}", self.limit)
    }
}

impl FromStr for SubpathLengths {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<Self, ValueError> {
        let parse = || {
            let (kind, limit) = given.split_once(':')?;
            let (kind, uniform) = match kind.strip_suffix("-uniform") {
                Some(kind) => (kind, true),
                None => (kind, false),
            };
            let limit: u32 = limit
                .parse()
                .ok()
                .filter(|limit| (2..=super::MAX_SUBPATH).contains(limit))?;
            let powers = match kind {
                "pow2" if limit.is_power_of_two() => true,
                "any" => false,
                _ => return None,
            };
            Some(SubpathLengths {
                powers,
                uniform,
                limit,
            })
        };
        let expected = "is none of pow2:N, pow2-uniform:N, any:N and any-uniform:N with N from 2 to 65536, a power of two for pow2";
        parse().ok_or_else(|| ValueError::refused(given, expected))
    }
}

/// A number of things: `k`, `M` and `G` are thousands, millions and thousands of millions.
pub(super) fn parse_amount(given: &str) -> Option<u64> {
    scaled(given, 1000)
}

/// A number of bytes: `k`, `M` and `G` are powers of 1024.
pub(super) fn parse_bytes(given: &str) -> Option<u64> {
    scaled(given, 1024)
}

fn scaled(given: &str, step: u64) -> Option<u64> {
    let power = given.chars().last().and_then(|unit| "kMG".find(unit));
    let digits = power.map_or(given, |_| &given[..given.len() - 1]);
    let unit = power.map_or(1, |power| step.pow(power as u32 + 1));
    // "+5" is a number to Rust, and none to us.
    let number = digits.parse::<u64>().ok().filter(|_| !digits.starts_with('+'))?;
    number.checked_mul(unit)
}

/// The same number of bytes as [`parse_bytes`] reads it.
pub(super) fn format_bytes(bytes: u64) -> String {
    let units = [("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)];
    let unit = units.into_iter().find(|(_, unit)| bytes.is_multiple_of(*unit));
    let (name, unit) = unit.filter(|_| bytes > 0).unwrap_or(("", 1));
    format!("{}{name}", bytes / unit)
}
