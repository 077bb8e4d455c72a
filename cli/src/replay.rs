//! `trodden replay`: any analysis over a recorded event stream.

use std::fs::File;
use std::io::{BufReader, IsTerminal, stderr};
use std::path::PathBuf;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use trodden_analyses::stream::{Pipeline, Replayed, replay as run_replay};
use trodden_profile::options::{self, FileFormat, check_place, option_named};
use trodden_profile::trace::TraceReader;
use trodden_profile::{Profile, facts};
use trodden_report::ReportOptions;

use crate::error::CliError;
use crate::output;
use crate::profile_args::ProfileArgs;
use crate::render::{self, Format};

/// Makes a profile of a recorded event stream (.trace).
#[derive(Args)]
#[command(after_help = "\
A trace that was cut off is replayed as far as it goes, with a warning.")]
pub struct ReplayArgs {
    /// Trace (.trace), recorded with `trodden run -o FILE.trace`.
    trace: PathBuf,
    /// The profile (.trodden), or a report: .html, .json, .txt, .dot, .svg, .collapsed,
    /// .speedscope.json, .pb.gz, .otlp, .otlp.json, .firefox.json.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    profile: ProfileArgs,
}

/// Between two steps of the progress bar, in bytes.
const STEP: u64 = 1 << 20;

/// Runs `trodden replay`.
pub fn replay(args: &ReplayArgs) -> Result<(), CliError> {
    let options = args.profile.for_replay()?;
    let recording = |name: &&str| option_named(name).is_some_and(|option| !option.is_replayed());
    if let Some(name) = args.profile.names().find(recording) {
        return Err(CliError::Usage(format!(
            "error: option '{name}' is about recording; a replay takes {}",
            taken()
        )));
    }
    if options.has_bursts_in_program() {
        let reason = "error: option 'burst': bursts by the clock are for running programs; a replay takes numbers of calls and returns";
        return Err(CliError::Usage(reason.to_owned()));
    }
    let asked = output::by_ending(&args.output.to_string_lossy(), &FileFormat::ENDINGS)?;
    let format = match asked.unwrap_or(FileFormat::Trodden) {
        FileFormat::Trace => {
            let reason = format!("error: {} would be a trace again", args.output.display());
            return Err(CliError::Usage(reason));
        }
        format => Format::of_file(format),
    };
    // Before the work, as it may take long.
    check_place(&args.output).map_err(CliError::failed)?;
    let failed = |e: &dyn std::fmt::Display| CliError::file(&args.trace, e);
    let file = File::open(&args.trace).map_err(|e| failed(&format!("cannot read: {e}")))?;
    let length = file.metadata().map_or(0, |data| data.len());
    let trace = TraceReader::new(BufReader::with_capacity(1 << 16, file)).map_err(|e| failed(&e))?;
    let pipeline = Pipeline::from_options(&options).map_err(CliError::failed)?;

    let bar = bar(length, options.output.quiet);
    let mut shown = 0;
    let progress = |at: u64| {
        if at >= shown + STEP {
            shown = at;
            bar.set_position(at);
        }
    };
    let replayed = run_replay(trace, &pipeline, progress);
    bar.finish_and_clear();
    let Replayed {
        mut profile,
        truncation,
    } = replayed.map_err(|e| failed(&e))?;

    if let Some(cut) = truncation {
        output::complain(&format!(
            "warning: {}: the trace was never finished (the JVM was killed, or is still running); it is good up \
             to offset {}, {} bytes behind that were left out",
            args.trace.display(),
            cut.offset,
            cut.lost
        ));
    }
    let given = options.pairs();
    let given: Vec<String> = given
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if !given.is_empty() {
        profile.run.facts.set(facts::REPLAY, given.join(","));
    }
    save(&profile, args, format)
}

/// The options that a replay takes.
fn taken() -> String {
    let taken = options::options().filter(|option| option.is_replayed());
    let taken: Vec<String> = taken.map(|option| format!("--{}", option.name)).collect();
    taken.join(", ")
}

fn save(profile: &Profile, args: &ReplayArgs, format: Option<Format>) -> Result<(), CliError> {
    match format {
        None => profile.save(&args.output).map_err(CliError::failed),
        Some(format) => render::write(profile, format, &ReportOptions::default(), Some(&args.output)),
    }
}

fn bar(length: u64, quiet: bool) -> ProgressBar {
    if quiet || !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bytes:>10} of {total_bytes} {wide_bar} {eta:>4}");
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
