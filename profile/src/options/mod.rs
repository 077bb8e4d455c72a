//! Profile options: the same words on the command line, in the agent string and in a properties file.
//!
//! *In*: text. *Out*: an [`AgentCommand`] or [`ProfileOptions`]. No JVM is needed to parse.
//!
//! - **Agent string**: `start,probe=yieldpoint,interval=20ms,include=a.*+b.*`. An [`Action`] may come first.
//!   A comma ends a value; `\,` stands for a comma inside one.
//! - **Properties file**: a `name=value` (or `name: value`) per line; `#` or `!` begins a comment line. A comma
//!   is a plain character there, and on the command line.
//! - In all three, values of a list are joined by `+` (`\+` stands for a plus sign inside one), or the name is
//!   repeated. `\\` is a backslash; before any other character a backslash is itself.

mod error;
mod file_pattern;
mod names;
mod subpaths;
mod syntax;
mod together;
mod values;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

pub use error::OptionError;
pub use file_pattern::{FileFormat, FilePattern, UnsetVariable};
pub use names::{OPTIONS, OptionName, option_named};
pub use subpaths::{MOST_PREFERENCE, SubpathChoices, SubpathDistance, SubpathStarts, SubpathThreshold};
pub use values::{
    Action, Burst, BurstEvents, CallPaths, ConsumedBy, ContextAlgorithm, ContextWeight, LogLevel, Probe,
    ProfileKind, Revisits, Share, SinglePathLoops, SinglePathMethods, Skipping, SubpathCounts,
    SubpathIdentity, SubpathLengths, format_duration, parse_duration,
};

use crate::Schedule;
use crate::kpaths::MAX_K;
use names::nearest;
use syntax::{escape, join_list, properties, split_list, split_unescaped, unescape};

/// Bytes that a sample of subpaths may have.
const FOOTPRINTS: std::ops::RangeInclusive<u32> = 1 << 10..=1 << 30;

/// What the agent string asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCommand {
    /// What to do.
    pub action: Action,
    /// With which options.
    pub options: ProfileOptions,
}

/// All options. [`Default`] gives the documented defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileOptions {
    /// What is profiled.
    pub profile: Vec<ProfileKind>,
    /// How path ends are observed; see [`Probe::resolved`].
    pub probe: Probe,
    /// Which path ends after a tick are sampled.
    pub schedule: Schedule,
    /// Time between ticks.
    pub interval: Duration,
    /// Profile `kpaths`: longest sequence, in paths.
    pub k: u32,
    /// Profile `kpaths`: most nodes below the roots of a forest, if they are limited.
    pub budget: Option<u32>,
    /// Probe `auto`, profile `structural`: share of the run that profiling may take, in hundredths of a per cent.
    pub share: Option<u32>,
    /// Probe `auto`, profile `structural`: time until classes whose probes were taken out get them again, if it is fixed.
    pub rearm: Option<Duration>,
    /// Profile `structural`: paths of a window, at most a million; `None`: every path is counted.
    pub window: Option<NonZeroU32>,
    /// Profile `structural`: are probes taken out of methods whose windows have been filled?
    pub retire: bool,
    /// Profile `contexts`: from which share of all calls on a context is hot.
    pub phi: Share,
    /// Profile `contexts`: how much a counter may be wrong, as a share of all calls; `None`: a fifth of `phi`.
    pub epsilon: Option<Share>,
    /// Profile `contexts`: what decides which are kept.
    pub algorithm: ContextAlgorithm,
    /// Profile `contexts`: are they told apart by the path that led to each call?
    pub call_paths: CallPaths,
    /// Profile `contexts`: what is counted.
    pub weight: ContextWeight,
    /// Profile `contexts` with `weight=alloc`: mean number of bytes from one allocation that is charged to the next; 0: all are.
    pub alloc_interval: u32,
    /// Profiles `kpaths` and `contexts`: which part of the stream.
    pub burst: Burst,
    /// Profile `contexts`, bursts by the clock: who tells calls and returns in them.
    pub burst_events: BurstEvents,
    /// Profile `subpaths`: most bytes of a thread's sample.
    pub footprint: u32,
    /// Profile `subpaths`: how long they are.
    pub lengths: SubpathLengths,
    /// Profile `subpaths`: who skips. See [`ProfileOptions::skips_in_probes`].
    pub skipping: Skipping,
    /// Profile `subpaths`: all else about their sampling.
    pub subpaths: SubpathChoices,
    /// Probe `events`: who runs the analyses.
    pub consumer: ConsumedBy,
    /// Include patterns; empty for the default.
    pub include: Vec<String>,
    /// Exclude patterns.
    pub exclude: Vec<String>,
    /// Where the profile goes.
    pub file: FilePattern,
    /// Time between periodic dumps, if wanted.
    pub dump: Option<Duration>,
    /// Most paths of a method before it is cut; 2 to `i32::MAX`.
    pub path_limit: u32,
    /// `None`: skip with probe `yieldpoint`, else probe. See [`ProfileOptions::skips_single_path_loops`].
    pub single_path_loops: Option<SinglePathLoops>,
    /// Do methods with a single path carry a probe?
    pub single_path_methods: SinglePathMethods,
    /// Profile of a former run, by whose frequencies methods are numbered.
    pub use_profile: Option<String>,
    /// Probes `counters` and `yieldpoint`: when hot classes are numbered again by this run's own frequencies.
    pub renumber: Option<Duration>,
    /// Where the rotation of strides begins; seed of the random times of windows.
    pub seed: u64,
    /// Least severity that is shown.
    pub loglevel: LogLevel,
    /// File for messages; standard error if `None`.
    pub log: Option<String>,
    /// Show errors only.
    pub quiet: bool,
    /// File for the answer to an attach command.
    pub out: Option<String>,
    /// Names that were given explicitly.
    given: BTreeSet<&'static str>,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        ProfileOptions {
            profile: vec![ProfileKind::Paths],
            probe: Probe::Auto,
            schedule: Schedule::DEFAULT,
            interval: Duration::from_millis(20),
            k: 10,
            budget: None,
            share: None,
            rearm: None,
            window: NonZeroU32::new(100),
            retire: true,
            phi: Share::new(1e-4).expect("a share"),
            epsilon: None,
            algorithm: ContextAlgorithm::LazySpaceSaving,
            call_paths: CallPaths::Off,
            weight: ContextWeight::Calls,
            alloc_interval: 64 << 10,
            burst: Burst::Off,
            burst_events: BurstEvents::Probes,
            footprint: 64 << 10,
            lengths: SubpathLengths::default(),
            skipping: Skipping::Probes,
            subpaths: SubpathChoices::default(),
            consumer: ConsumedBy::Program,
            include: Vec::new(),
            exclude: Vec::new(),
            file: FilePattern::default(),
            dump: None,
            path_limit: i32::MAX as u32,
            single_path_loops: None,
            single_path_methods: SinglePathMethods::Skip,
            use_profile: None,
            renumber: None,
            seed: 0,
            loglevel: LogLevel::Warn,
            log: None,
            quiet: false,
            out: None,
            given: BTreeSet::new(),
        }
    }
}

impl AgentCommand {
    /// Reads the agent string. An empty one means `start` with defaults.
    ///
    /// # Errors
    /// The first option that cannot be understood, or trouble with the file that `config` names.
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let mut action = Action::Start;
        let mut pairs = Vec::new();
        for (index, word) in split_unescaped(text, ',').into_iter().enumerate() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name.trim(), unescape(value, ',')),
                None if word.trim().is_empty() => continue,
                None => match word.parse::<Action>() {
                    Ok(given) if index == 0 => {
                        action = given;
                        continue;
                    }
                    Ok(action) => return Err(OptionError::LateAction { action }),
                    Err(_) if word == "quiet" => (word, "true".to_owned()),
                    Err(_) => return Err(bare_word(word)),
                },
            };
            pairs.push((name.to_owned(), value));
        }
        let options = ProfileOptions::from_pairs(&pairs)?;
        Ok(AgentCommand { action, options })
    }

    /// The agent string that [`AgentCommand::parse`] reads back to the same.
    pub fn to_agent_string(&self) -> String {
        let mut text = self.action.name().to_owned();
        for (name, value) in self.options.pairs() {
            text.push(',');
            text.push_str(name);
            text.push('=');
            text.push_str(&escape(&value, ','));
        }
        text
    }
}

/// The error for a word without `=`.
fn bare_word(word: &str) -> OptionError {
    match option_named(word) {
        Some(option) => OptionError::NoValue {
            name: option.name,
            value: option.value,
        },
        None => unknown(word, Action::ALL.iter().map(|a| a.name())),
    }
}

fn unknown(name: &str, more: impl Iterator<Item = &'static str>) -> OptionError {
    OptionError::Unknown {
        name: name.to_owned(),
        nearest: nearest(name, OPTIONS.iter().map(|o| o.name).chain(more)),
    }
}

impl ProfileOptions {
    /// Reads a properties file's text.
    ///
    /// # Errors
    /// The first line or option that cannot be understood.
    pub fn parse_properties(text: &str) -> Result<Self, OptionError> {
        Self::from_pairs(&properties(text)?)
    }

    /// From names and values, values in option syntax (`+` between values of a list). Order does not matter,
    /// but among values of one list.
    ///
    /// # Errors
    /// The first option that cannot be understood, or trouble with the file that `config` names.
    pub fn from_pairs<N: AsRef<str>, V: AsRef<str>>(pairs: &[(N, V)]) -> Result<Self, OptionError> {
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(n, v)| (n.as_ref(), v.as_ref())).collect();
        let config = pairs.iter().filter(|(name, _)| *name == "config");
        let mut options = match config.clone().count() {
            0 => ProfileOptions::default(),
            1 => config
                .map(|(_, file)| Self::read_config(file))
                .next()
                .unwrap_or_else(|| Ok(Self::default()))?,
            _ => return Err(OptionError::Twice { name: "config" }),
        };
        options.apply(pairs.iter().copied().filter(|(name, _)| *name != "config"))?;
        options.check()?;
        Ok(options)
    }

    fn read_config(file: &str) -> Result<Self, OptionError> {
        let error = |reason: String| OptionError::Config {
            file: file.to_owned(),
            reason,
        };
        let text = std::fs::read_to_string(file).map_err(|e| error(e.to_string()))?;
        let pairs = properties(&text).map_err(|e| error(e.to_string()))?;
        if pairs.iter().any(|(name, _)| name == "config") {
            return Err(error(
                "option 'config' cannot be used inside a properties file".to_owned(),
            ));
        }
        Self::from_pairs(&pairs).map_err(|e| error(e.to_string()))
    }

    /// Applies pairs over what is there: a list that is given replaces the one that was there before.
    fn apply<'a>(&mut self, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(), OptionError> {
        let mut seen = BTreeSet::new();
        let (mut samples, mut stride) = (None, None);
        for (name, value) in pairs {
            let option = option_named(name).ok_or_else(|| unknown(name, std::iter::empty()))?;
            let first = seen.insert(option.name);
            if !first && !option.list {
                return Err(OptionError::Twice { name: option.name });
            }
            let wrong = |reason: String| OptionError::Value {
                name: option.name,
                reason,
            };
            match option.name {
                "samples" => samples = Some(positive(value).map_err(wrong)?),
                "stride" => stride = Some(positive(value).map_err(wrong)?),
                _ => self.apply_one(option, value, first)?,
            }
        }
        let given = self.is_given("schedule") || seen.contains("schedule");
        // The default has no stride, and samples of another kind: who names these means the paper's schedule.
        if (samples.is_some() || stride.is_some()) && !given {
            self.schedule = Schedule::PEP;
        }
        self.adjust_schedule(samples, stride)?;
        // The shorthands are remembered as what they changed.
        let changed = |name| {
            if matches!(name, "samples" | "stride") {
                "schedule"
            } else {
                name
            }
        };
        self.given.extend(seen.into_iter().map(changed));
        Ok(())
    }

    fn apply_one(
        &mut self,
        option: &'static OptionName,
        value: &str,
        first: bool,
    ) -> Result<(), OptionError> {
        let name = option.name;
        let wrong = |reason: String| OptionError::Value { name, reason };
        match name {
            "profile" => {
                let kinds = split_list(value);
                if first {
                    self.profile.clear();
                }
                for kind in kinds {
                    let kind = kind.parse().map_err(wrong)?;
                    if !self.profile.contains(&kind) {
                        self.profile.push(kind);
                    }
                }
            }
            "probe" => self.probe = value.parse().map_err(wrong)?,
            "schedule" => {
                self.schedule = value
                    .parse()
                    .map_err(|e: crate::ScheduleError| wrong(e.to_string()))?;
            }
            "interval" => self.interval = parse_duration(value).map_err(wrong)?,
            "k" => {
                self.k = match value.parse() {
                    Ok(k @ 2..=MAX_K) => k,
                    _ => return Err(wrong(format!("'{value}' is not a number from 2 to {MAX_K}"))),
                };
            }
            "budget" => self.set_budget(value).map_err(wrong)?,
            "rearm" => self.rearm = Some(parse_duration(value).map_err(wrong)?),
            "window" => {
                self.window = match value {
                    "all" => None,
                    paths => Some(window(paths).map_err(wrong)?),
                };
            }
            "retire" => self.retire = values::parse_bool(value).map_err(wrong)?,
            "phi" => self.phi = value.parse().map_err(wrong)?,
            "epsilon" if value == "phi/5" => self.epsilon = None,
            "epsilon" => self.epsilon = Some(value.parse().map_err(wrong)?),
            "algorithm" => self.algorithm = value.parse().map_err(wrong)?,
            "call-paths" => self.call_paths = value.parse().map_err(wrong)?,
            "weight" => self.weight = value.parse().map_err(wrong)?,
            "alloc-interval" => {
                let reason = || format!("'{value}' is not a number of bytes such as 0, 4096, 64k or 1M");
                let bytes = values::parse_bytes(value).filter(|&bytes| bytes <= i32::MAX as u32);
                self.alloc_interval = bytes.ok_or_else(|| wrong(reason()))?;
            }
            "burst" => self.burst = value.parse().map_err(wrong)?,
            "burst-events" => self.burst_events = value.parse().map_err(wrong)?,
            "footprint" => {
                let bytes = values::parse_bytes(value).filter(|bytes| FOOTPRINTS.contains(bytes));
                let reason = || format!("'{value}' is not a number of bytes from 1k to 1024M, such as 64k");
                self.footprint = bytes.ok_or_else(|| wrong(reason()))?;
            }
            "lengths" => self.lengths = value.parse().map_err(wrong)?,
            "skipping" => self.skipping = value.parse().map_err(wrong)?,
            _ if subpaths::NAMES.contains(&name) => self.subpaths.set(name, value).map_err(wrong)?,
            "consumer" => self.consumer = value.parse().map_err(wrong)?,
            "include" | "exclude" => {
                let patterns = split_list(value);
                if patterns.iter().any(String::is_empty) {
                    return Err(wrong("a pattern is empty".to_owned()));
                }
                let list = if name == "include" {
                    &mut self.include
                } else {
                    &mut self.exclude
                };
                if first {
                    list.clear();
                }
                list.extend(patterns);
            }
            "file" => self.file = value.parse().map_err(wrong)?,
            "dump" => self.dump = Some(parse_duration(value).map_err(wrong)?),
            "path_limit" => {
                self.path_limit = match value.parse() {
                    Ok(limit @ 2..=0x7fff_ffff) => limit,
                    _ => return Err(wrong(format!("'{value}' is not a number from 2 to {}", i32::MAX))),
                };
            }
            "single-path-loops" => self.single_path_loops = Some(value.parse().map_err(wrong)?),
            "single-path-methods" => self.single_path_methods = value.parse().map_err(wrong)?,
            "use-profile" => self.use_profile = Some(file_name(value).map_err(wrong)?),
            "renumber" => self.renumber = Some(parse_duration(value).map_err(wrong)?),
            "seed" => {
                let reason = |_| format!("'{value}' is not a number from 0 to {}", u64::MAX);
                self.seed = value
                    .parse()
                    .map_err(|e: std::num::ParseIntError| wrong(reason(e)))?;
            }
            "loglevel" => self.loglevel = value.parse().map_err(wrong)?,
            "log" => self.log = Some(file_name(value).map_err(wrong)?),
            "quiet" => self.quiet = values::parse_bool(value).map_err(wrong)?,
            "out" => self.out = Some(file_name(value).map_err(wrong)?),
            _ => return Err(unknown(name, std::iter::empty())),
        }
        Ok(())
    }

    fn adjust_schedule(
        &mut self,
        samples: Option<NonZeroU32>,
        stride: Option<NonZeroU32>,
    ) -> Result<(), OptionError> {
        let name = if samples.is_some() { "samples" } else { "stride" };
        let (old_samples, old_stride) = match &mut self.schedule {
            Schedule::Span { .. } if samples.is_none() && stride.is_none() => return Ok(()),
            // As a whole, so that the number is checked.
            Schedule::Span { duration, .. } if stride.is_none() => {
                let samples = samples.map_or(0, NonZeroU32::get);
                let text = format!("span:{}:{samples}", format_duration(*duration));
                self.schedule = text
                    .parse()
                    .map_err(|e: crate::ScheduleError| OptionError::Value {
                        name,
                        reason: e.to_string(),
                    })?;
                return Ok(());
            }
            Schedule::Span { .. } => {
                return Err(OptionError::Value {
                    name: "stride",
                    reason: "schedule 'span' has no stride; use ag or sag".to_owned(),
                });
            }
            Schedule::Timer if samples.is_none() && stride.is_none() => return Ok(()),
            Schedule::Timer => {
                return Err(OptionError::Value {
                    name,
                    reason: "schedule 'timer' takes one sample per tick; use ag or sag".to_owned(),
                });
            }
            Schedule::Ag { samples, stride } | Schedule::Sag { samples, stride } => (samples, stride),
        };
        *old_samples = samples.unwrap_or(*old_samples);
        *old_stride = stride.unwrap_or(*old_stride);
        Ok(())
    }

    /// Was this option given, rather than left at its default?
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains(name)
    }

    /// Names and values, in option syntax, of all that was given or differs from its default, in the order of
    /// [`OPTIONS`]. [`ProfileOptions::from_pairs`] reads them back.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let default = ProfileOptions::default();
        OPTIONS
            .iter()
            .filter_map(|option| {
                let value = self.value(option.name)?;
                let changed = default.value(option.name).as_ref() != Some(&value);
                (changed || self.is_given(option.name)).then_some((option.name, value))
            })
            .collect()
    }

    /// An option's value in option syntax; `None` if it has none.
    fn value(&self, name: &str) -> Option<String> {
        match name {
            "profile" => Some(join_list(self.profile.iter().map(|kind| kind.name()))),
            "probe" => Some(self.probe.to_string()),
            "schedule" => Some(self.schedule.to_string()),
            "interval" => Some(format_duration(self.interval)),
            "k" => Some(self.k.to_string()),
            "budget" => Some(self.budget_text()),
            "rearm" => self.rearm.map(format_duration),
            "window" => Some(self.window.map_or("all".to_owned(), |paths| paths.to_string())),
            "retire" => Some(self.retire.to_string()),
            "phi" => Some(self.phi.to_string()),
            "epsilon" => Some(self.epsilon.map_or("phi/5".to_owned(), |share| share.to_string())),
            "algorithm" => Some(self.algorithm.to_string()),
            "call-paths" => Some(self.call_paths.to_string()),
            "weight" => Some(self.weight.to_string()),
            "alloc-interval" => Some(values::format_bytes(self.alloc_interval)),
            "burst" => Some(self.burst.to_string()),
            "burst-events" => Some(self.burst_events.to_string()),
            "footprint" => Some(values::format_bytes(self.footprint)),
            "lengths" => Some(self.lengths.to_string()),
            "skipping" => Some(self.skipping.to_string()),
            "consumer" => Some(self.consumer.to_string()),
            "include" if !self.include.is_empty() => Some(join_list(self.include.iter().map(String::as_str))),
            "exclude" if !self.exclude.is_empty() => Some(join_list(self.exclude.iter().map(String::as_str))),
            "file" => Some(self.file.to_string()),
            "dump" => self.dump.map(format_duration),
            "path_limit" => Some(self.path_limit.to_string()),
            "single-path-loops" => self.single_path_loops.map(|choice| choice.to_string()),
            "single-path-methods" => Some(self.single_path_methods.to_string()),
            "use-profile" => self.use_profile.clone(),
            "renumber" => self.renumber.map(format_duration),
            "seed" => Some(self.seed.to_string()),
            "loglevel" => Some(self.loglevel.to_string()),
            "log" => self.log.clone(),
            "quiet" => Some(self.quiet.to_string()),
            "out" => self.out.clone(),
            // `samples` and `stride` live in the schedule, `config` in what it set.
            _ => self.subpaths.value(name),
        }
    }
}

/// Paths of a window.
fn window(value: &str) -> Result<NonZeroU32, String> {
    let paths = value
        .parse()
        .ok()
        .filter(|paths: &NonZeroU32| paths.get() <= MOST_IN_WINDOW);
    paths
        .ok_or_else(|| format!("'{value}' is neither a number of paths from 1 to {MOST_IN_WINDOW} nor 'all'"))
}

/// Most paths that a window may have.
const MOST_IN_WINDOW: u32 = 1_000_000;

fn positive(value: &str) -> Result<NonZeroU32, String> {
    let reason = |_| format!("'{value}' is not a number from 1 to {}", u32::MAX);
    value.parse().map_err(|e: std::num::ParseIntError| reason(e))
}

fn file_name(value: &str) -> Result<String, String> {
    match value {
        "" => Err("the file name is empty".to_owned()),
        name => Ok(name.to_owned()),
    }
}

#[cfg(test)]
mod tests;
