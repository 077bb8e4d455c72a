//! Commands: what the agent string of an attach, or of the command line, asks for.
//!
//! The answer to a command goes into the file that option `out` names, written in one step: first a line `ok`
//! or `error: MESSAGE`, then lines `name: value`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use trodden_instrumenter::ProbeKind;
use trodden_profile::options::{Action, AgentCommand, BurstEvents, ProfileOptions, check_place};
use trodden_profile::output;

use crate::classes::retransform::Restored;
use crate::jvm::Jni;
use crate::log::{error, info, warning};
use crate::recorders::{ReadError, UnderWay};
use crate::session::agent::{Agent, Control, Drawn};
use crate::session::dump::{dump, file_name, totals};
use crate::session::fleet::{draw_of, watch};
use crate::session::lease;
use crate::session::spool::{Spooler, check_places, finish, turn};
use crate::session::start::StartError;
use crate::settings::{Settings, apply_log_options};

/// Name and value lines of an answer.
pub type Answer = Vec<(&'static str, String)>;

/// Runs a command on a live JVM and writes its answer. Returns whether it worked.
pub fn run(agent: &'static Agent, jni: Jni<'_>, command: AgentCommand) -> bool {
    let out = command.options.output.out.clone();
    let action = command.action;
    let result = execute(agent, jni, command);
    if let Err(message) = &result {
        error!("{action}: {message}");
    }
    if let Some(out) = out {
        answer(&out, &result);
    }
    result.is_ok()
}

/// Answers a command that could not be read.
pub fn refuse(text: &str, message: &str) {
    error!("{message}; the program runs without profiling");
    // The options could not be parsed as a whole, but the waiting side should not wait in vain.
    let out = text.split(',').find_map(|word| word.trim().strip_prefix("out="));
    if let Some(out) = out {
        answer(out, &Err(message.to_owned()));
    }
}

fn execute(agent: &'static Agent, jni: Jni<'_>, command: AgentCommand) -> Result<Answer, String> {
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
            let written = finish(agent, jni, &mut control, file.as_deref(), UnderWay::Died)
                .map_err(|e| e.to_string())?;
            let mut answer = Answer::new();
            answer.extend(written.file.map(|file| ("file", shown(&file))));
            answer.extend(written.window.map(|window| ("window", shown(&window))));
            answer.push(("restored", restored.classes.to_string()));
            answer.push(("not_restored", restored.failed.to_string()));
            Ok(answer)
        }
        Action::Dump | Action::Report if control.windows.spooler.is_some() && !options.is_given("file") => {
            match turn(agent, jni, &mut control) {
                Some(Ok(window)) => Ok(vec![("window", shown(&window))]),
                Some(Err(e)) => Err(e.to_string()),
                None => Err(ReadError::Nothing.to_string()),
            }
        }
        Action::Dump | Action::Report if control.writes_windows_only() && !options.is_given("file") => Err(
            "profiling has stopped, and its windows are in the spool folder; a file takes all counts"
                .to_owned(),
        ),
        Action::Dump | Action::Report => {
            let file = dump(
                agent,
                jni,
                &control,
                given_file(&options)?.as_deref(),
                control.running(),
            )
            .map_err(|e| e.to_string())?;
            Ok(vec![("file", shown(&file))])
        }
        Action::Reset => {
            if let Some(reason) = control.recorder().and_then(|recorder| recorder.keeps_counts()) {
                return Err(reason.to_owned());
            }
            if control.windows.spooler.is_some() {
                return Err(
                    "with a spool folder nothing is forgotten: each window holds what is new".to_owned(),
                );
            }
            agent.reset(jni, &mut control).map_err(|e| e.to_string())?;
            Ok(Vec::new())
        }
        Action::Status => Ok(status(agent, &control)),
    }
}

/// Contexts of a running program come from bursts, unless the options say otherwise: of the JVM's own events
/// where it gives them, which it does only to who asks as it starts.
fn bursts_unless_told(agent: &Agent, options: &mut ProfileOptions) {
    let events = if agent.host.granted.method_events {
        BurstEvents::Jvm
    } else {
        BurstEvents::Probes
    };
    if options.take_bursts_unless_told(events) {
        info!(
            "calls are counted in bursts: burst={} (burst=off counts every call)",
            options.burst
        );
    }
}

fn start(
    agent: &'static Agent,
    jni: Jni<'_>,
    control: &mut Control,
    options: ProfileOptions,
) -> Result<Answer, String> {
    apply_log_options(&options);
    let Some(draw) = draw_of(&options) else {
        control.drawn = Drawn {
            command: control.drawn.command + 1,
            ..Drawn::default()
        };
        return begin(agent, jni, control, options);
    };
    lease::end_if_dead(agent, jni, control);
    if control.running() {
        return Err(StartError::Running.to_string());
    }
    // What is wrong with the options is said today, though it may matter tomorrow.
    check_places(&options)?;
    let command = control.drawn.command + 1;
    control.drawn = Drawn {
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

/// Starts profiling, for whoever has drawn already.
pub fn begin(
    agent: &'static Agent,
    jni: Jni<'_>,
    control: &mut Control,
    options: ProfileOptions,
) -> Result<Answer, String> {
    let settings = Settings::new(options).map_err(|e| e.to_string())?;
    // Now, as nobody wants to learn it when the program has run.
    if settings.options.writes_file() {
        check_place(&file_name(&settings).map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    }
    let lease = settings
        .options
        .output
        .lease
        .as_deref()
        .map(lease::open)
        .transpose()?;
    let probe = settings.probe_name();
    let bursts = settings.bursts().map(|_| settings.options.burst.to_string());
    lease::end_if_dead(agent, jni, control);
    let done = start_recording(agent, jni, control, settings)?;
    if let Some(lease) = lease.map(Arc::new) {
        control.lease = Some((control.session(), Arc::clone(&lease)));
        if let Err(e) = lease::watch(agent, lease, control.session()) {
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

/// Starts profiling, with windows if the options want that.
pub fn start_recording(
    agent: &'static Agent,
    jni: Jni<'_>,
    control: &mut Control,
    settings: Settings,
) -> Result<Restored, String> {
    if control.running() {
        return Err(StartError::Running.to_string());
    }
    let spooler = Spooler::new(agent, &settings.options)?;
    control.windows.send();
    let again = spooler.is_some() && control.started.is_some();
    let keeps_counts = settings.probe == ProbeKind::Coverage;
    if again && !keeps_counts {
        // A window begins with nothing: what was counted before is in windows, or in a file.
        agent.reset(jni, control).map_err(|e| e.to_string())?;
    }
    let done = agent.start(jni, control, settings).map_err(|e| e.to_string())?;
    if let Some(mut spooler) = spooler {
        if again && keeps_counts {
            let before = totals(agent, jni, control, UnderWay::Nothing).map_err(|e| e.to_string())?;
            spooler.begin_after(before);
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
fn given_file(options: &ProfileOptions) -> Result<Option<PathBuf>, String> {
    if !options.is_given("file") {
        return Ok(None);
    }
    let (pid, now) = (std::process::id(), std::time::SystemTime::now());
    let expanded = options.output.file.expand(pid, now, |v| std::env::var(v).ok());
    Ok(Some(PathBuf::from(expanded.map_err(|e| e.to_string())?)))
}

fn shown(file: &Path) -> String {
    std::path::absolute(file)
        .unwrap_or_else(|_| file.to_owned())
        .display()
        .to_string()
}

fn answer(out: &str, result: &Result<Answer, String>) {
    let mut text = String::new();
    match result {
        Ok(lines) => {
            text.push_str("ok\n");
            for (name, value) in lines {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{name}: {}", one_line(value));
            }
        }
        Err(message) => {
            let _ = writeln!(text, "error: {}", one_line(message));
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
            &Ok(vec![("state", "running".to_owned()), ("file", "a\nb".to_owned())]),
        );
        assert_eq!(
            std::fs::read_to_string(out).unwrap(),
            "ok\nstate: running\nfile: a b\n"
        );
        refuse(
            &format!("start,probe=nonsense,out={out}"),
            "option 'probe': unknown",
        );
        assert_eq!(
            std::fs::read_to_string(out).unwrap(),
            "error: option 'probe': unknown\n"
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
