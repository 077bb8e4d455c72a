//! `trodden attach`: control of a running JVM through HotSpot's own attach socket, never an open port.

pub mod jvms;
mod place;
pub mod protocol;
pub mod recording;
mod session;
pub mod target;

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use trodden_insight::contexts::ContextsOptions;
use trodden_profile::options::{
    Action, AgentCommand, FileFormat, FilePattern, ProfileOptions, Share, parse_duration,
};
use trodden_profile::{Profile, printable_lines};
use trodden_report::ReportOptions;

use crate::error::CliError;
use crate::output;
use crate::profile_args::{Production, ProfileArgs, for_production};
use crate::render;
use crate::run::{absolute, make_places_absolute};
use crate::sources;
use place::{Library, Scratch};
use session::Session;
use target::Target;

/// Profiles a JVM that runs already, or controls the profiler in it.
///
/// `trodden attach JVM --for 30s -o page.html` starts, waits, stops and shows what was found. The actions
/// do it step by step.
#[derive(Args)]
pub struct AttachArgs {
    /// The JVM: its process id, main class or jar, as `trodden ps` lists them.
    #[arg(value_name = "JVM")]
    jvm: String,
    /// The action; left out with --for.
    #[arg(value_enum)]
    action: Option<AttachAction>,
    /// Profile for this time (30s, 5m), then stop, put the program's own code back, and show the hot paths.
    /// Ctrl-C ends it sooner. 0: until the JVM ends or is stopped by another command, in production (below),
    /// into --file.
    #[arg(long = "for", id = "for", value_name = "TIME", value_parser = session_length, conflicts_with = "action")]
    duration: Option<Duration>,
    /// Where the result of --for goes as well; the extension picks the format, as for `trodden run`.
    #[arg(short, long, value_name = "FILE", conflicts_with = "file")]
    output: Option<String>,
    /// Directory with Java sources for the report's annotated code; may be repeated.
    #[arg(long, value_name = "DIR")]
    sources: Vec<PathBuf>,
    /// Change nothing of the program: only sample its CPU time; with start, write the profile every minute.
    #[arg(long)]
    production: bool,
    /// How long to wait for the JVM to open its attach socket.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    wait: Duration,
    #[command(flatten)]
    profile: ProfileArgs,
}

/// The action in the JVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AttachAction {
    /// Instrument the classes that are loaded and to be loaded, and record.
    Start,
    /// Stop recording and write the profile.
    Stop,
    /// Write the profile and continue.
    Dump,
    /// Forget the counts and continue.
    Reset,
    /// Report the state of the recording.
    Status,
    /// Show the hot paths or contexts until now and continue; of contexts those of a larger --phi, if it is
    /// given.
    Report,
}

/// A duration, or 0: without an end.
fn session_length(given: &str) -> Result<Duration, String> {
    match given {
        "0" => Ok(Duration::ZERO),
        _ => parse_duration(given).map_err(|e| e.to_string()),
    }
}

impl AttachArgs {
    /// Prefixes of paths can be read only by an agent that was there from the start.
    fn production(&self) -> Option<Production> {
        self.production.then_some(Production::Time)
    }
}

/// Runs `trodden attach`.
pub fn attach(args: &AttachArgs) -> Result<(), CliError> {
    let wait = args.wait;
    if args.duration.is_none() && (args.output.is_some() || !args.sources.is_empty()) {
        return Err(CliError::Usage(
            "error: --output and --sources go with --for TIME; an action writes to the file that --file names".to_owned(),
        ));
    }
    let pid = || jvms::find(&args.jvm);
    match (args.duration, args.action) {
        (Some(Duration::ZERO), _) => sample_until_the_end(args, pid()?, wait),
        (Some(duration), _) => Session {
            pid: pid()?,
            duration,
            output: args.output.as_deref(),
            sources: &args.sources,
            profile: &args.profile,
            production: args.production(),
            wait,
        }
        .run(),
        (None, Some(action)) => act(args, action, pid()?, wait),
        (None, None) => Err(what_next(&args.jvm)),
    }
}

/// The usage error for a JVM that is named without an action: the actions that there are.
fn what_next(jvm: &str) -> CliError {
    CliError::Usage(format!(
        "error: what is to be done in {jvm}?\n  \
         trodden attach {jvm} --for 30s   profiles for 30 seconds and shows the hot paths; -o page.html makes a page\n  \
         trodden attach {jvm} start       profiles until `trodden attach {jvm} stop`\n  \
         trodden attach {jvm} status      says whether it is profiled now\n  \
         trodden top {jvm}                shows live what it does"
    ))
}

/// `--for 0`: the agent is on its own from now on.
fn sample_until_the_end(args: &AttachArgs, pid: u32, wait: Duration) -> Result<(), CliError> {
    if !args.sources.is_empty() {
        return Err(CliError::Usage(
            "error: with --for 0 the JVM itself writes its profile; give --sources to `trodden report`"
                .to_owned(),
        ));
    }
    let production = Some(Production::Time);
    let profile = args
        .profile
        .with_file(args.output.as_deref())
        .sampled(production)?;
    let mut command = profile.command(Action::Start, &[])?;
    let options = &mut command.options;
    for_production(options, production)?;
    if options.output.file.format() != FileFormat::Trodden {
        return Err(CliError::Usage(format!(
            "error: with --for 0 the JVM itself writes its profile, as a .trodden file, not '{}'; make a page of it \
             with `trodden report`",
            options.output.file
        )));
    }
    make_absolute(options, &profile)?;
    send(command, pid, wait)?;
    output::complain(&format!(
        "sampling the CPU time of {pid} until it ends, or until `trodden attach {pid} stop`"
    ));
    Ok(())
}

/// One action.
fn act(args: &AttachArgs, action: AttachAction, pid: u32, wait: Duration) -> Result<(), CliError> {
    if args.production && action != AttachAction::Start {
        return Err(CliError::Usage(
            "error: --production goes with start and with --for".to_owned(),
        ));
    }
    let asked = match action {
        AttachAction::Start => Action::Start,
        AttachAction::Stop => Action::Stop,
        AttachAction::Dump => Action::Dump,
        AttachAction::Reset => Action::Reset,
        AttachAction::Status => Action::Status,
        AttachAction::Report => return report(args, pid, wait),
    };
    let mut profile = args.profile.clone();
    if asked == Action::Start {
        profile = profile.sampled(args.production())?;
    }
    let mut command = profile.command(asked, &[])?;
    if asked == Action::Start {
        for_production(&mut command.options, args.production())?;
    }
    make_absolute(&mut command.options, &args.profile)?;
    send(command, pid, wait)
}

/// Shows what the JVM has counted until now. The agent knows no reports: it dumps, and the report is made
/// here.
fn report(args: &AttachArgs, pid: u32, wait: Duration) -> Result<(), CliError> {
    let mut command = args.profile.command(Action::Dump, &["phi"])?;
    let phi = args.profile.value("phi").map(Share::from_str).transpose();
    let phi = phi.map_err(|e| CliError::Usage(format!("error: option 'phi': {e}")))?;
    make_absolute(&mut command.options, &args.profile)?;
    let channel = Channel::new(pid, wait)?;
    let scratch = &channel.scratch;
    let dumped = scratch.there("report.trodden").display().to_string();
    command.options.output.file = FilePattern::literal(&dumped);
    channel.send(command)?;
    let profile = Profile::load(scratch.here("report.trodden")).map_err(CliError::failed)?;
    // The counting in the JVM stays unchanged: a larger share is taken of what it has counted.
    let options = ReportOptions {
        sources: sources::places(&[])?,
        contexts: ContextsOptions {
            phi: phi.map(Share::get),
            ..ContextsOptions::default()
        },
        ..ReportOptions::default()
    };
    render::show(&profile, options)
}

/// The JVM has its own current directory; names on our command line are about ours.
fn make_absolute(options: &mut ProfileOptions, given: &ProfileArgs) -> Result<(), CliError> {
    if given.has("file") {
        options.output.file = absolute(&options.output.file)?;
    }
    if let Some(log) = &mut options.output.log {
        *log = absolute(&FilePattern::literal(log))?.as_str().replace("%%", "%");
    }
    make_places_absolute(options)
}

/// Sends a command to the agent, and shows its answer.
fn send(command: AgentCommand, pid: u32, wait: Duration) -> Result<(), CliError> {
    let channel = Channel::new(pid, wait)?;
    let own_out = command.options.output.out.is_some();
    let own_file = command.options.is_given("file");
    let answer = channel.send(command)?;
    if own_file && channel.is_elsewhere() {
        output::complain(&format!(
            "process {pid} has its own file system: the file is below /proc/{pid}/root"
        ));
    }
    if own_out {
        Ok(())
    } else {
        output::write(None, printable_lines(&answer).as_bytes())
    }
}

/// The way to the agent in a JVM.
struct Channel {
    jvm: protocol::Jvm,
    /// When the process was started: its number alone may become another one's.
    born: Option<u64>,
    /// Files that the JVM writes for us; gone with the channel.
    scratch: Scratch,
    timeout: Duration,
    /// The agent's path as the JVM knows it, once it is loaded.
    library: OnceCell<PathBuf>,
}

impl Channel {
    fn new(pid: u32, timeout: Duration) -> Result<Self, CliError> {
        Ok(Channel {
            born: target::birth(pid),
            jvm: protocol::Jvm::new(pid).map_err(CliError::failed)?,
            scratch: Scratch::new(pid)?,
            timeout,
            library: OnceCell::new(),
        })
    }

    /// True if the JVM still runs.
    fn is_alive(&self) -> bool {
        self.born.is_some() && target::birth(self.jvm.pid()) == self.born
    }

    /// True if the JVM sees another file system than we do.
    fn is_elsewhere(&self) -> bool {
        Target::inspect(self.jvm.pid()).is_ok_and(|target| !target.shares_root())
    }

    /// Sends a command to the agent; returns its answer.
    fn send(&self, command: AgentCommand) -> Result<String, CliError> {
        if let Some(library) = self.library.get() {
            return self.load(library, command);
        }
        let (_alone, target) = place::alone(self.jvm.pid(), self.timeout).map_err(CliError::failed)?;
        let library = Library::place(&target)?;
        let answer = self.load(&library.path, command)?;
        self.library.get_or_init(|| library.path.clone());
        Ok(answer)
    }

    fn load(&self, library: &Path, mut command: AgentCommand) -> Result<String, CliError> {
        let output = &mut command.options.output;
        let own = output.out.is_none();
        let there = || self.scratch.there("answer").display().to_string();
        let out = output.out.get_or_insert_with(there).clone();
        let loaded = self
            .jvm
            .load_agent(library, &command.to_agent_string(), self.timeout);
        let out = if own {
            self.scratch.here("answer")
        } else {
            PathBuf::from(out)
        };
        let answer = fs::read_to_string(&out).unwrap_or_default();
        if let Err(error) = loaded {
            if !self.is_alive() {
                return Err(CliError::Failed(format!(
                    "process {} ended meanwhile (was it killed?)",
                    self.jvm.pid()
                )));
            }
            let answer = answer.trim_end();
            let separator = if answer.is_empty() { "" } else { ": " };
            return Err(CliError::Failed(format!("{error}{separator}{answer}")));
        }
        Ok(answer)
    }
}
