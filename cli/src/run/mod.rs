//! `trodden run`: start a program under the agent, then show what it did.

mod before;
mod build_tools;
mod files;
mod launcher;
mod notice;
mod patterns;
mod recent;
mod repeat;
mod signals;

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

use std::os::unix::process::ExitStatusExt;

use clap::Args;
use trodden_profile::options::{Action, AgentCommand, FileFormat, ProfileOptions};
use trodden_profile::{Profile, facts};
use trodden_report::ReportOptions;

use crate::agent_library;
use crate::argv;
use crate::error::CliError;
use crate::memory::{MemoryArgs, ProgramMemory};
use crate::merge::load_merged;
use crate::output;
use crate::profile_args::{Production, ProfileArgs, for_production, warn_of_bursts};
use crate::render::{self, Format};
use crate::sources;
use files::Destination;
pub use files::absolute;
pub use launcher::Launcher;
use notice::Forwarding;
use recent::{MAX_KEPT, RecentRuns};

/// Runs a command under the profiler and shows its hot paths (on standard error).
#[derive(Args, Clone)]
#[command(after_help = "\
Exit code: the command's own, or 128 + N when signal N ended it; 1 if it could not be started.
Standard output is the command's alone; everything of ours goes to standard error.")]
pub struct RunArgs {
    #[command(flatten)]
    profile: ProfileArgs,
    /// Where the result goes; %p, %t, %{ENV} as in --file. The extension picks the format: .trodden, .html,
    /// .json, .txt, .dot, .svg, .collapsed, .speedscope.json, .pb.gz, .otlp, .otlp.json, .firefox.json,
    /// .trace [default: a .trodden file in a folder of the latest runs, which is named at the end].
    #[arg(short, long, value_name = "FILE", conflicts_with = "file")]
    output: Option<String>,
    /// Directory with Java sources for the report's annotated code; may be repeated.
    #[arg(long, value_name = "DIR")]
    sources: Vec<PathBuf>,
    /// Change nothing of the program: only sample its CPU time, and write the profile every minute.
    /// =prefixes: keep a register in it as well, and read at safepoints how paths begin.
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "time", hide_possible_values = true)]
    production: Option<Production>,
    /// How many hot paths are shown after the run.
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
    /// Runs the command N times, each with a profile of its own, for trodden diff; all is measured each
    /// time. Two commands, with --versus between them, run in turn. In -o, %n is the number of the run and
    /// %c is `before` or `after` [default: run-%n.trodden, of two commands %c-%n.trodden].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = ["file", "again"])]
    repeat: Option<u32>,
    #[command(flatten)]
    memory: MemoryArgs,
    /// The command: a java launcher, or any program that starts one.
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs `trodden run`.
pub fn run(args: &RunArgs) -> Result<ExitCode, CliError> {
    match args.repeat {
        Some(times) => repeat::repeat(args, times),
        None => once(args).map(ExitCode::from),
    }
}

/// Runs the command once; its exit code.
fn once(args: &RunArgs) -> Result<u8, CliError> {
    let profile = args.profile.with_file(args.output.as_deref());
    let mut options = profile.sampled(args.production)?.options()?;
    for_production(&mut options, args.production)?;
    let recent = if options.writes_file() && !options.is_given("file") {
        RecentRuns::find()
    } else {
        None
    };
    if let Some(recent) = &recent {
        options.output.file = recent.file()?;
    }
    before::check(&options, &args.sources)?;
    make_places_absolute(&mut options)?;
    let include = options.code.include.clone();
    let library = agent_library::find()?;
    let (program, arguments) = args
        .command
        .split_first()
        .ok_or_else(|| CliError::Usage("error: no command is given".to_owned()))?;
    let launcher = Launcher::for_program(program);
    // With a spool folder the result is in there, unless a file is asked for as well.
    let destination = if options.writes_file() {
        Some(Destination::new(&options.output.file, launcher)?)
    } else {
        None
    };
    let spool = options.fleet.spool.clone();
    let memory = ProgramMemory::new(&args.memory, launcher == Launcher::Java, arguments, &mut options)?;
    if let Launcher::Build(tool) = launcher {
        tool.prepare(&mut options, &env::current_dir().unwrap_or_default());
    }
    if let Some(destination) = &destination {
        options.output.file = destination.agent_pattern().clone();
    }
    let quiet = options.output.quiet;
    if !quiet {
        warn_of_bursts(&options, false);
    }

    let agent = AgentCommand {
        action: Action::Start,
        options,
    };
    let mut command = Command::new(program);
    launcher.prepare(&mut command, arguments, &library, &agent.to_agent_string(), None)?;

    let (status, pid) = supervise(&mut command, program)?;
    let memory = memory.as_ref().map(|memory| (memory, pid));
    if let Some(destination) = &destination {
        if let Err(error) = show(args, destination, memory, launcher, quiet) {
            output::complain(&format!("{error}"));
        }
        if let Some(recent) = &recent {
            recent.forget_the_oldest();
        }
        // `java` itself has one JVM, whose agent says it.
        if launcher.starts_several() && !quiet {
            patterns::warn(&include, &destination.written());
        }
    }
    if let Some(recent) = recent.filter(|_| !quiet) {
        output::say(&format!(
            "the latest {MAX_KEPT} profiles of runs without -o are kept in {}",
            recent.folder().display()
        ));
    }
    if let Some(folder) = spool.filter(|_| !quiet) {
        output::say(&format!("windows: {folder}"));
    }
    Ok(exit_code(status))
}

/// Makes the spool folder and the file of the key absolute: JVMs that a command starts may have other current
/// folders, and so has one that is attached to.
pub fn make_places_absolute(options: &mut ProfileOptions) -> Result<(), CliError> {
    let fleet = &mut options.fleet;
    for place in [&mut fleet.spool, &mut fleet.hmac_key].into_iter().flatten() {
        let absolute = std::path::absolute(&*place).map_err(|e| CliError::Failed(format!("{place}: {e}")))?;
        *place = absolute.display().to_string();
    }
    Ok(())
}

/// Starts the command and waits for its end while signals are handed on to it. If its standard error is a
/// pipe, that is handed on without what JVMs say of `JAVA_TOOL_OPTIONS`. Returns its process id as well.
pub fn supervise(command: &mut Command, program: &OsString) -> Result<(ExitStatus, u32), CliError> {
    let name = program.to_string_lossy();
    let forwarder = signals::Forwarder::install()
        .map_err(|e| CliError::Failed(format!("cannot install signal handlers: {e}")))?;
    let mut child = command.spawn().map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => {
            let near = argv::near_launcher(program);
            CliError::Failed(format!("cannot start '{name}': command not found{near}"))
        }
        _ => CliError::Failed(format!("cannot start '{name}': {e}")),
    })?;
    let pid = child.id();
    let forwarding = child.stderr.take().map(Forwarding::new);
    let status = forwarder.wait(&mut child);
    if let Some(forwarding) = forwarding {
        forwarding.finish();
    }
    let status = status.map_err(|e| CliError::Failed(format!("cannot wait for '{name}': {e}")))?;
    Ok((status, pid))
}

/// The exit code of a command as ours.
pub fn exit_code(status: ExitStatus) -> u8 {
    // A wait status holds 8 bits of code, and signal numbers are below 128.
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => 128 + signal as u8,
        (None, None) => 1,
    }
}

/// Turns what the agent wrote into what was asked for, and says where it is.
fn show(
    args: &RunArgs,
    destination: &Destination,
    memory: Option<(&ProgramMemory, u32)>,
    launcher: Launcher,
    quiet: bool,
) -> Result<(), CliError> {
    let written = destination.written();
    if written.is_empty() {
        return Err(CliError::Failed(format!(
            "no profile was written to {} ({})",
            destination.wanted(),
            launcher.nothing_written()
        )));
    }
    let whole = ReportOptions {
        sources: sources::places(&args.sources)?,
        ..ReportOptions::default()
    };
    if let Some((memory, pid)) = memory {
        remember(memory, &written, pid)?;
    }
    let results = destination.finish(&written, &whole)?;
    if quiet {
        return Ok(());
    }
    if destination.wanted().format() == FileFormat::Trace {
        for trace in &written {
            let name = shell_word(&trace.display().to_string());
            output::say(&format!(
                "trace: {name}\nas a profile: trodden replay {name} -o {}",
                shell_word(&trace.with_extension("trodden").display().to_string())
            ));
        }
        return Ok(());
    }
    let profile = load_merged(&written)?;
    let options = ReportOptions {
        width: output::width(),
        top: args.top,
        ..whole
    };
    output::say("");
    output::show(&render::render(
        &profile,
        Format::Text,
        &options,
        output::colour(&io::stderr()),
    )?);
    for result in &results {
        let what = if result.report { "report" } else { "profile" };
        output::say(&format!("{what}: {}", result.path.display()));
    }
    if let [result] = results.as_slice()
        && !result.report
    {
        output::say(&format!(
            "as a page: trodden report {} -o page.html",
            shell_word(&result.path.display().to_string())
        ));
    }
    Ok(())
}

/// Completes what the agent wrote with what earlier runs know of methods that were left alone, and remembers
/// what this run found. `pid`: of the JVM; other runs may have written profiles to the same folder meanwhile.
fn remember(memory: &ProgramMemory, written: &[PathBuf], pid: u32) -> Result<(), CliError> {
    for file in written {
        let mut profile = Profile::load(file).map_err(CliError::failed)?;
        if profile.run.facts.get(facts::PID) != Some(u64::from(pid)) {
            continue;
        }
        memory.keep(&profile);
        if memory.is_used() {
            memory.complete(&mut profile);
            profile.save(file).map_err(CliError::failed)?;
        }
    }
    Ok(())
}

/// A word as a shell reads it.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
