//! `trodden slow`: what slow requests do differently.

use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use trodden_insight::slow::{Decoded, Limit};
use trodden_insight::source::Sources;
use trodden_profile::Profile;
use trodden_profile::options::parse_duration;
use trodden_report::slow as formats;

use crate::error::CliError;
use crate::output;
use crate::sources;

/// Shows what slow requests do differently: which outcomes of branches, how often, and what one more costs;
/// collections, and waiting.
///
/// The profile is one of `trodden run --requests`. Nothing is said that chance explains.
#[derive(Args)]
pub struct SlowArgs {
    /// Profile (.trodden) with requests.
    file: PathBuf,
    /// From where on a request is slow: a latency (200ms), or the latency that a share of the requests does
    /// not exceed (p99, p95, p99.9).
    #[arg(long, value_name = "LIMIT", default_value = "p99", value_parser = limit)]
    slow: Limit,
    /// Output format [default: what the output's extension says, else text].
    #[arg(long, value_enum)]
    format: Option<SlowFormat>,
    /// Output file [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Sources: a directory, one above several projects, or a -sources.jar; may be repeated [default:
    /// src/main/java and the like, if the current directory has them].
    #[arg(long, value_name = "PLACE")]
    sources: Vec<PathBuf>,
}

/// Formats of `trodden slow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SlowFormat {
    /// For the terminal.
    Text,
    /// For programs; documented in docs.
    Json,
    /// One self-contained page.
    Html,
    /// A row for each request whose paths were read, with its counts of all outcomes.
    Csv,
}

/// Endings of file names, and the format of each.
const ENDINGS: [(&str, SlowFormat); 5] = [
    (".txt", SlowFormat::Text),
    (".json", SlowFormat::Json),
    (".html", SlowFormat::Html),
    (".htm", SlowFormat::Html),
    (".csv", SlowFormat::Csv),
];

/// Runs `trodden slow`.
pub fn slow(args: &SlowArgs) -> Result<(), CliError> {
    let format = output::format(args.format, args.output.as_deref(), &ENDINGS)?.unwrap_or(SlowFormat::Text);
    let sources = Sources::new(&sources::places(&args.sources)?);
    let mut profile = Profile::load(&args.file).map_err(CliError::failed)?;
    if format != SlowFormat::Json {
        profile = profile.into_printable();
    }
    let path = args.output.as_deref();
    let decoded = Decoded::new(&profile, &sources).map_err(|e| CliError::file(&args.file, e))?;
    if format == SlowFormat::Csv {
        return output::write_with(path, |out| formats::csv(&decoded.vectors(), out));
    }
    let slow = decoded.slow(args.slow);
    let bytes = match format {
        SlowFormat::Json => formats::json(&slow).map_err(CliError::failed)?,
        SlowFormat::Html => formats::html(&slow, &decoded.bands(&slow), &sources).into_bytes(),
        SlowFormat::Text | SlowFormat::Csv => {
            let colour = path.is_none() && output::colour(&io::stdout());
            formats::text(&slow, &sources, output::width(), colour).into_bytes()
        }
    };
    output::write(path, &bytes)
}

/// `200ms`, `p99`.
fn limit(text: &str) -> Result<Limit, String> {
    let Some(percent) = text.strip_prefix('p') else {
        let time = parse_duration(text).map_err(|e| format!("{e}; or p99, p95, …"))?;
        return Ok(Limit::Latency(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)));
    };
    match f64::from_str(percent) {
        Ok(percent) if (0.0..100.0).contains(&percent) => Ok(Limit::Quantile(percent / 100.0)),
        _ => Err("not from p0 to p99.99".to_owned()),
    }
}
