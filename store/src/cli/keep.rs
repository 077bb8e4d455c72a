//! `trodden store drop`, `compact` and `verify`.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use trodden_report::thousands;

use super::arguments::time;
use super::output::{complain, print, size};
use crate::compact::{CompactOptions, TARGET};
use crate::drop::DropOptions;
use crate::error::StoreError;
use crate::log::{Day, Granularity};
use crate::place::Place;
use crate::store::Store;
use crate::vacuum::VacuumOptions;
use crate::words::several;

/// Takes old days, a service or a build out of a store.
///
/// The files stay where they are until `compact --vacuum` deletes them; windows that were in them do not come
/// in again. Whole days only.
#[derive(Args)]
pub struct DropArgs {
    /// The store.
    store: String,
    /// Days before this one: 2026-11-25.
    #[arg(long, value_name = "DAY", required_unless_present = "service")]
    before: Option<Day>,
    /// Only of this service; without --before, all of it.
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// Only of this build of the service.
    #[arg(long, value_name = "NAME", requires = "service")]
    build: Option<String>,
}

pub(super) async fn drop(args: &DropArgs) -> Result<ExitCode, StoreError> {
    let store = Store::open(&Place::parse(&args.store)?).await?;
    let options = DropOptions {
        before: args.before,
        service: args.service.clone(),
        build: args.build.clone(),
    };
    let dropped = store.drop_files(&options).await?;
    super::publish::after(&store).await;
    print(&format!(
        "{}: {} with {} went ({})\n",
        args.store,
        several(dropped.files, "file"),
        several(dropped.rows, "row"),
        size(dropped.bytes)
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Makes fewer and larger files of many small ones, and fewer rows of old ones.
///
/// Sums stay what they are. May run at the same time as writers and readers.
#[derive(Args)]
pub struct CompactArgs {
    /// The store.
    store: String,
    /// Puts the windows of each JVM together, of days that are over long enough: one row per hour, or per
    /// day.
    #[arg(long, value_enum)]
    to: Option<To>,
    /// How long such days are over: 12h, 7d.
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = time, requires = "to")]
    older_than: Duration,
    /// Deletes files that do not count any more: those that were replaced or dropped an hour ago, and those
    /// of a day ago that no writer has committed.
    #[arg(long)]
    vacuum: bool,
    /// How long replaced and dropped files stay for readers that know them.
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = time, requires = "vacuum")]
    keep: Duration,
    /// Files of that many MB are large enough.
    #[arg(long, value_name = "MB", default_value_t = TARGET >> 20, value_parser = clap::value_parser!(u64).range(1..=1024))]
    target: u64,
}

/// The time unit that windows are combined into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum To {
    /// The hour in which they began.
    Hour,
    /// The day.
    Day,
}

pub(super) async fn compact(args: &CompactArgs) -> Result<ExitCode, StoreError> {
    let store = Store::open(&Place::parse(&args.store)?).await?;
    let options = CompactOptions {
        to: args.to.map(|to| match to {
            To::Hour => Granularity::Hour,
            To::Day => Granularity::Day,
        }),
        older_than_ms: u64::try_from(args.older_than.as_millis()).unwrap_or(u64::MAX),
        target: args.target << 20,
    };
    let done = store.compact(&options).await?;
    super::publish::after(&store).await;
    let mut text = format!(
        "{}: {} became {}, {} {} ({} became {})\n",
        args.store,
        several(done.before.files, "file"),
        thousands(done.after.files),
        several(done.before.rows, "row"),
        thousands(done.after.rows),
        size(done.before.bytes),
        size(done.after.bytes)
    );
    if done.left > 0 {
        text += &format!(
            "{} that others changed meanwhile: unchanged\n",
            several(done.left, "partition")
        );
    }
    if args.vacuum {
        let options = VacuumOptions {
            removed: args.keep,
            ..VacuumOptions::default()
        };
        let gone = store.vacuum(&options).await?;
        text += &format!(
            "deleted: {} ({}), {} of the log\n",
            several(gone.files + gone.drafts + gone.published, "file"),
            size(gone.bytes),
            gone.log_files
        );
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads all of a store and checks it: files against the log, sums of tables against each other.
#[derive(Args)]
pub struct VerifyArgs {
    /// The store.
    store: String,
}

pub(super) async fn verify(args: &VerifyArgs) -> Result<ExitCode, StoreError> {
    let store = Store::open(&Place::parse(&args.store)?).await?;
    let found = store.verify().await?;
    for problem in &found.problems {
        complain(problem);
    }
    let state = match found.problems.len() as u64 {
        0 => "all is well".to_owned(),
        problems => several(problems, "problem"),
    };
    print(&format!(
        "{}: {state}; {} with {} were read ({})\n",
        args.store,
        several(found.files, "file"),
        several(found.rows, "row"),
        size(found.bytes)
    ))?;
    Ok(if found.problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(3)
    })
}
