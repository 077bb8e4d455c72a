//! From the user's options to those of the instrumenter and the agent.

use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustc_hash::FxHashSet;
use trodden_analyses::stream::{Pipeline, StreamError};
use trodden_instrumenter::{
    CallWeight, EventProbes, Filter, FilterError, Guide, GuideError, InstrumentOptions, Instrumenter, Leave,
    ProbeKind, Probes, RequestMethods,
};
use trodden_profile::Schedule;
use trodden_profile::events::EventKinds;
use trodden_profile::options::{
    Burst, ContextWeight, FileFormat, LogLevel, Probe, ProfileKind, ProfileOptions,
};

use crate::log::{self, error, info, warning};
use crate::threads::{Strata, Switches};

/// How often the clock asks the controller whether a look is due.
const CONTROLLER_TICK: Duration = Duration::from_millis(20);
/// How exactly the time is kept at which classes are numbered again.
const RENUMBER_CHECK: Duration = Duration::from_millis(200);

/// Why nothing can be recorded with these options.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A pattern cannot be understood.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// An analysis cannot be set up.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The profile of a former run is no help.
    #[error("use-profile: {0}")]
    Guide(#[from] GuideError),
}

/// The settings of a profile.
pub struct Settings {
    /// The options as given.
    pub options: ProfileOptions,
    /// Which probes.
    pub probe: ProbeKind,
    /// Rewrites classes accordingly.
    pub instrumenter: Instrumenter,
    /// Methods that get probes of requests.
    pub requests: RequestMethods,
    /// True if probes are taken out again where enough is known (`probe=auto`).
    pub retires: bool,
    /// True if only code that was instrumented offline is counted. No class is touched then.
    pub ahead: bool,
    /// Where the switches of structure graphs are, if these are profiled. Set when profiling begins.
    pub switches: Option<Switches>,
    /// Classes that were numbered again by the run's own counts (`use-profile=own:…`). Set once.
    pub renumbered: OnceLock<Renumbered>,
}

/// Classes whose probes go by what this run has counted itself.
pub struct Renumbered {
    /// As the first one, with the run's own profile as the guide.
    pub instrumenter: Instrumenter,
    /// Their internal names.
    pub classes: FxHashSet<String>,
    /// How many were sent through the hook, and what that took.
    pub sent: OnceLock<(usize, Duration)>,
}

impl Settings {
    /// Reads the filters and the profile of a former run, and fixes the probe.
    ///
    /// # Errors
    /// If a pattern cannot be understood, an analysis cannot be set up, or the former profile is no help.
    pub fn new(options: ProfileOptions) -> Result<Self, SettingsError> {
        let probe = probe_kind(&options);
        let instrument = InstrumentOptions {
            filter: Filter::new(&options.code.include, &options.code.exclude)?,
            single_path_methods: options.covers_paths(),
            cut_paths: options.counts_cut_paths(),
            open_paths: options.reads_open_paths(),
            callers_apart: probe == ProbeKind::Counters,
            guide: options.former_profile().map(guide).transpose()?,
            leave: options.code.memory.as_deref().and_then(leave),
            // At class load that work would be the program's: `Originals` does it when a profile is written.
            shapes: false,
            ..InstrumentOptions::new(probes(&options)?)
        };
        Ok(Settings {
            requests: RequestMethods::new(&options.code.requests)?,
            retires: options.retires(),
            options,
            probe,
            instrumenter: Instrumenter::new(instrument),
            ahead: false,
            switches: None,
            renumbered: OnceLock::new(),
        })
    }

    /// Who gives a class of that name its probes, and the fingerprint of the run's own profile if that is the
    /// guide; else 0.
    pub fn instrumenter_of(&self, class: Option<&str>) -> (&Instrumenter, u64) {
        let renumbered = self.renumbered.get();
        let renumbered =
            renumbered.filter(|renumbered| class.is_some_and(|name| renumbered.classes.contains(name)));
        match renumbered {
            Some(Renumbered { instrumenter, .. }) => (instrumenter, guide_of(instrumenter)),
            None => (&self.instrumenter, 0),
        }
    }

    /// Numbers classes again by a profile of this very run, which has these methods' counts and no others.
    /// Once.
    pub fn renumber(&self, guide: Guide, classes: FxHashSet<String>) -> &Renumbered {
        self.renumbered.get_or_init(|| Renumbered {
            instrumenter: Instrumenter::new(InstrumentOptions {
                guide: Some(Arc::new(guide)),
                ..self.instrumenter.options().clone()
            }),
            classes,
            sent: OnceLock::new(),
        })
    }

    /// All that decides about instrumented classes and the meaning of counts, as text: with equal texts a
    /// profile can go on after it was stopped, with other ones a new profile begins.
    pub fn configuration(&self) -> String {
        if self.ahead {
            return format!("{} ahead", self.probe.name());
        }
        // The file of a former profile may be another one by now. What it held when it was read counts.
        let guide = guide_of(&self.instrumenter);
        let leave = self.instrumenter.options().leave.as_ref();
        let leave = leave.map_or(0, |leave| leave.fingerprint());
        format!("{}\nguide={guide:x}\nleave={leave:x}", self.options.fingerprint())
    }

    /// True if classes get probes.
    pub fn instruments(&self) -> bool {
        self.options.probe != Probe::None
    }

    /// The probe as the profile names it.
    pub fn probe_name(&self) -> &'static str {
        match self.probe {
            _ if !self.instruments() => Probe::None.name(),
            ProbeKind::Counters if self.retires => Probe::Auto.name(),
            probe => probe.name(),
        }
    }

    /// True if the stream is recorded, and not analysed.
    pub fn records(&self) -> bool {
        self.options.output.file.format() == FileFormat::Trace
    }

    /// True if the clock drives this probe.
    pub fn samples(&self) -> bool {
        matches!(self.probe, ProbeKind::Yieldpoint | ProbeKind::Safepoint)
    }

    /// Paths of a structure graph's window, if there are such windows.
    pub fn windows(&self) -> Option<NonZeroU32> {
        let window = self.options.structural.window;
        window.filter(|_| self.probe == ProbeKind::Structural)
    }

    /// Interval and length of bursts of the event stream, if nothing is reported between them.
    pub fn bursts(&self) -> Option<[Duration; 2]> {
        match self.options.burst {
            Burst::Timed { interval, length, .. } if self.probe == ProbeKind::Events => {
                Some([interval, length])
            }
            _ => None,
        }
    }

    /// True if each thread's stack of calls is followed in this JVM, from wherever the thread is when
    /// profiling begins.
    pub fn follows_stacks(&self) -> bool {
        let contexts = self.options.profile.contains(&ProfileKind::Contexts);
        // Bursts bring their own stacks; and a trace cannot hold activations without probes.
        let whole = self.bursts().is_none() && !self.records();
        self.probe == ProbeKind::Events && contexts && whole && !self.ahead
    }

    /// True if the agent must know the new places of instructions: if frames are read.
    pub fn reads_frames(&self) -> bool {
        let bursts = self.bursts().is_some() && !self.options.has_events_of_jvm();
        let sampled = self.options.sampling.sample.is_some();
        self.probe == ProbeKind::Safepoint || bursts || sampled || self.reads_open_paths()
    }

    /// True if paths of open activations are read from frames when a profile is written.
    pub fn reads_open_paths(&self) -> bool {
        self.options.reads_open_paths() && !self.ahead
    }

    /// Mean number of bytes from one allocation that is charged to its context to the next; `None`: none is.
    pub fn alloc_interval(&self) -> Option<u32> {
        let charges = self.options.profile.contains(&ProfileKind::Contexts)
            && self.options.contexts.weight == ContextWeight::Alloc;
        charges.then_some(self.options.contexts.alloc_interval)
    }

    /// The layout of windows in the ring.
    pub fn strata(&self) -> Strata {
        match self.options.sampling.schedule {
            Schedule::Span { samples, .. } => Strata::of(samples),
            Schedule::Timer | Schedule::Ag { .. } | Schedule::Sag { .. } => Strata::PLAIN,
        }
    }

    /// For how long a window is open, if that is what the schedule says. No longer than half of the interval.
    pub fn span(&self) -> Option<Duration> {
        match self.options.sampling.schedule {
            Schedule::Span { duration, .. } if self.probe == ProbeKind::Yieldpoint => {
                Some(duration.min(self.options.sampling.interval / 2))
            }
            _ => None,
        }
    }

    /// Seed of the clock's random phase, if it has one. Windows of fixed durations are opened at random
    /// times, so that no rhythm of the program is in step with them.
    pub fn jitter(&self) -> Option<u64> {
        let randomly = self.span().is_some() || self.bursts().is_some() || self.windows().is_some();
        randomly.then_some(self.options.seed)
    }

    /// Most ring entries that one sampling window takes.
    pub fn window(&self) -> u64 {
        if self.probe != ProbeKind::Yieldpoint {
            return 0;
        }
        match self.options.sampling.schedule {
            Schedule::Span { .. } => self.strata().entries(Strata::MAX_PATH_ENDS) as u64,
            schedule => schedule.last_index(u64::from(schedule.stride()) - 1) + 1,
        }
    }

    /// Time between ticks of the clock, if one is needed.
    pub fn interval(&self) -> Option<Duration> {
        let rearm = self.options.retiring.rearm;
        let rearmed = |most: Duration| Some(rearm.map_or(most, |rearm| rearm.min(most)));
        match self.bursts() {
            Some([interval, _]) => Some(interval),
            _ if self.windows().is_some() => rearmed(self.options.sampling.interval),
            _ if self.retires => rearmed(CONTROLLER_TICK),
            _ if self.samples() => Some(self.options.sampling.interval),
            _ => {
                let dump = self.options.dump_every();
                let renumber = self
                    .options
                    .renumber_after()
                    .map(|after| after.min(RENUMBER_CHECK));
                dump.min(renumber).or(dump).or(renumber)
            }
        }
    }
}

/// The fingerprint of the profile that an instrumenter numbers paths by; 0 for none.
fn guide_of(instrumenter: &Instrumenter) -> u64 {
    let guide = instrumenter.options().guide.as_ref();
    guide.map_or(0, |guide| guide.fingerprint())
}

/// The probe that options ask for.
pub fn probe_kind(options: &ProfileOptions) -> ProbeKind {
    match options.probe_in_use() {
        _ if options.is_structural() => ProbeKind::Structural,
        _ if options.is_coverage() => ProbeKind::Coverage,
        // Nothing gets any; counts that stay empty are the least of all.
        Probe::Counters | Probe::None => ProbeKind::Counters,
        Probe::Safepoint => ProbeKind::Safepoint,
        Probe::Yieldpoint | Probe::Auto => ProbeKind::Yieldpoint,
        Probe::Events => ProbeKind::Events,
    }
}

/// The frequencies of edges in a former profile.
fn guide(file: &str) -> Result<Arc<Guide>, GuideError> {
    let guide = Guide::load(file.as_ref())?;
    info!("use-profile: {file} has counts of {} methods", guide.methods());
    Ok(Arc::new(guide))
}

/// The results of earlier runs. Without them all is measured, which is more than was asked for and no error.
fn leave(file: &str) -> Option<Arc<Leave>> {
    match Leave::load(file.as_ref()) {
        Ok(leave) => {
            info!("memory: {} methods are known from earlier runs", leave.methods());
            Some(Arc::new(leave))
        }
        Err(error) => {
            warning!("memory: {error}; all is measured");
            None
        }
    }
}

/// The probes for what the options ask for.
fn probes(options: &ProfileOptions) -> Result<Probes, StreamError> {
    let kinds = events(options)?;
    Ok(match probe_kind(options) {
        ProbeKind::Events => Probes::Events(match options.burst {
            _ if options.has_steps_of_jvm() => EventProbes::JvmSteps {
                activations: kinds.activations,
            },
            _ if options.has_events_of_jvm() => EventProbes::JvmCallBursts,
            Burst::Timed { .. } => EventProbes::CallBursts,
            _ if options.contexts.weight == ContextWeight::Time => EventProbes::Calls(CallWeight::Time),
            _ if options.contexts.call_paths => EventProbes::Calls(CallWeight::PathsToCalls),
            _ => match EventProbes::for_kinds(kinds) {
                EventProbes::Paths if options.skips_in_probes() => EventProbes::WantedPaths,
                EventProbes::Activations if options.counts_only_paths() => EventProbes::CountedActivations,
                probes => probes,
            },
        }),
        kind => kind.into(),
    })
}

/// The kinds of events that the analyses need. A trace has all that any analysis of paths may need, unless it
/// is for contexts alone.
fn events(options: &ProfileOptions) -> Result<EventKinds, StreamError> {
    let needs = Pipeline::from_options(options)?.needs();
    Ok(match options.output.file.format() {
        FileFormat::Trace if options.profile != [ProfileKind::Contexts] => {
            needs.and(EventKinds::ACTIVATION_PATHS)
        }
        _ => needs,
    })
}

/// Applies the options about messages.
pub fn apply_log_options(options: &ProfileOptions) {
    log::set_level(if options.output.quiet {
        LogLevel::Error
    } else {
        options.output.loglevel
    });
    if let Some(file) = &options.output.log
        && let Err(e) = log::set_file(file.as_ref())
    {
        error!("log file {file}: {e}; messages stay here");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trodden_profile::options::AgentCommand;

    fn settings(text: &str) -> Settings {
        Settings::new(AgentCommand::parse(text).unwrap().options).unwrap()
    }

    #[test]
    fn windows_have_room_for_every_tick() {
        assert_eq!(settings("probe=yieldpoint,schedule=sag:64:17").window(), 80);
        assert_eq!(settings("probe=yieldpoint,schedule=ag:64:17").window(), 17 * 64);
        assert_eq!(settings("probe=yieldpoint,schedule=timer").window(), 1);
        let span = settings("probe=yieldpoint,schedule=span:200us:256").window();
        // 256 entries for each doubling of 414 path ends to 2^28.
        assert!((19 * 256..=21 * 256).contains(&span), "{span}");
        assert_eq!(settings("probe=counters").window(), 0);
    }

    #[test]
    fn windows_by_duration_take_half_an_interval_at_most() {
        let span = |text| settings(text).span();
        let (long, short) = (Duration::from_millis(10), Duration::from_micros(200));
        assert_eq!(span("schedule=span:200us:256,interval=20ms"), Some(short));
        assert_eq!(span("schedule=span:100ms:256,interval=20ms"), Some(long));
        assert_eq!(span("schedule=sag:64:17"), None);
        assert_eq!(span("probe=safepoint"), None);
        assert_eq!(settings("schedule=span:200us:256,seed=9").jitter(), Some(9));
        assert_eq!(settings("schedule=sag:64:17,seed=9").jitter(), None);
    }

    #[test]
    fn a_configuration_is_what_decides_about_classes_and_counts() {
        let of = |text| settings(text).configuration();
        let base = of("probe=counters");
        assert_eq!(base, of("probe=counters,dump=1s,file=x"));
        assert_ne!(base, of("probe=yieldpoint"));
        assert_ne!(base, of("probe=counters,include=a.*"));
        assert_ne!(base, of("profile=coverage,coverage=paths"));
        // Classes stay the same with another schedule, but its samples mean something else.
        assert_ne!(of("schedule=span:1ms:256"), of("schedule=sag:64:17"));
        assert_ne!(of("profile=kpaths"), of("profile=kpaths,file=x.trace"));
        assert_ne!(of("profile=subpaths"), of("profile=subpaths,burst=jvm:50ms:2ms"));
    }

    #[test]
    fn the_clock_runs_only_where_it_is_needed() {
        assert!(settings("probe=counters").interval().is_none());
        assert_eq!(
            settings("probe=counters,dump=5s").interval(),
            Some(Duration::from_secs(5))
        );
        assert_eq!(
            settings("probe=yieldpoint,interval=7ms").interval(),
            Some(Duration::from_millis(7))
        );
    }
}
