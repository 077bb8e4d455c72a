//! Writing the profile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trodden_instrumenter::ProbeKind;
use trodden_profile::options::FileFormat;
use trodden_profile::{Profile, RunInfo};

use crate::agent::{Agent, Control, unix_millis};
use crate::jvm::guard::panics;
use crate::jvm::{Jni, JvmError};
use crate::settings::Settings;

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
    let file = match file {
        Some(file) => file.to_owned(),
        None => file_name(settings)?,
    };
    let collector = agent.collector();
    let mut run = run_info(agent, control, settings);
    let classes = collector.classes(settings.probe, &agent.registry, &agent.blocks, shim, jni)?;
    let (samples, unknown) = collector.sampled();
    let tally = collector.tally;
    let mut fact = |name: &str, value: u64| run.facts.insert(name.to_owned(), value.to_string());
    match settings.probe {
        ProbeKind::Counters => {
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
    let profile = Profile {
        run,
        classes,
        skipped: agent.registry.skipped(),
        ..Profile::default()
    };
    profile.save(&file).map_err(|e| DumpError::Save(e.to_string()))?;
    Ok(file)
}

/// The file of the options. The agent writes profiles only: what asks for a report gets its profile beside it, and
/// whoever started the program turns it into the report.
fn file_name(settings: &Settings) -> Result<PathBuf, DumpError> {
    let pattern = &settings.options.file;
    // %t is the time of this dump: periodic dumps to such a name do not replace each other.
    let name = pattern
        .expand(std::process::id(), SystemTime::now(), |variable| {
            std::env::var(variable).ok()
        })
        .map_err(|e| DumpError::Name(e.to_string()))?;
    let mut file = PathBuf::from(name);
    if pattern.format() != FileFormat::Trodden {
        file.set_extension("trodden");
    }
    Ok(file)
}

fn run_info(agent: &Agent, control: &Control, settings: &Settings) -> RunInfo {
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
    let samples = settings.samples();
    let options = settings.options.pairs();
    RunInfo {
        jvm: format!("{} {}", property("java.vm.name"), property("java.vm.version"))
            .trim()
            .to_owned(),
        command: property("sun.java.command"),
        started_ms: control.started.map_or(0, unix_millis),
        seconds: control.seconds(),
        probe: settings.probe.name().to_owned(),
        schedule: (settings.probe == ProbeKind::Yieldpoint).then(|| settings.options.schedule.to_string()),
        interval_ns: samples.then_some(settings.options.interval.as_nanos() as u64),
        exact: settings.probe == ProbeKind::Counters,
        options: options
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(","),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        facts,
    }
}
