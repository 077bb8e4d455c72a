//! `trodden attach`: control of a running JVM through HotSpot's own attach socket, never an open port.

pub mod protocol;
pub mod target;

use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use trodden_profile::options::{Action, FilePattern, Share};
use trodden_profile::{Profile, printable_lines};
use trodden_report::ContextsOptions;

use crate::agent_library;
use crate::error::CliError;
use crate::output;
use crate::profile_args::ProfileArgs;
use crate::render::{self, Format, RenderOptions};
use crate::run::absolute;
use crate::sources;

/// Controls the profiler in a running JVM.
#[derive(Args)]
pub struct AttachArgs {
    /// Process id of the JVM.
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(i32::MAX)))]
    pid: u32,
    /// What to do.
    #[arg(value_enum)]
    action: AttachAction,
    /// How long to wait for the JVM to open its attach socket, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u64,
    #[command(flatten)]
    profile: ProfileArgs,
}

/// What to do in the JVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AttachAction {
    /// Instrument the classes that are loaded and to be loaded, and record.
    Start,
    /// Stop recording and write the profile.
    Stop,
    /// Write the profile and go on.
    Dump,
    /// Forget the counts and go on.
    Reset,
    /// Report what is going on.
    Status,
    /// Show the hot paths or contexts until now and go on; of contexts those of a larger --phi, if it is
    /// given.
    Report,
}

/// Does it.
pub fn attach(args: &AttachArgs) -> Result<(), CliError> {
    // The agent knows no reports: it dumps, and the report is made here.
    let (action, ours) = match args.action {
        AttachAction::Start => (Action::Start, &[][..]),
        AttachAction::Stop => (Action::Stop, &[][..]),
        AttachAction::Dump => (Action::Dump, &[][..]),
        AttachAction::Reset => (Action::Reset, &[][..]),
        AttachAction::Status => (Action::Status, &[][..]),
        AttachAction::Report => (Action::Dump, &["phi"][..]),
    };
    let mut command = args.profile.command(action, ours)?;
    let phi = args.profile.value("phi").filter(|_| !ours.is_empty());
    let phi = phi.map(Share::from_str).transpose();
    let phi = phi.map_err(|e| CliError::Usage(format!("error: option 'phi': {e}")))?;
    let options = &mut command.options;
    // The JVM has its own current directory; names on our command line are about ours.
    if args.profile.has("file") {
        options.output.file = absolute(&options.output.file)?;
    }
    if let Some(log) = &mut options.output.log {
        *log = absolute(&FilePattern::literal(log))?.as_str().replace("%%", "%");
    }
    let library = agent_library::find()?;

    let scratch = tempfile::Builder::new()
        .prefix("trodden-attach-")
        .tempdir()
        .map_err(|e| CliError::Failed(format!("cannot make a temporary directory: {e}")))?;
    // Only its owner may look inside, and a JVM of another user could not write there: only root attaches to
    // those.
    target::let_in(scratch.path(), args.pid)?;
    let scratch_file = |name: &str| scratch.path().join(name).display().to_string();
    let own_out = options.output.out.clone();
    let out = own_out.clone().unwrap_or_else(|| scratch_file("answer"));
    options.output.out = Some(out.clone());
    let dumped = scratch_file("report.trodden");
    if args.action == AttachAction::Report {
        options.output.file = FilePattern::literal(&dumped);
    }
    let jvm = protocol::Jvm::new(args.pid).map_err(CliError::failed)?;
    let timeout = Duration::from_secs(args.wait);
    let loaded = jvm.load_agent(&library, &command.to_agent_string(), timeout);
    let answer = fs::read_to_string(&out).unwrap_or_default();
    if let Err(error) = loaded {
        let answer = answer.trim_end();
        let separator = if answer.is_empty() { "" } else { ": " };
        return Err(CliError::Failed(format!("{error}{separator}{answer}")));
    }
    if args.action == AttachAction::Report {
        let profile = Profile::load(Path::new(&dumped)).map_err(CliError::failed)?;
        // What the JVM counts stays as it is: a larger share is taken of what it has counted.
        let options = RenderOptions {
            sources: sources::places(&[])?,
            width: output::width(),
            colour: output::colour(&io::stdout()),
            contexts: ContextsOptions {
                phi: phi.map(Share::get),
                ..ContextsOptions::default()
            },
            ..RenderOptions::default()
        };
        return output::write(None, &render::render(&profile, Format::Text, &options)?);
    }
    if own_out.is_none() {
        output::write(None, printable_lines(&answer).as_bytes())?;
    }
    Ok(())
}
