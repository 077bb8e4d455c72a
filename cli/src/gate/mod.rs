//! `trodden gate`: performance tests that do not drift.

mod collect;
mod listener;
#[cfg(unix)]
mod record;
mod written;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use trodden_insight::gate::{GateComparison, GateFile, GateOptions, Verdict};
use trodden_report::gate::{self as formats, parse};

use crate::error::{BROKEN, CliError};
use crate::output;
use crate::report::percent;
use crate::sources;

/// Counts the work of tests in executed bytecode instructions, and compares builds by it: no time, so no
/// drift.
#[derive(Args)]
pub struct GateArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    #[cfg(unix)]
    Record(record::RecordArgs),
    #[cfg(not(unix))]
    Record(crate::elsewhere::ElsewhereArgs),
    Compare(CompareArgs),
    Collect(collect::CollectArgs),
}

/// Compares what two builds did, test by test.
#[derive(Args)]
struct CompareArgs {
    /// File of `gate record` before.
    base: PathBuf,
    /// File of `gate record` after.
    new: PathBuf,
    /// Exit with 3 if a test does over PERCENT more work, beyond its own spread. A test's own
    /// limit (`@Gate`) goes first.
    #[arg(long, value_name = "PERCENT", value_parser = percent::<100_000>)]
    fail_on: Option<f64>,
    /// Output format [default: what the output's extension says, else text].
    #[arg(long, value_enum)]
    format: Option<GateFormat>,
    /// Output file [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Directory with sources, as SARIF is to name it; may be repeated.
    #[arg(long, value_name = "DIR")]
    sources: Vec<PathBuf>,
}

/// Formats of `trodden gate compare`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GateFormat {
    /// For the terminal.
    Text,
    /// For programs; documented in docs.
    Json,
    /// For a comment on a change.
    Markdown,
    /// JUnit's XML, for build servers.
    Junit,
    /// For code hosts, which show it at the line.
    Sarif,
}

/// Runs `trodden gate`.
pub fn gate(args: &GateArgs) -> Result<ExitCode, CliError> {
    match &args.action {
        #[cfg(unix)]
        Action::Record(args) => record::record(args),
        #[cfg(not(unix))]
        Action::Record(args) => args.refused(),
        Action::Compare(args) => compare(args),
        Action::Collect(args) => collect::collect(args),
    }
}

/// Endings of file names that ask for a format.
const ENDINGS: [(&str, GateFormat); 6] = [
    (".txt", GateFormat::Text),
    (".json", GateFormat::Json),
    (".md", GateFormat::Markdown),
    (".markdown", GateFormat::Markdown),
    (".xml", GateFormat::Junit),
    (".sarif", GateFormat::Sarif),
];

fn compare(args: &CompareArgs) -> Result<ExitCode, CliError> {
    let format = output::format(args.format, args.output.as_deref(), &ENDINGS)?;
    let (base, new) = (load(&args.base)?, load(&args.new)?);
    sources::places(&args.sources)?;
    let options = GateOptions {
        fail_on: args.fail_on,
        sources: args.sources.clone(),
    };
    let compared = GateComparison::new(&base, &new, &options);
    let text = match format.unwrap_or(GateFormat::Text) {
        GateFormat::Text => formats::text(&compared, args.output.is_none() && output::colour(&io::stdout())),
        GateFormat::Json => formats::json(&compared).map_err(CliError::failed)?,
        GateFormat::Markdown => formats::markdown(&compared),
        GateFormat::Junit => formats::junit(&compared).map_err(CliError::failed)?,
        GateFormat::Sarif => formats::sarif(&compared, &sources::repository()).map_err(CliError::failed)?,
    };
    output::write(args.output.as_deref(), text.as_bytes())?;
    if !compared.failed() {
        return Ok(ExitCode::SUCCESS);
    }
    let broken = compared.count(Verdict::Broken);
    let tests = if broken == 1 { "test does" } else { "tests do" };
    output::complain(&format!("{broken} {tests} more work than allowed"));
    Ok(ExitCode::from(BROKEN))
}

fn load(path: &Path) -> Result<GateFile, CliError> {
    let bytes = fs::read(path).map_err(|e| CliError::file(path, e))?;
    let text =
        String::from_utf8(bytes).map_err(|_| CliError::file(path, "this is no gate file: it is not text"))?;
    parse(&text).map_err(|e| CliError::file(path, e))
}
