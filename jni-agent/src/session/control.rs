//! Commands: what the agent string of an attach, or of the command line, asks for.
//!
//! The answer to a command goes into the file that option `out` names, written in one step: first a line `ok`
//! or `error: MESSAGE`, then lines `name: value`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use trodden_instrumenter::ProbeKind;
use trodden_profile::options::{Action, AgentCommand, ProfileOptions, check_place};
use trodden_profile::output;

use crate::jvm::Jni;
use crate::locks::lock;
use crate::log::{error, info, warning};
use crate::session::agent::{Agent, Control};
use crate::session::dump::{dump, file_name};
use crate::session::lease;
use crate::settings::{Settings, apply_log_options};

/// Name and value lines of an answer.
type Answer = Vec<(&'static str, String)>;

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
    let AgentCommand { action, options } = command;
    if action != Action::Start
        && ["loglevel", "log", "quiet"]
            .iter()
            .any(|name| options.is_given(name))
    {
        apply_log_options(&options);
    }
    let mut control = agent.control();
    match action {
        Action::Start => start(agent, jni, &mut control, options),
        Action::Stop => {
            let restored = agent.stop(jni, &mut control);
            let file = dump(agent, jni, &control, given_file(&options)?.as_deref(), false)
                .map_err(|e| e.to_string())?;
            Ok(vec![
                ("file", shown(&file)),
                ("restored", restored.classes.to_string()),
                ("not_restored", restored.failed.to_string()),
            ])
        }
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
            if control
                .settings
                .as_ref()
                .is_some_and(|s| s.probe == ProbeKind::Coverage)
            {
                return Err("coverage cannot be forgotten: what has run is not reported again".to_owned());
            }
            agent.reset(jni, &mut control).map_err(|e| e.to_string())?;
            Ok(Vec::new())
        }
        Action::Status => Ok(status(agent, &control)),
    }
}

fn start(
    agent: &'static Agent,
    jni: Jni<'_>,
    control: &mut Control,
    options: ProfileOptions,
) -> Result<Answer, String> {
    apply_log_options(&options);
    let settings = Settings::new(options).map_err(|e| e.to_string())?;
    // Now, as nobody wants to learn it when the program has run.
    check_place(&file_name(&settings).map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    let lease = settings
        .options
        .output
        .lease
        .as_deref()
        .map(lease::open)
        .transpose()?;
    let probe = settings.probe_name();
    let done = agent.start(jni, control, settings).map_err(|e| e.to_string())?;
    if let Some(lease) = lease
        && let Err(e) = lease::watch(agent, lease, control.session())
    {
        warning!("the profile does not end with who asked for it: {e}");
    }
    if agent.host.late && done.classes > 0 {
        warning!(
            "{} already loaded and compiled anew; this slows the program for a while \
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
    Ok(vec![
        ("probe", probe.to_owned()),
        ("retransformed", done.classes.to_string()),
        ("not_retransformed", done.failed.to_string()),
    ])
}

fn status(agent: &Agent, control: &Control) -> Answer {
    let state = match (&control.settings, control.running()) {
        (None, _) => "idle",
        (Some(_), true) => "running",
        (Some(_), false) => "stopped",
    };
    let mut answer = vec![("state", state.to_owned())];
    if let Some(settings) = &control.settings {
        let collector = lock(&agent.collector);
        let (classes, methods) = agent.host.registry.sizes();
        let skipped = agent.host.registry.skipped();
        let left_alone = skipped.iter().filter(|s| !s.has_probes()).count();
        answer.push(("probe", settings.probe_name().to_owned()));
        answer.push(("seconds", format!("{:.3}", control.seconds())));
        answer.push(("classes", classes.to_string()));
        answer.push(("methods", methods.to_string()));
        answer.push(("skipped", left_alone.to_string()));
        if settings.samples() {
            answer.push(("ticks", collector.tally.ticks.to_string()));
            answer.push(("samples", collector.sampled().0.to_string()));
        }
        if settings.bursts().is_some() {
            answer.push(("bursts", collector.tally.ticks.to_string()));
        }
        answer.push(("file", settings.options.output.file.to_string()));
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
