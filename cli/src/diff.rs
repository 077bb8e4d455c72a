//! `trodden diff`: what changed between two runs.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use trodden_insight::diff::{Diff, DiffOptions, Reason};
use trodden_insight::source::{Sources, folders};
use trodden_profile::Profile;
use trodden_report::diff as formats;

use crate::error::{BROKEN, CliError};
use crate::output;
use crate::report::percent;
use crate::sources;

/// Profiles with less in common are not compared without `--force`.
const LIKE: f64 = 0.05;

/// Shows what changed between two runs: which method takes other CPU time (if both have samples) or does
/// other work than before, and which branch explains it.
///
/// Several runs a side show smaller changes than one: `trodden diff before-*.trodden -- after-*.trodden`,
/// or a folder a side; `trodden run --repeat` makes them. Twice the work of the same kind is no change. To
/// see how close a sampled profile comes to an exact one of the same run, use `trodden compare`.
#[derive(Args)]
pub struct DiffArgs {
    /// Profiles (.trodden) of the runs before and after: two files or folders, or those before only, if those
    /// after are behind `--`.
    #[arg(required = true, value_name = "BEFORE AFTER")]
    before: Vec<PathBuf>,
    /// Profiles of the runs after, or folders with them.
    #[arg(last = true, value_name = "AFTER")]
    after: Vec<PathBuf>,
    /// Compare programs that have next to nothing in common.
    #[arg(long)]
    force: bool,
    /// Output format [default: what the output's extension says, else text].
    #[arg(long, value_enum)]
    format: Option<DiffFormat>,
    /// Output file [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only these methods: Class#method with * and ?, or a class alone.
    #[arg(long, value_name = "PATTERN")]
    method: Option<String>,
    /// At most this many methods, the largest change first.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,
    /// List changes of at least this much of the executed work, or of the CPU time.
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent::<100_000>)]
    threshold: f64,
    /// Exit with 3 if a listed method's change exceeds this much of the executed work.
    #[arg(long, value_name = "PERCENT", value_parser = percent::<100_000>)]
    fail_on: Option<f64>,
    /// Exit with 3 if a listed method's CPU time changed by more than this much of all of it, chance left
    /// aside. Needs CPU samples in both profiles.
    #[arg(long, value_name = "PERCENT", value_parser = percent::<100_000>)]
    fail_on_time: Option<f64>,
    /// Directory with the sources of the second run; may be repeated.
    #[arg(long, value_name = "DIR")]
    sources: Vec<PathBuf>,
}

/// Formats of `trodden diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// For the terminal.
    Text,
    /// For programs; documented in docs.
    Json,
    /// For a comment on a change.
    Markdown,
    /// One self-contained page.
    Html,
    /// SARIF 2.1.0, for code hosts and editors, which show it at the line.
    Sarif,
}

/// Endings of file names, and the format of each.
const ENDINGS: [(&str, DiffFormat); 7] = [
    (".txt", DiffFormat::Text),
    (".json", DiffFormat::Json),
    (".md", DiffFormat::Markdown),
    (".markdown", DiffFormat::Markdown),
    (".html", DiffFormat::Html),
    (".htm", DiffFormat::Html),
    (".sarif", DiffFormat::Sarif),
];

/// Runs `trodden diff`.
pub fn diff(args: &DiffArgs) -> Result<ExitCode, CliError> {
    let format = output::format(args.format, args.output.as_deref(), &ENDINGS)?;
    let sources = sources::places(&args.sources)?;
    let (before, after) = sides_of(args)?;
    let (before, after) = rayon::join(|| load(&before), || load(&after));
    let (before, after) = (before?, after?);
    let options = DiffOptions {
        method: args.method.clone(),
        top: args.top as usize,
        threshold: args.threshold,
    };
    let diff = Diff::of_runs(&before, &after, &options).map_err(CliError::failed)?;
    if diff.likeness < LIKE && !args.force {
        return Err(CliError::Usage(format!(
            "error: these runs have next to nothing in common: {:.1} % of what they did is in methods that both have. \
             --force compares them all the same",
            diff.likeness * 100.0
        )));
    }
    let folders = folders(&sources);
    let sources = Sources::new(&sources);
    let text = match format.unwrap_or(DiffFormat::Text) {
        DiffFormat::Text => formats::text(
            &diff,
            &sources,
            args.output.is_none() && output::colour(&io::stdout()),
        ),
        DiffFormat::Json => formats::json(&diff).map_err(CliError::failed)?,
        DiffFormat::Markdown => formats::markdown(&diff, &sources),
        DiffFormat::Html => formats::html(&diff, &sources),
        DiffFormat::Sarif => {
            formats::sarif(&diff, &folders, &sources::repository()).map_err(CliError::failed)?
        }
    };
    output::write(args.output.as_deref(), text.as_bytes())?;
    let mut code = ExitCode::SUCCESS;
    if let Some(limit) = args.fail_on_time {
        let Some(time) = &diff.time else {
            return Err(CliError::failed(
                "--fail-on-time: the profiles do not both have CPU samples; record them with --sample",
            ));
        };
        let worst = time.methods.iter().map(|method| (method, method.near.at_least()));
        if let Some((worst, least)) = worst.max_by(|x, y| x.1.total_cmp(&y.1))
            && least > limit
        {
            output::complain(&format!(
                "{} changes the CPU time by {:.2} % at least, more than --fail-on-time {} %",
                worst.title(),
                least * 100.0,
                limit * 100.0
            ));
            code = ExitCode::from(BROKEN);
        }
    }
    let Some(limit) = args.fail_on else {
        return Ok(code);
    };
    let worst = diff.methods.iter().filter(|m| m.reason != Reason::Consequence);
    if let Some(worst) = worst.max_by(|x, y| x.share.abs().total_cmp(&y.share.abs()))
        && worst.share.abs() > limit
    {
        output::complain(&format!(
            "{} changes the executed work by {:.2} %, more than --fail-on {} %",
            worst.title(),
            worst.share * 100.0,
            limit * 100.0
        ));
        code = ExitCode::from(BROKEN);
    }
    Ok(code)
}

/// The files of both sides.
fn sides_of(args: &DiffArgs) -> Result<(Vec<PathBuf>, Vec<PathBuf>), CliError> {
    let (before, after) = match (&args.before[..], &args.after[..]) {
        ([before, after], []) => (vec![before.clone()], vec![after.clone()]),
        (before, []) => {
            return Err(CliError::Usage(format!(
                "error: {} profile{}, but no '--' between those before and those after: trodden diff before-*.trodden -- after-*.trodden",
                before.len(),
                if before.len() == 1 { "" } else { "s" }
            )));
        }
        (before, after) => (before.to_vec(), after.to_vec()),
    };
    Ok((profiles(&before)?, profiles(&after)?))
}

/// Files, and those that are in folders.
fn profiles(places: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    for place in places {
        if !place.is_dir() {
            files.push(place.clone());
            continue;
        }
        let failed = |e| CliError::file(place, e);
        let mut found = Vec::new();
        for entry in place.read_dir().map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            if file.extension().is_some_and(|extension| extension == "trodden") && file.is_file() {
                found.push(file);
            }
        }
        if found.is_empty() {
            return Err(CliError::Failed(format!(
                "{}: no profile (.trodden) in this folder",
                place.display()
            )));
        }
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}

fn load(files: &[PathBuf]) -> Result<Vec<Profile>, CliError> {
    let load = |file: &PathBuf| {
        let profile = Profile::load(file).map_err(CliError::failed)?;
        crate::memory::warn_if_partial(&profile, &file.display().to_string());
        Ok(profile)
    };
    files.iter().map(load).collect()
}
