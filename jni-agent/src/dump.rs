//! Writing the profile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trodden_instrumenter::ProbeKind;
use trodden_profile::options::FileFormat;
use trodden_profile::{ClassProfile, Profile, RunInfo, merge};

use crate::agent::{Agent, Control, unix_millis};
use crate::controller::complete;
use crate::jvm::guard::panics;
use crate::jvm::{Jni, JvmError};
use crate::settings::Settings;
use crate::structural;

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

/// Writes the profile so far, to the file given or the one of the options. Returns its name.
pub fn dump(
    agent: &Agent,
    jni: Jni<'_>,
    control: &Control,
    file: Option<&Path>,
) -> Result<PathBuf, DumpError> {
    let (Some(settings), Some(shim)) = (&control.settings, agent.shim_if_defined()) else {
        return Err(DumpError::Nothing);
    };
    if let Some(trace) = &control.trace {
        if control.running() {
            return Err(DumpError::Trace(trace.file().to_owned()));
        }
        agent.streams.flush();
        let mut run = run_info(agent, control, settings);
        run.facts
            .insert("lost".to_owned(), agent.streams.lost().to_string());
        run.facts.insert("panics".to_owned(), panics().to_string());
        trace.finish(&run).map_err(DumpError::Save)?;
        return Ok(trace.file().to_owned());
    }
    let file = match file {
        Some(file) => file.to_owned(),
        None => file_name(settings)?,
    };
    if settings.probe == ProbeKind::Events {
        dump_streams(agent, control, settings, &file)?;
        return Ok(file);
    }
    let collector = agent.collector();
    let mut run = run_info(agent, control, settings);
    let (classes, first_methods) =
        collector.classes(settings.probe, &agent.registry, &agent.blocks, shim, jni)?;
    let (samples, unknown) = collector.sampled();
    let tally = collector.tally;
    let mut fact = |name: &str, value: u64| run.facts.insert(name.to_owned(), value.to_string());
    match settings.probe {
        ProbeKind::Counters | ProbeKind::Structural => {
            fact("lost", shim.lost(jni)?.max(0) as u64);
        }
        probe => {
            fact("ticks", tally.ticks);
            fact("overruns", tally.overruns);
            fact("samples", samples);
            fact("unknown_samples", unknown);
            if probe == ProbeKind::Yieldpoint {
                fact("short_windows", tally.short_windows);
                fact("window_path_ends", tally.window_path_ends);
                if settings.span().is_some() {
                    fact("window_ns", tally.window_ns);
                    fact("blocked_windows", tally.blocked_windows);
                }
                fact("lost", tally.holes);
            } else {
                fact("frames", tally.frames);
                fact("invalid_slots", tally.invalid_slots);
                fact("implausible", tally.implausible);
            }
        }
    }
    fact("panics", panics());
    drop(collector);
    if let Some(renumbered) = settings.renumbered.get() {
        let (classes, took) = renumbered.sent.get().copied().unwrap_or_default();
        fact("classes_renumbered", classes as u64);
        fact("renumbering_ms", took.as_millis() as u64);
    }
    let mut profile = Profile {
        run,
        classes,
        skipped: agent.registry.skipped(),
        ..Profile::default()
    };
    if settings.renumbered.get().is_some() {
        profile.classes = as_one(profile.classes)?;
    }
    if settings.probe == ProbeKind::Structural {
        structural::complete(&mut profile, &first_methods, agent, settings, shim, jni)?;
    }
    if settings.retires {
        complete(&mut profile, &first_methods, &agent.ledger());
        let recompilations = agent.recompilations().to_string();
        profile
            .run
            .facts
            .insert("recompilations".to_owned(), recompilations);
    }
    profile.save(&file).map_err(|e| DumpError::Save(e.to_string()))?;
    Ok(file)
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

/// Writes what the analyses of the event stream know.
fn dump_streams(agent: &Agent, control: &Control, settings: &Settings, file: &Path) -> Result<(), DumpError> {
    let pipeline = agent.streams.pipeline().ok_or(DumpError::Nothing)?;
    agent.streams.flush();
    let run = run_info(agent, control, settings);
    let mut profile = pipeline
        .profile_of(run, &agent.registry.method_table())
        .map_err(|e| DumpError::Analysis(e.to_string()))?;
    let mut fact = |name: &str, value: u64| profile.run.facts.insert(name.to_owned(), value.to_string());
    fact("lost", agent.streams.lost());
    if settings.bursts().is_some() {
        let tally = agent.collector().tally;
        fact("bursts", tally.ticks);
        fact("burst_ns", tally.window_ns);
        fact("bursts_skipped", agent.streams.revisits_skipped());
        fact("bursts_too_deep", agent.walker.too_deep());
        if settings.options.has_events_of_jvm() {
            fact("burst_switch_ns", agent.method_events.switching());
        }
    }
    if settings.follows_stacks() {
        let (walks, given_up) = agent.streams.walks();
        fact("stacks_walked", walks);
        fact("stacks_given_up", given_up);
    }
    if settings.alloc_interval().is_some() {
        fact("alloc_samples", agent.streams.charges());
    }
    fact("panics", panics());
    profile.skipped = agent.registry.skipped();
    profile.save(file).map_err(|e| DumpError::Save(e.to_string()))
}

/// The file of the options. The agent writes profiles only: what asks for a report gets its profile beside it, and
/// whoever started the program turns it into the report.
pub fn file_name(settings: &Settings) -> Result<PathBuf, DumpError> {
    let pattern = &settings.options.file;
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
    let property = |name: &str| agent.jvmti.system_property(name).unwrap_or_default();
    let mut facts = BTreeMap::new();
    let mut fact = |name: &str, value: String| facts.insert(name.to_owned(), value);
    fact("os", std::env::consts::OS.to_owned());
    fact("arch", std::env::consts::ARCH.to_owned());
    fact(
        "cpus",
        std::thread::available_parallelism()
            .map_or(0, usize::from)
            .to_string(),
    );
    fact("pid", std::process::id().to_string());
    fact("attached", agent.late.to_string());
    let units = agent.registry.units();
    if units > 0 {
        fact("instrumented_ahead", units.to_string());
    }
    let samples = settings.samples();
    let options = settings.options.pairs();
    RunInfo {
        jvm: format!("{} {}", property("java.vm.name"), property("java.vm.version"))
            .trim()
            .to_owned(),
        command: property("sun.java.command"),
        started_ms: control.started.map_or(0, unix_millis),
        seconds: control.seconds(),
        probe: settings.probe_name().to_owned(),
        schedule: (settings.probe == ProbeKind::Yieldpoint).then(|| settings.options.schedule.to_string()),
        interval_ns: samples.then_some(settings.options.interval.as_nanos() as u64),
        exact: matches!(settings.probe, ProbeKind::Counters | ProbeKind::Events),
        options: options
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(","),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        facts,
    }
}
