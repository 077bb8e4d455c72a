//! `trodden coverage`: what ran and what did not.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{CoverageArgs, CoverageFormat, write};
use crate::error::CliError;
use crate::merge::load_merged;
use crate::{output, sources};

/// Shows what ran and what did not: lines, branches and, where paths were counted, paths.
#[derive(Args)]
pub struct CoverageCommand {
    /// Profiles (.trodden); of several it is shown what ran in any of them.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Output format [default: what the output's extension says (.json, .info, .xml), else text].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Output file [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only these methods: Class#method with * and ?, or a class alone.
    #[arg(long, value_name = "PATTERN")]
    method: Option<String>,
    /// Text: at most this many methods [default: 20].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Sources: a directory, one above several projects, or a -sources.jar; may be repeated [default:
    /// src/main/java and the like, if the current directory has them].
    #[arg(long, value_name = "PLACE")]
    sources: Vec<PathBuf>,
    #[command(flatten)]
    coverage: CoverageArgs,
}

/// Formats of coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For the terminal.
    Text,
    /// For programs.
    Json,
    /// LCOV's tracefile, for genhtml and many others.
    Lcov,
    /// JaCoCo's XML.
    Jacoco,
}

impl From<Format> for CoverageFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => CoverageFormat::Text,
            Format::Json => CoverageFormat::Json,
            Format::Lcov => CoverageFormat::Lcov,
            Format::Jacoco => CoverageFormat::Jacoco,
        }
    }
}

/// The format of a file's name.
fn by_name(file: &Path) -> Format {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("json") => Format::Json,
        Some("info" | "lcov") => Format::Lcov,
        Some("xml") => Format::Jacoco,
        _ => Format::Text,
    }
}

/// Does it.
pub fn coverage(args: &CoverageCommand) -> Result<(), CliError> {
    let places = sources::places(&args.sources)?;
    let profile = load_merged(&args.files)?;
    let format = args.format.or_else(|| args.output.as_deref().map(by_name));
    let method = args.method.as_deref();
    let coverage = args
        .coverage
        .coverage(&args.files[0], &profile, method, &places)?;
    let colour = args.output.is_none() && output::colour(&io::stdout());
    let format = format.unwrap_or(Format::Text).into();
    write(&coverage, format, args.top, args.output.as_deref(), colour)
}
