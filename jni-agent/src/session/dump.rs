//! Writing the profile.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use trodden_instrumenter::{CounterSlot, MethodId, ProbeKind};
use trodden_profile::facts::{self, Facts};
use trodden_profile::options::{Arguments, CutPaths, FileFormat, OpenPaths};
use trodden_profile::{ClassProfile, Covered, MethodCovered, Profile, RunInfo, merge, without_values};

use crate::classes::registry::ClassEntry;
use crate::controller::complete;
use crate::jvm::guard::panics;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::sampling::exact::ExactCounts;
use crate::sampling::open;
use crate::session::agent::{Agent, Control, unix_millis};
use crate::session::patterns::Unmatched;
use crate::settings::Settings;
use crate::threads::shim::Shim;

/// Why there is no profile file.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// Nothing was ever profiled.
    #[error("nothing has been profiled")]
    Nothing,
    /// The file's name needs something that is not there.
    #[error("{0}")]
    Name(String),
    /// The counts could not be had.
    #[error("the profile could not be collected: {0}")]
    Jvm(#[from] JvmError),
    /// An analysis has no result.
    #[error("the profile could not be made: {0}")]
    Analysis(String),
    /// A trace is no profile.
    #[error("{}: a trace is written as the program runs; it is complete when profiling stops", .0.display())]
    Trace(PathBuf),
    /// The file could not be written.
    #[error("the profile was not written: {0}")]
    Save(String),
}

/// What is read of paths that have not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderWay {
    /// Nothing: they are counted when they end. So counts never fall from one reading to a later one.
    Nothing,
    /// What exceptions have cut off in constructors.
    Died,
    /// That, and prefixes of paths that are read from frames, if the options want that: probes are in.
    Open,
}

/// Writes the profile so far, to the file given or the one of the options. Returns its name. `with_open`:
/// probes are in, so paths that are under way may be read from frames, if the options want that.
pub fn dump(
    agent: &Agent,
    jni: Jni<'_>,
    control: &Control,
    file: Option<&Path>,
    with_open: bool,
) -> Result<PathBuf, DumpError> {
    let Some(settings) = &control.settings else {
        return Err(DumpError::Nothing);
    };
    let unmatched = find_unmatched(agent, jni, control, settings);
    if let Some(trace) = &control.trace {
        if control.running() {
            return Err(DumpError::Trace(trace.file().to_owned()));
        }
        agent.recording.streams.flush();
        let mut run = run_info(agent, control, settings);
        Unmatched::note(unmatched.as_ref(), &mut run);
        run.facts.set(facts::LOST, agent.recording.streams.lost());
        run.facts.set(facts::PANICS, panics());
        trace.finish(&run).map_err(DumpError::Save)?;
        return Ok(trace.file().to_owned());
    }
    let file = match file {
        Some(file) => file.to_owned(),
        None => file_name(settings)?,
    };
    let under_way = match with_open {
        true => UnderWay::Open,
        false => UnderWay::Died,
    };
    let profile = totals(agent, jni, control, under_way)?;
    save(agent, profile, unmatched.as_ref(), &file)?;
    Ok(file)
}

/// Include patterns that match nothing. At the end there is a warning of them.
pub fn find_unmatched(
    agent: &Agent,
    jni: Jni<'_>,
    control: &Control,
    settings: &Settings,
) -> Option<Unmatched> {
    let include = &settings.options.code.include;
    let unmatched = Unmatched::find(include, &agent.host.registry, agent.host.jvmti, jni);
    if let Some(unmatched) = unmatched.as_ref().filter(|_| !control.running()) {
        unmatched.warn();
    }
    unmatched
}

/// Writes what was read into a file.
pub fn save(
    agent: &Agent,
    mut profile: Profile,
    unmatched: Option<&Unmatched>,
    file: &Path,
) -> Result<(), DumpError> {
    Unmatched::note(unmatched, &mut profile.run);
    add_source(agent, &mut profile);
    profile.save(file).map_err(|e| DumpError::Save(e.to_string()))
}

/// Reads all that was counted so far. What only the classes' bytes say is left to [`add_source`].
pub fn totals(
    agent: &Agent,
    jni: Jni<'_>,
    control: &Control,
    under_way: UnderWay,
) -> Result<Profile, DumpError> {
    let (Some(settings), Some(shim)) = (&control.settings, agent.host.shim_if_defined()) else {
        return Err(DumpError::Nothing);
    };
    if settings.probe == ProbeKind::Events {
        return totals_of_streams(agent, jni, control, settings);
    }
    let collector = lock(&agent.collector);
    let mut run = run_info(agent, control, settings);
    let mut open = None;
    let exact = match settings.probe {
        ProbeKind::Counters => {
            let with_open = under_way == UnderWay::Open;
            let (mut counts, opened) = exact_counts(agent, settings, shim, jni, with_open)?;
            counts.without_died = under_way == UnderWay::Nothing;
            open = opened;
            Some(counts)
        }
        _ => None,
    };
    let (classes, first_methods) = collector.classes(&agent.host.registry, exact.as_ref());
    if settings.probe == ProbeKind::Counters {
        let counted = match settings.ahead {
            true => agent.host.registry.units_count_cut_paths(),
            false => settings.options.counts_cut_paths(),
        };
        let cut = match counted {
            true => CutPaths::Count.name(),
            false => CutPaths::Skip.name(),
        };
        let read = match open {
            Some(_) => OpenPaths::Read.name(),
            None => OpenPaths::Skip.name(),
        };
        run.facts.set(facts::CUT_PATHS, cut);
        // A window speaks of that at the end only.
        if under_way != UnderWay::Nothing {
            run.facts.set(facts::OPEN_PATHS, read);
        }
    }
    let coverage = match settings.probe {
        ProbeKind::Coverage => Some(covered(agent, shim, jni, &first_methods)?),
        _ => None,
    };
    let (samples, unknown) = collector.sampled();
    let tally = collector.tally;
    match settings.probe {
        ProbeKind::Counters | ProbeKind::Structural => {
            run.facts.set(facts::LOST, shim.lost(jni)?.max(0) as u64);
        }
        ProbeKind::Coverage => {}
        probe => {
            run.facts.set(facts::TICKS, tally.ticks);
            run.facts.set(facts::OVERRUNS, tally.overruns);
            run.facts.set(facts::SAMPLES, samples);
            run.facts.set(facts::UNKNOWN_SAMPLES, unknown);
            if probe == ProbeKind::Yieldpoint {
                run.facts.set(facts::SHORT_WINDOWS, tally.short_windows);
                run.facts.set(facts::WINDOW_PATH_ENDS, tally.window_path_ends);
                if settings.span().is_some() {
                    run.facts
                        .set(facts::WINDOW_NS, Duration::from_nanos(tally.window_ns));
                    run.facts.set(facts::BLOCKED_WINDOWS, tally.blocked_windows);
                }
                run.facts.set(facts::LOST, tally.holes);
            } else {
                run.facts.set(facts::FRAMES, tally.frames);
                run.facts.set(facts::INVALID_SLOTS, tally.invalid_slots);
                run.facts.set(facts::IMPLAUSIBLE, tally.implausible);
            }
        }
    }
    run.facts.set(facts::PANICS, panics());
    if let Some(open) = &open {
        run.facts.set(facts::OPEN_FRAMES, open.read);
        run.facts.set(facts::OPEN_FRAMES_UNREAD, open.unread);
    }
    drop(collector);
    if let Some(renumbered) = settings.renumbered.get() {
        let (classes, took) = renumbered.sent.get().copied().unwrap_or_default();
        run.facts.set(facts::CLASSES_RENUMBERED, classes as u64);
        run.facts.set(facts::RENUMBERING_MS, took);
    }
    let methods: Vec<usize> = classes.iter().map(|class| class.map.methods.len()).collect();
    let mut profile = Profile {
        run,
        classes,
        skipped: agent.host.registry.skipped(),
        by_test: agent.marks.of_profile(&first_methods, &methods),
        coverage,
        ..Profile::default()
    };
    if settings.renumbered.get().is_some() {
        profile.classes = as_one(profile.classes)?;
        // Their paths have other numbers now.
        profile.by_test.clear();
    }
    if settings.probe == ProbeKind::Structural {
        let hashed = shim.hashed_counts(jni)?;
        let mut windows = lock(&agent.windows);
        let ledger = lock(&agent.ledger);
        let seconds = profile.run.seconds;
        let missing = |method| ledger.estimate(method, seconds).map(|estimate| estimate.missing);
        let window = settings.options.structural.window;
        windows.complete(
            &agent.host,
            &mut profile,
            &first_methods,
            window,
            &hashed,
            missing,
        );
    }
    if settings.retires {
        complete(&mut profile, &first_methods, &lock(&agent.ledger));
    }
    add_samples(agent, &mut profile, jni);
    Ok(profile)
}

/// Exact counts, and what is under way if that is wanted and can be read.
fn exact_counts(
    agent: &Agent,
    settings: &Settings,
    shim: &Shim,
    jni: Jni<'_>,
    with_open: bool,
) -> Result<(ExactCounts, Option<open::OpenPaths>), JvmError> {
    let host = &agent.host;
    let dense = || host.blocks.sums(CounterSlot(0)..host.registry.counters());
    if !with_open || !settings.reads_open_paths() || !host.granted.frames {
        return Ok((ExactCounts::after(dense(), shim, jni)?, None));
    }
    let filter = &settings.instrumenter.options().filter;
    let (open, suspended) = open::read(host, filter, jni)?;
    let dense = dense();
    drop(suspended);
    let mut counts = ExactCounts::after(dense, shim, jni)?;
    counts.add_open(&open);
    Ok((counts, Some(open)))
}

/// What ran, of classes whose first methods have these numbers.
fn covered(
    agent: &Agent,
    shim: &Shim,
    jni: Jni<'_>,
    first_methods: &[MethodId],
) -> Result<Covered, JvmError> {
    let registry = &agent.host.registry;
    let entries = registry
        .classes()
        .into_iter()
        .map(|entry| (entry.ids.first_method, entry));
    let entries: HashMap<MethodId, ClassEntry> = entries.collect();
    let passed = shim.passed(jni, registry.counters().0)?;
    let mut methods = BTreeMap::new();
    for (class, first_method) in (0u32..).zip(first_methods) {
        let Some(entry) = entries.get(first_method) else {
            continue;
        };
        let Some(coverage) = &entry.coverage else { continue };
        let firsts = coverage.layout().0;
        let plans = coverage.methods.iter().zip(firsts).zip(&entry.map.methods);
        for (method, ((plan, first), map)) in (0u32..).zip(plans) {
            let first = entry.ids.first_counter.plus(first);
            let ran = plan.ran(&map.graph, |probe| {
                passed.get(first.plus(probe).index()).copied().unwrap_or(false)
            });
            if ran.blocks.contains(&true) {
                methods.insert((class, method), MethodCovered::new(map, &ran));
            }
        }
    }
    Ok(Covered { methods })
}

/// Classes that were numbered twice, with their counts before and after added up.
fn as_one(classes: Vec<ClassProfile>) -> Result<Vec<ClassProfile>, DumpError> {
    let twice = Profile {
        classes,
        ..Profile::default()
    };
    let once = merge([&twice]).map_err(|e| DumpError::Analysis(e.to_string()))?;
    Ok(once.classes)
}

/// What the analyses of the event stream know.
fn totals_of_streams(
    agent: &Agent,
    jni: Jni<'_>,
    control: &Control,
    settings: &Settings,
) -> Result<Profile, DumpError> {
    let pipeline = agent.recording.streams.pipeline().ok_or(DumpError::Nothing)?;
    agent.recording.streams.flush();
    let run = run_info(agent, control, settings);
    let mut profile = pipeline
        .profile_of(run, &agent.host.registry.method_table())
        .map_err(|e| DumpError::Analysis(e.to_string()))?;
    let facts = &mut profile.run.facts;
    facts.set(facts::LOST, agent.recording.streams.lost());
    if settings.bursts().is_some() {
        let tally = lock(&agent.collector).tally;
        facts.set(facts::BURSTS, tally.ticks);
        facts.set(facts::BURST_NS, Duration::from_nanos(tally.window_ns));
        facts.set(facts::BURSTS_TOO_DEEP, agent.recording.walker.too_deep());
        if settings.options.has_events_of_jvm() {
            facts.set(
                facts::BURST_SWITCH_NS,
                Duration::from_nanos(agent.recording.method_events.switching()),
            );
        }
    }
    if settings.follows_stacks() {
        let (walks, given_up) = agent.recording.streams.walks();
        facts.set(facts::STACKS_WALKED, walks);
        facts.set(facts::STACKS_GIVEN_UP, given_up);
    }
    if settings.alloc_interval().is_some() {
        facts.set(facts::ALLOC_SAMPLES, agent.recording.streams.charges());
    }
    facts.set(facts::PANICS, panics());
    profile.skipped = agent.host.registry.skipped();
    add_samples(agent, &mut profile, jni);
    Ok(profile)
}

/// Where CPU time went, and what finding that out took.
fn add_samples(agent: &Agent, profile: &mut Profile, jni: Jni<'_>) {
    profile.cpu = agent.cpu.samples(&agent.host, jni);
    if profile.cpu.is_some() {
        profile.run.facts.set(facts::SAMPLING_MS, agent.cpu.took());
        profile.run.facts.set(facts::PROBES_MS, agent.cpu.in_probes());
        if let Some(spent) = agent.cpu.threads() {
            profile.run.facts.set(facts::SAMPLED_THREADS_MS, spent);
        }
    }
}

/// What only the classes' bytes say: what the branches of methods that ran decide, what of the others the
/// compiler made, and the shapes by which other builds of the program are compared.
pub fn add_source(agent: &Agent, profile: &mut Profile) {
    let ran = profile.methods_that_ran();
    let originals = &agent.host.registry.originals;
    profile.conditions =
        originals.conditions(&profile.classes, |class, method| ran.contains(&(class, method)));
    for class in &mut profile.classes {
        class.map = originals.shaped(&class.map);
    }
}

/// The file of the options. The agent writes profiles only: what asks for a report gets its profile beside
/// it, and the command that started the program turns it into the report.
pub fn file_name(settings: &Settings) -> Result<PathBuf, DumpError> {
    let pattern = &settings.options.output.file;
    // %t is the time of this dump: periodic dumps to such a name do not replace each other.
    let name = pattern
        .expand(std::process::id(), SystemTime::now(), |variable| {
            std::env::var(variable).ok()
        })
        .map_err(|e| DumpError::Name(e.to_string()))?;
    let mut file = PathBuf::from(name);
    if !matches!(pattern.format(), FileFormat::Trodden | FileFormat::Trace) {
        file.set_extension("trodden");
    }
    Ok(file)
}

/// What there is to say about the run.
pub fn run_info(agent: &Agent, control: &Control, settings: &Settings) -> RunInfo {
    let property = |name: &str| agent.host.jvmti.system_property(name).unwrap_or_default();
    let mut facts = Facts::default();
    facts.set(facts::OS, std::env::consts::OS);
    facts.set(facts::ARCH, std::env::consts::ARCH);
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    facts.set(facts::CPUS, cpus as u64);
    facts.set(facts::PID, std::process::id());
    facts.set(facts::ATTACHED, agent.host.late.to_string());
    let units = agent.host.registry.units();
    if units > 0 {
        facts.set(facts::INSTRUMENTED_AHEAD, units as u64);
    }
    let samples = settings.samples();
    let options = settings.options.pairs();
    let command = property("sun.java.command");
    RunInfo {
        jvm: format!("{} {}", property("java.vm.name"), property("java.vm.version"))
            .trim()
            .to_owned(),
        command: match settings.options.output.arguments {
            Arguments::Names => without_values(&command),
            Arguments::All => command,
        },
        started_ms: control.started.map_or(0, unix_millis),
        seconds: control.seconds(),
        probe: settings.probe_name().to_owned(),
        schedule: (settings.probe == ProbeKind::Yieldpoint)
            .then(|| settings.options.sampling.schedule.to_string()),
        interval_ns: samples.then_some(settings.options.sampling.interval.as_nanos() as u64),
        exact: settings.instruments() && matches!(settings.probe, ProbeKind::Counters | ProbeKind::Events),
        options: options
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(","),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        facts,
    }
}
