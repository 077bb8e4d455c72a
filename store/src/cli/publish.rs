//! `trodden store publish`, and publication after other commands.

use std::process::ExitCode;

use clap::Args;

use super::output::{complain, print};
use crate::error::StoreError;
use crate::place::Place;
use crate::publish::PUBLISHED;
use crate::store::Store;
use crate::words::several;

/// Publishes the tables for engines that read Apache Iceberg: DuckDB, Spark, PyIceberg, Trino, …
///
/// `add`, `compact`, `drop` and `ship` do this themselves. It is needed for a store that an earlier version wrote, and for
/// one that was moved: the paths in Iceberg's metadata are absolute.
#[derive(Args)]
pub struct PublishArgs {
    /// The store.
    store: String,
}

pub(super) async fn publish(args: &PublishArgs) -> Result<ExitCode, StoreError> {
    let store = Store::open(&Place::parse(&args.store)?).await?;
    let published = store.publish_again().await?;
    print(&format!(
        "{}: commit {} is published in {PUBLISHED}: {} of data, {} written\n",
        args.store,
        published.commit,
        several(published.files, "file"),
        several(published.manifests, "manifest")
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// After a commit. That it fails is no harm to the store: the next one brings it.
pub(super) async fn after(store: &Store) {
    if let Err(error) = store.publish().await {
        complain(&format!(
            "the tables were not published for other engines: {error}"
        ));
    }
}
