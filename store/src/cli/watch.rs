//! `trodden store watch`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::output::print;
use super::query::{EngineArgs, files, write};
use crate::error::StoreError;
use crate::log::Day;
use crate::query::Engine;
use crate::watch::{WatchOptions, json, markdown, sarif, watch as look, webhook};

/// Looks for changes in a fleet that are not chance: costs of methods, shares of paths and outcomes, code that begins or
/// stops to run.
///
/// For a timer: each run looks at the days of the store again, and reports what was first seen on the newest day that is
/// over. Exit code 3 if something changed.
#[derive(Clone, Debug, Args)]
pub(super) struct WatchArgs {
    /// The store: a folder, or s3://BUCKET/PREFIX
    store: String,
    /// Only this service
    #[arg(long, value_name = "SERVICE", default_value = "")]
    service: String,
    /// Also what was first seen before, from this day on: 2026-11-01
    #[arg(long, value_name = "DAY")]
    since: Option<Day>,
    /// The last day that counts; else the newest that is over
    #[arg(long, value_name = "DAY")]
    until: Option<Day>,
    /// Days before that are looked at
    #[arg(long, value_name = "DAYS", default_value_t = 60, value_parser = clap::value_parser!(i32).range(9..))]
    history: i32,
    /// False alarms a week at most, on average, over all series
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    false_alarms: f64,
    /// The least change of a cost, in per cent of the service's
    #[arg(long, value_name = "PERCENT", default_value_t = 0.05)]
    least: f64,
    /// The least change of the share of a path or outcome, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    least_share: f64,
    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,
    /// Into a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
}

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A list.
    Markdown,
    /// Format trodden-watch.
    Json,
    /// For code hosts and editors.
    Sarif,
    /// The body of a request, with the list as `text`.
    Webhook,
}

pub(super) async fn watch(args: &WatchArgs) -> Result<ExitCode, StoreError> {
    if !(args.false_alarms > 0.0 && args.least >= 0.0 && args.least_share >= 0.0) {
        return Err(StoreError::Usage(
            "--false-alarms is above 0, shares are not below 0".to_owned(),
        ));
    }
    let options = WatchOptions {
        service: args.service.clone(),
        history: args.history,
        since: args.since,
        until: args.until,
        false_alarms: args.false_alarms,
        least: args.least / 100.0,
        least_share: args.least_share / 100.0,
    };
    let engine = Engine::new(files(&args.store).await?, args.engine.limits());
    let watched = look(&engine, &options).await?;
    let text = match args.format {
        Format::Markdown => markdown(&watched),
        Format::Json => json(&watched),
        Format::Sarif => sarif(&watched).map_err(|e| StoreError::tables("write JSON", e))?,
        Format::Webhook => webhook(&watched),
    };
    match &args.output {
        Some(file) => write(file, &text)?,
        None => print(&text)?,
    }
    Ok(if watched.alarms() == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(3)
    })
}
