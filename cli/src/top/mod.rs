//! `trodden top`: what a running JVM does, live in the terminal. However it is left, the JVM gets its own
//! code back.

mod draw;
mod elsewhere;
mod keys;
mod model;
mod screen;
#[cfg(test)]
mod tests;
mod worker;

use std::env;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use clap::Args;
use signal_hook::consts::SIGQUIT;
use trodden_profile::Profile;
use trodden_profile::options::{Action, AgentCommand, Probe, parse_duration};
use trodden_report::ReportOptions;

use crate::attach::jvms;
use crate::attach::recording::Recording;
use crate::error::CliError;
use crate::interrupt;
use crate::output;
use crate::profile_args::{ProfileArgs, for_production};
use crate::render;
use crate::sources;
use model::Model;
use screen::Screen;
use worker::{UiEvent, watch};

/// How long a key is waited for until signals and events are looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Shows live what a running JVM does: hot methods, their paths and branches, and how often they run.
///
/// The JVM's own code is back when the view is left, by q, Ctrl-C, a signal, or a closed terminal. Keys:
/// arrows move, Enter opens a method or the time elsewhere, Backspace goes back, t e d sort, r changes
/// between the last interval and all since the start, space freezes, ? explains, q leaves.
#[derive(Args)]
pub struct TopArgs {
    /// The JVM: its process id, main class or jar, as `trodden ps` lists them.
    #[arg(value_name = "JVM")]
    jvm: String,
    /// Time from one look to the next.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    every: Duration,
    /// Directory with Java sources for conditions in the source's own words; may be repeated.
    #[arg(long, value_name = "DIR")]
    sources: Vec<PathBuf>,
    /// How long to wait for the JVM to open its attach socket.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    wait: Duration,
    #[command(flatten)]
    profile: ProfileArgs,
}

/// A duration between two looks. Each look makes the JVM write its profile.
fn interval(given: &str) -> Result<Duration, String> {
    match parse_duration(given).map_err(|e| e.to_string())? {
        short if short < Duration::from_millis(200) => Err("less than 200ms".to_owned()),
        long if long > Duration::from_secs(3600) => Err("more than 1h".to_owned()),
        good => Ok(good),
    }
}

/// Why the view was left.
enum End {
    /// By a key.
    Quit,
    /// By a signal.
    Interrupted,
    /// There is no JVM any more.
    Gone,
    /// The JVM did not answer.
    Failed(CliError),
    /// The terminal gave trouble.
    Terminal(io::Error),
}

/// Runs `trodden top`.
pub fn top(args: &TopArgs) -> Result<(), CliError> {
    let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() || dumb {
        return Err(CliError::Usage(format!(
            "error: `trodden top` needs a terminal; for a file, a pipe or a script there is \
             `trodden attach {} --for 30s -o page.html`",
            args.jvm
        )));
    }
    // Everything that can be wrong on this side, before the JVM is touched.
    let command = command(&args.profile)?;
    let places = sources::places(&args.sources)?;
    let pid = jvms::find(&args.jvm)?;
    let interrupted = interrupt::flag(&[SIGQUIT])?;
    output::complain(&format!("starting in {pid}"));
    let recording = Recording::start(pid, command, args.wait)?;
    let mut model = Model::new(pid, recording.name(), places.clone());
    // Whatever happens in here, a panic too: the orders end, hence the recording does, and the scope waits
    // for it.
    let (end, last) = thread::scope(|scope| {
        let (orders, from_main) = mpsc::channel();
        let (events, to_main) = mpsc::channel();
        let every = args.every;
        keys::listen(events.clone());
        let signals = &interrupted;
        let worker = scope.spawn(move || watch(recording, every, &events, &from_main, signals));
        let end = show(&mut model, &to_main, &interrupted).unwrap_or_else(End::Terminal);
        drop(orders);
        (end, worker.join())
    });
    let last = last.map_err(|_| CliError::Failed("the thread that asks the JVM has panicked".to_owned()))?;
    finish(pid, end, last, places)
}

/// The last messages, when the view is gone.
fn finish(pid: u32, end: End, last: Result<Profile, CliError>, places: Vec<PathBuf>) -> Result<(), CliError> {
    match end {
        End::Failed(error) => return Err(error),
        End::Terminal(error) => {
            last?;
            return Err(CliError::Failed(format!(
                "the terminal is gone: {error}; {pid} runs its own code again"
            )));
        }
        End::Quit | End::Interrupted => {
            last?;
            output::complain(&format!("stopped; {pid} runs its own code again"));
        }
        End::Gone => {
            output::complain("the JVM has ended; this is what it did");
            let options = ReportOptions {
                sources: places,
                ..ReportOptions::default()
            };
            render::show(&last?, options)?;
        }
    }
    Ok(())
}

/// How the agent is to be started. Rates need counts that continue, so the default is the exact counters.
fn command(profile: &ProfileArgs) -> Result<AgentCommand, CliError> {
    let usage = |text: String| Err(CliError::Usage(format!("error: {text}")));
    for (name, why) in [
        ("file", "shows what it finds, and writes no file"),
        ("spool", "shows what it finds, and writes no window"),
        ("dump", "says by --every when the JVM is asked"),
    ] {
        if profile.has(name) {
            return usage(format!(
                "`trodden top` {why}; --{name} is for `trodden attach JVM --for 30s`"
            ));
        }
    }
    let mut command = profile.sampled(None)?.command(Action::Start, &[])?;
    let options = &mut command.options;
    if let Some(kind) = profile.value("profile").filter(|kind| *kind != "paths") {
        return usage(format!(
            "`trodden top` shows paths; for --profile {kind} there is `trodden attach JVM --for 30s`"
        ));
    }
    match options.probe {
        Probe::Counters | Probe::Yieldpoint | Probe::Safepoint => {}
        Probe::Auto if !profile.has("probe") => options.probe = Probe::Counters,
        probe => {
            return usage(format!(
                "`trodden top` shows rates, and --probe {probe} does not count all the time; --probe counters does"
            ));
        }
    }
    for_production(options, None)?;
    Ok(command)
}

/// Shows the view until it is left.
fn show(model: &mut Model, events: &Receiver<UiEvent>, interrupted: &AtomicBool) -> io::Result<End> {
    let mut screen = Screen::enter()?;
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(End::Interrupted);
        }
        screen.draw(model)?;
        match events.recv_timeout(POLL_INTERVAL) {
            Ok(UiEvent::Snapshot(snapshot)) => model.see(*snapshot),
            Ok(UiEvent::Keys(keys)) if keys.iter().all(|key| model.press(*key)) => {}
            Ok(UiEvent::Keys(_)) => return Ok(End::Quit),
            Ok(UiEvent::Gone) => return Ok(End::Gone),
            // After a signal the thread ends on its own.
            Ok(UiEvent::Failed(_)) if interrupted.load(Ordering::Relaxed) => return Ok(End::Interrupted),
            Ok(UiEvent::Failed(error)) => return Ok(End::Failed(error)),
            Ok(UiEvent::Closed(error)) => return Ok(End::Terminal(error)),
            // The thread that reads keys lives as long as we do.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }
}
