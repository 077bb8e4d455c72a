//! The command line `trodden-store`, which is `trodden store` as well.
//!
//! Glue only: each subcommand has its own file, and what it does is done by the library.

mod add;
mod arguments;
mod keep;
mod ls;
pub(crate) mod output;
mod publish;
mod query;
mod report;
mod ship;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::StoreError;

const EXIT_CODES: &str = "\
STORE is a folder, or s3://BUCKET/PREFIX (set up by AWS_ENDPOINT_URL, AWS_ALLOW_HTTP, AWS_REGION, AWS_ACCESS_KEY_ID, …).

Exit codes: 0 good; 1 the work failed; 2 wrong usage; 3 a check was broken.";

/// Profiles of many JVMs in one place: Parquet files that any engine reads.
#[derive(Parser)]
#[command(name = "trodden-store", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Add(add::AddArgs),
    Query(query::QueryArgs),
    Report(report::ReportArgs),
    Ls(ls::LsArgs),
    Compact(keep::CompactArgs),
    Drop(keep::DropArgs),
    Verify(keep::VerifyArgs),
    Publish(publish::PublishArgs),
    Ship(ship::ShipArgs),
    Watch(watch::WatchArgs),
}

impl Command {
    async fn run(self) -> Result<ExitCode, StoreError> {
        match self {
            Command::Add(args) => add::add(&args).await,
            Command::Query(args) => query::query(&args).await,
            Command::Report(args) => report::report(&args).await,
            Command::Ls(args) => ls::ls(&args).await,
            Command::Compact(args) => keep::compact(&args).await,
            Command::Drop(args) => keep::drop(&args).await,
            Command::Verify(args) => keep::verify(&args).await,
            Command::Publish(args) => publish::publish(&args).await,
            Command::Ship(args) => ship::ship(&args).await,
            Command::Watch(args) => watch::watch(&args).await,
        }
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    // clap itself exits with 2 on wrong usage, and with 0 after --help and --version.
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::complain(&format!("cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(cli.command.run()) {
        Ok(code) => code,
        Err(error) => {
            output::complain(&with_causes(&error));
            match error {
                StoreError::Usage(_) | StoreError::Place { .. } => ExitCode::from(2),
                StoreError::Broken(_) => ExitCode::from(3),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// An error with what is behind it, as far as it does not say that itself.
fn with_causes(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text += ": ";
            text += &more;
        }
        cause = error.source();
    }
    text
}
