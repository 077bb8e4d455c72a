//! `trodden store report`: a page with the answers to all questions.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::query::{Chosen, EngineArgs, TOP, all_if_none, files, write};
use crate::error::StoreError;
use crate::page::{PageOptions, page};
use crate::query::{Engine, Given};

/// Writes a page that answers all questions: one HTML file, which needs no network
#[derive(Clone, Debug, Args)]
pub(super) struct ReportArgs {
    /// The store: a folder, or s3://BUCKET/PREFIX
    store: String,
    /// The page
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    chosen: Chosen,
    /// Rows of each table; 0: all
    #[arg(long, value_name = "N", default_value_t = TOP)]
    top: usize,
    #[command(flatten)]
    engine: EngineArgs,
}

/// Asks all questions, and writes the page.
pub(super) async fn report(args: &ReportArgs) -> Result<ExitCode, StoreError> {
    let mut given = Given::new();
    args.chosen.clone().into_given(&mut given);
    let engine = Engine::new(files(&args.store).await?, args.engine.limits());
    let options = PageOptions {
        store: args.store.clone(),
        given,
        top: all_if_none(args.top),
    };
    write(&args.output, &page(&engine, &options).await?)?;
    Ok(ExitCode::SUCCESS)
}
