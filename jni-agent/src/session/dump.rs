//! Writing the profile.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use trodden_profile::facts::{self, Facts};
use trodden_profile::options::{Arguments, FileFormat, FilePattern, UnsetVariable};
use trodden_profile::{Profile, RunInfo, SaveError, without_values};

use crate::hotspot;
use crate::jvm::{Jni, panics};
use crate::log::debug;
use crate::recorders::{ReadError, Reading, Totals, UnderWay};
use crate::sampling::Placement;
use crate::session::agent::{Agent, Control, unix_millis};
use crate::session::patterns::Unmatched;
use crate::settings::Settings;
use crate::stream::record::TraceError;

/// Why there is no profile file.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// There is nothing, or it cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file's name needs something that is not there.
    #[error(transparent)]
    Name(#[from] UnsetVariable),
    /// A trace is no profile.
    #[error("{}: a trace is written as the program runs; it is complete when profiling stops", .0.display())]
    Trace(PathBuf),
    /// The file could not be written.
    #[error("the profile was not written: {0}")]
    Save(#[from] SaveError),
    /// The trace could not be finished.
    #[error("the profile was not written: {0}")]
    Finish(#[from] TraceError),
}

/// Writes the profile so far, to the file given or the one of the options. Returns its name. `with_open`:
/// probes are in, so open paths may be read from frames, if the options want that.
pub fn dump(
    agent: &Agent,
    jni: Jni<'_>,
    control: &Control,
    file: Option<&Path>,
    with_open: bool,
) -> Result<PathBuf, DumpError> {
    let Some(settings) = &control.settings else {
        return Err(ReadError::Nothing.into());
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
        trace.finish(&run)?;
        return Ok(trace.file().to_owned());
    }
    let file = match file {
        Some(file) => file.to_owned(),
        None => file_name(settings)?,
    };
    let under_way = if with_open { UnderWay::Open } else { UnderWay::Died };
    let mut profile = totals(agent, jni, control, under_way)?;
    add_hotspots_counts(agent, &mut profile, settings, jni);
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
    Ok(profile.save(file)?)
}

/// Reads all that was counted so far. What only the classes' bytes say is left to [`add_source`].
pub fn totals(
    agent: &Agent,
    jni: Jni<'_>,
    control: &Control,
    under_way: UnderWay,
) -> Result<Profile, DumpError> {
    let (Some(settings), Some(recorder), Some(shim)) = (
        &control.settings,
        control.recorder(),
        agent.host.shim_if_defined(),
    ) else {
        return Err(ReadError::Nothing.into());
    };
    let Totals {
        mut profile,
        first_methods,
    } = recorder.totals(Reading {
        host: &agent.host,
        settings,
        shim,
        jni,
        run: run_info(agent, control, settings),
        under_way,
    })?;
    profile.run.facts.set(facts::PANICS, panics());
    profile.skipped = agent.host.registry.left_alone.list();
    if let Some(first_methods) = first_methods {
        let placement = Placement::new(&profile.classes, &first_methods);
        profile.by_test = agent.marks.of_profile(&placement);
        profile.requests = agent.requests.of_profile(&agent.host.registry, &placement);
    }
    add_samples(agent, &mut profile, jni);
    Ok(profile)
}

/// Where CPU time went, and what finding that out took.
fn add_samples(agent: &Agent, profile: &mut Profile, jni: Jni<'_>) {
    profile.cpu = agent.cpu.samples(&agent.host, jni);
    if let Some(cpu) = &mut profile.cpu {
        // Of other methods the path maps have the lines.
        let left_out = profile.skipped.iter().filter(|skipped| !skipped.has_probes());
        let left_out: HashSet<(&str, Option<&str>)> = left_out
            .map(|skipped| (&*skipped.class, skipped.method.as_deref()))
            .collect();
        cpu.keep_lines(|frame| {
            let method = format!("{}{}", frame.name, frame.descriptor);
            [None, Some(&*method)]
                .into_iter()
                .any(|method| left_out.contains(&(&*frame.class, method)))
        });
        let facts = &mut profile.run.facts;
        facts.set(facts::CPU_CLOCK, agent.cpu.clock().to_owned());
        facts.set(facts::SAMPLING_MS, agent.cpu.took());
        facts.set(facts::PROBES_MS, agent.cpu.in_probes());
        if let Some(spent) = agent.cpu.threads() {
            facts.set(facts::SAMPLED_THREADS_MS, spent);
        }
    }
}

/// HotSpot's own counts, where there are no probes.
fn add_hotspots_counts(agent: &Agent, profile: &mut Profile, settings: &Settings, jni: Jni<'_>) {
    let filter = &settings.instrumenter.options().filter;
    let begin = Instant::now();
    match hotspot::read(&agent.host, jni, filter, profile) {
        Ok(methods) => {
            debug!(
                "HotSpot's counts of {} methods: {:?}",
                methods.len(),
                begin.elapsed()
            );
            profile.hotspot = methods;
        }
        Err(e) => profile.run.facts.set(facts::HOTSPOT_UNREAD, e.to_string()),
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

/// The file of the options. The agent writes profiles only: what asks for a report gets its profile next to
/// it, and the command that started the program turns it into the report.
pub fn file_name(settings: &Settings) -> Result<PathBuf, UnsetVariable> {
    let pattern = &settings.options.output.file;
    // Periodic dumps to a name with %t do not replace each other.
    let mut file = expanded(pattern)?;
    if !matches!(pattern.format(), FileFormat::Trodden | FileFormat::Trace) {
        file.set_extension("trodden");
    }
    Ok(file)
}

/// A file's name, with the number of this process and the time of now.
pub fn expanded(pattern: &FilePattern) -> Result<PathBuf, UnsetVariable> {
    let variable = |name: &str| std::env::var(name).ok();
    let name = pattern.expand(std::process::id(), SystemTime::now(), variable)?;
    Ok(PathBuf::from(name))
}

/// The description of the run.
pub fn run_info(agent: &Agent, control: &Control, settings: &Settings) -> RunInfo {
    let property = |name: &str| agent.host.jvmti.system_property(name).unwrap_or_default();
    let mut facts = Facts::default();
    facts.set(facts::OS, std::env::consts::OS);
    facts.set(facts::ARCH, std::env::consts::ARCH);
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    facts.set(facts::CPUS, cpus as u64);
    facts.set(facts::PID, std::process::id());
    facts.set(facts::ATTACHED, agent.host.late.to_string());
    let units = agent.host.registry.outputs.number();
    if units > 0 {
        facts.set(facts::INSTRUMENTED_AHEAD, units as u64);
    }
    let pairs = settings.options.pairs().into_iter();
    let options: Vec<String> = pairs.map(|(name, value)| format!("{name}={value}")).collect();
    let command = property("sun.java.command");
    let mut run = RunInfo {
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
        schedule: None,
        interval_ns: None,
        exact: false,
        options: options.join(","),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        facts,
    };
    if let Some(recorder) = control.recorder() {
        recorder.describe(settings, &mut run);
    }
    run
}
