//! Commands: what the agent string of an attach, or of the command line, asks for.
//!
//! The answer to a command goes into the file that option `out` names, written in one step: first a line `ok`
//! or `error: MESSAGE`, then lines `name: value`.

use std::fmt::{Display, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use trodden_instrumenter::ProbeKind;
use trodden_profile::options::{
    Action, AgentCommand, BurstEvents, PlaceError, ProfileOptions, UnsetVariable, check_place,
};
use trodden_profile::output::{self, Lease};

use crate::classes::Restored;
use crate::jvm::{Jni, JvmError};
use crate::log::{error, info, warning};
use crate::recorders::{ReadError, UnderWay};
use crate::sampling::compiler_seconds;
use crate::session::agent::{Agent, Control, HostSelection};
use crate::session::dump::{DumpError, dump, expanded, file_name, totals};
use crate::session::fleet::{draw_of, watch};
use crate::session::lease;
use crate::session::spool::{SpoolPlaceError, Spooler, WindowError, check_places, finish, turn};
use crate::session::start::StartError;
use crate::settings::{Settings, SettingsError, apply_log_options};

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Nothing can be recorded with these options.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Profiling could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// There is no profile file.
    #[error(transparent)]
    Dump(#[from] DumpError),
    /// There is no window.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// Windows cannot be written.
    #[error(transparent)]
    Spool(#[from] SpoolPlaceError),
    /// A file's name needs something that is not there.
    #[error(transparent)]
    Name(#[from] UnsetVariable),
    /// The profile could not be written to its file.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The JVM refused something.
    #[error(transparent)]
    Jvm(#[from] JvmError),
    /// The file that the command line locks cannot be opened, or has no lock.
    #[error("lease: {file}: {source}")]
    Lease {
        /// The file.
        file: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Profiling has stopped, and its windows are in the spool folder.
    #[error("profiling has stopped, and its windows are in the spool folder; a file takes all counts")]
    WindowsOnly,
    /// The recorder cannot forget its counts.
    #[error("{0}")]
    KeepsCounts(&'static str),
    /// Windows have no gaps.
    #[error("with a spool folder nothing is forgotten: each window holds what is new")]
    Spools,
}

/// Name and value lines of an answer.
pub type Answer = Vec<(&'static str, String)>;

/// Runs a command on a live JVM and writes its answer. Returns whether it worked.
pub fn run(agent: &'static Agent, jni: Jni<'_>, command: AgentCommand) -> bool {
    let out = command.options.output.out.clone();
    let action = command.action;
    let result = execute(agent, jni, command);
    if let Err(e) = &result {
        error!("{action}: {e}");
    }
    if let Some(out) = out {
        answer(&out, result.as_ref().map_err(|e| e as &dyn Display));
    }
    result.is_ok()
}

/// Answers a command that could not be read.
pub fn refuse(text: &str, reason: &dyn Display) {
    error!("{reason}; the program runs without profiling");
    // The options could not be parsed as a whole, but the waiting side should not wait in vain.
    let out = text.split(',').find_map(|word| word.trim().strip_prefix("out="));
    if let Some(out) = out {
        answer(out, Err(reason));
    }
}

fn execute(agent: &'static Agent, jni: Jni<'_>, command: AgentCommand) -> Result<Answer, CommandError> {
    let AgentCommand { action, mut options } = command;
    if action != Action::Start
        && ["loglevel", "log", "quiet"]
            .iter()
            .any(|name| options.is_given(name))
    {
        apply_log_options(&options);
    }
    let mut control = agent.control();
    match action {
        Action::Start => {
            bursts_unless_told(agent, &mut options);
            start(agent, jni, &mut control, options)
        }
        Action::Stop => {
            control.drawn.command += 1;
            let restored = agent.stop(jni, &mut control);
            let file = given_file(&options)?;
            let written = finish(agent, jni, &mut control, file.as_deref(), UnderWay::Died)?;
            let mut answer = Answer::new();
            answer.extend(written.file.map(|file| ("file", shown(&file))));
            answer.extend(written.window.map(|window| ("window", shown(&window))));
            answer.push(("restored", restored.classes.to_string()));
            answer.push(("not_restored", restored.failed.to_string()));
            Ok(answer)
        }
        Action::Dump | Action::Report if control.windows.spooler.is_some() && !options.is_given("file") => {
            let window = turn(agent, jni, &mut control).ok_or(DumpError::Read(ReadError::Nothing))??;
            Ok(vec![("window", shown(&window))])
        }
        Action::Dump | Action::Report if control.writes_windows_only() && !options.is_given("file") => {
            Err(CommandError::WindowsOnly)
        }
        Action::Dump | Action::Report => {
            let file = given_file(&options)?;
            let file = dump(agent, jni, &control, file.as_deref(), control.running())?;
            Ok(vec![("file", shown(&file))])
        }
        Action::Reset => {
            if let Some(reason) = control.recorder().and_then(|recorder| recorder.keeps_counts()) {
                return Err(CommandError::KeepsCounts(reason));
            }
            if control.windows.spooler.is_some() {
                return Err(CommandError::Spools);
            }
            agent.reset(jni, &mut control)?;
            Ok(Vec::new())
        }
        Action::Status => Ok(status(agent, &control)),
    }
}

/// Contexts and k-iteration paths of a running program come from bursts, unless the options say otherwise: of
/// the JVM's own events where it gives them, which it does only to an agent that asks as it starts.
fn bursts_unless_told(agent: &Agent, options: &mut ProfileOptions) {
    let granted = agent.host.granted;
    let events = if granted.method_events && granted.steps == options.follows_steps() {
        BurstEvents::Jvm
    } else {
        BurstEvents::Probes
    };
    if options.take_bursts_unless_told(events) {
        info!(
            "only bursts are counted: burst={} (burst=off counts all)",
            options.burst
        );
    }
}

fn start(
    agent: &'static Agent,
    jni: Jni<'_>,
    control: &mut Control,
    options: ProfileOptions,
) -> Result<Answer, CommandError> {
    apply_log_options(&options);
    let Some(draw) = draw_of(&options) else {
        control.drawn = HostSelection {
            command: control.drawn.command + 1,
            ..HostSelection::default()
        };
        return begin(agent, jni, control, options);
    };
    lease::end_if_dead(agent, jni, control);
    if control.running() {
        return Err(StartError::Running.into());
    }
    // What is wrong with the options is said today, though it may matter tomorrow.
    check_places(&options)?;
    let command = control.drawn.command + 1;
    control.drawn = HostSelection {
        of: Some(format!("1/{}", draw.of)),
        yes: draw.is_drawn(SystemTime::now()),
        command,
    };
    let begun = if control.drawn.yes {
        begin(agent, jni, control, options.clone())?
    } else {
        info!("this host is not one of those that are drawn now: nothing is recorded");
        vec![("drawn", false.to_string())]
    };
    if draw.of.get() > 1
        && let Err(e) = watch(agent, draw, options, command)
    {
        warning!("it is not drawn again when the day changes: {e}");
    }
    Ok(begun)
}

/// Starts profiling, after a draw.
pub fn begin(
    agent: &'static Agent,
    jni: Jni<'_>,
    control: &mut Control,
    options: ProfileOptions,
) -> Result<Answer, CommandError> {
    let settings = Settings::new(options)?;
    // Now, as nobody wants to learn it when the program has run.
    check_file(&settings)?;
    let open = |file: &String| {
        let lease = Lease::of_another(Path::new(file));
        lease.map_err(|source| CommandError::Lease {
            file: file.clone(),
            source,
        })
    };
    let lease = settings.options.output.lease.as_ref().map(open).transpose()?;
    let probe = settings.probe_name();
    let bursts = settings.bursts().map(|_| settings.options.burst.to_string());
    lease::end_if_dead(agent, jni, control);
    let done = start_recording(agent, jni, control, settings)?;
    if let Some(lease) = lease.map(Arc::new) {
        control.lease = Some((control.session, Arc::clone(&lease)));
        if let Err(e) = lease::watch(agent, lease, control.session) {
            warning!("the profile does not end with the process that asked for it: {e}");
        }
    }
    if agent.host.late && done.classes > 0 {
        warning!(
            "{} loaded already and must be compiled again, which slows the program for a while \
             (starting it with -agentpath avoids that)",
            match done.classes {
                1 => "1 class was".to_owned(),
                n => format!("{n} classes were"),
            }
        );
    }
    if done.failed > 0 {
        warning!("{} loaded classes could not be instrumented", done.failed);
    }
    info!(
        "profiling with probe {probe}, {} loaded classes instrumented",
        done.classes
    );
    let mut answer = vec![("probe", probe.to_owned())];
    // Who did not ask for them learns that not every call is counted.
    answer.extend(bursts.map(|bursts| ("burst", bursts)));
    answer.push(("retransformed", done.classes.to_string()));
    answer.push(("not_retransformed", done.failed.to_string()));
    Ok(answer)
}

/// Checks that the profile can be written to its file, if it has one.
pub fn check_file(settings: &Settings) -> Result<(), CommandError> {
    if settings.options.writes_file() {
        check_place(&file_name(settings)?)?;
    }
    Ok(())
}

/// Starts profiling, with windows if the options want that.
pub fn start_recording(
    agent: &'static Agent,
    jni: Jni<'_>,
    control: &mut Control,
    settings: Settings,
) -> Result<Restored, CommandError> {
    if control.running() {
        return Err(StartError::Running.into());
    }
    let spooler = Spooler::new(agent, &settings.options)?;
    control.windows.send();
    let again = spooler.is_some() && control.started.is_some();
    let keeps_counts = settings.probe == ProbeKind::Coverage;
    if again && !keeps_counts {
        // A window begins with nothing: what was counted before is in windows, or in a file.
        agent.reset(jni, control)?;
    }
    let done = agent.start(jni, control, settings)?;
    if let Some(mut spooler) = spooler {
        if again && keeps_counts {
            spooler.begin_after(totals(agent, jni, control, UnderWay::Nothing)?);
        }
        control.windows.spooler = Some(spooler);
    }
    Ok(done)
}

fn status(agent: &Agent, control: &Control) -> Answer {
    let state = match (&control.settings, control.running()) {
        (None, _) => "idle",
        (Some(_), true) => "running",
        (Some(_), false) => "stopped",
    };
    let mut answer = vec![("state", state.to_owned())];
    if let Some(of) = &control.drawn.of {
        let yes = if control.drawn.yes { "drawn" } else { "not drawn" };
        answer.push(("fleet", format!("{of}, {yes}")));
    }
    if let Some(spooler) = &control.windows.spooler {
        let (number, folder) = spooler.next();
        answer.push(("spool", shown(folder)));
        answer.push(("window", number.to_string()));
    }
    if let Some(settings) = &control.settings {
        let (classes, methods) = agent.host.registry.sizes();
        let skipped = agent.host.registry.left_alone.list();
        let left_alone = skipped.iter().filter(|s| !s.has_probes()).count();
        answer.push(("probe", settings.probe_name().to_owned()));
        answer.push(("seconds", format!("{:.3}", control.seconds())));
        answer.push(("compilers", format!("{:.2}", compiler_seconds())));
        answer.push(("classes", classes.to_string()));
        answer.push(("methods", methods.to_string()));
        answer.push(("skipped", left_alone.to_string()));
        answer.extend(
            control
                .recorder()
                .into_iter()
                .flat_map(|recorder| recorder.status(settings)),
        );
        if settings.options.writes_file() {
            answer.push(("file", settings.options.output.file.to_string()));
        }
    }
    answer
}

/// The file that this very command names, if it does.
fn given_file(options: &ProfileOptions) -> Result<Option<PathBuf>, UnsetVariable> {
    let given = options.is_given("file").then_some(&options.output.file);
    given.map(expanded).transpose()
}

fn shown(file: &Path) -> String {
    std::path::absolute(file)
        .unwrap_or_else(|_| file.to_owned())
        .display()
        .to_string()
}

fn answer(out: &str, result: Result<&Answer, &dyn Display>) {
    let mut text = String::new();
    match result {
        Ok(lines) => {
            text.push_str("ok\n");
            for (name, value) in lines {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{name}: {}", one_line(value));
            }
        }
        Err(e) => {
            let _ = writeln!(text, "error: {}", one_line(&e.to_string()));
        }
    }
    if let Err(e) = output::write(Path::new(out), text.as_bytes()) {
        error!("the answer was not written: {e}");
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_lines() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("answer");
        let out = out.to_str().unwrap();
        answer(
            out,
            Ok(&vec![
                ("state", "running".to_owned()),
                ("file", "a\nb".to_owned()),
            ]),
        );
        assert_eq!(
            std::fs::read_to_string(out).unwrap(),
            "ok\nstate: running\nfile: a b\n"
        );
        refuse(
            &format!("start,probe=nonsense,out={out}"),
            &"option 'probe': unknown",
        );
        assert_eq!(
            std::fs::read_to_string(out).unwrap(),
            "error: option 'probe': unknown\n"
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
