//! `trodden store add`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::arguments::{label, name};
use super::output::{complain, print, progress, size};
use crate::add::{AddOptions, Adder};
use crate::error::StoreError;
use crate::place::Place;
use crate::rows::{Defaults, sort_labels};
use crate::store::Store;
use crate::words::several;

/// Takes profiles into a store: all of them, or none.
///
/// Each is a window of a JVM. Those that `trodden ship` would deliver say themselves which one; of others it
/// is given here, and each file is a JVM. A window that the store has already is left out.
#[derive(Args)]
pub struct AddArgs {
    /// The store.
    store: String,
    /// Profiles (.trodden), or folders with some.
    #[arg(required = true, value_name = "PROFILE|FOLDER")]
    profiles: Vec<PathBuf>,
    /// Service, of profiles that do not say it [default: the main class or jar].
    #[arg(long, value_name = "NAME", value_parser = name)]
    service: Option<String>,
    /// Build, of profiles that do not say it [default: unknown].
    #[arg(long, value_name = "NAME", value_parser = name)]
    build: Option<String>,
    /// Host, of profiles that do not say it [default: unknown].
    #[arg(long, value_name = "NAME", value_parser = name)]
    host: Option<String>,
    /// A label, of profiles that have none; may be given several times.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,
    /// Make the store if there is none.
    #[arg(long)]
    create: bool,
    /// Leave out profiles that cannot be used, instead of taking none in.
    #[arg(long)]
    keep_going: bool,
}

pub(super) async fn add(args: &AddArgs) -> Result<ExitCode, StoreError> {
    let place = Place::parse(&args.store)?;
    let labels = sort_labels(args.labels.clone()).map_err(|e| StoreError::Usage(e.to_string()))?;
    let mut files = Vec::new();
    for path in &args.profiles {
        find(path, &mut files)?;
    }
    if files.is_empty() {
        return Err(StoreError::Profile {
            file: args.profiles[0].clone(),
            reason: "there is no .trodden file in it".to_owned(),
        });
    }
    let store = if args.create {
        Store::create(&place).await?
    } else {
        Store::open(&place).await?
    };
    let options = AddOptions {
        defaults: Defaults {
            service: args.service.clone(),
            build: args.build.clone(),
            host: args.host.clone(),
            labels,
        },
        keep_going: args.keep_going,
        progress: progress(files.len() as u64, "Reading"),
    };
    let added = Adder::new(&store).add(&files, &options).await;
    if let Some(progress) = &options.progress {
        progress.finish_and_clear();
    }
    let added = added?;
    if added.windows > 0 {
        super::publish::after(&store).await;
    }
    for error in &added.failed {
        complain(&error.to_string());
    }
    for (host, misdated) in &added.misdated {
        complain(&misdated.sentence(host));
    }
    let mut text = format!(
        "{}: {} came in ({} in {}, {})",
        args.store,
        several(added.windows, "window"),
        several(added.rows, "row"),
        several(added.files, "file"),
        size(added.bytes)
    );
    if added.known > 0 {
        let were = if added.known == 1 { "was" } else { "were" };
        text += &format!("; {} {were} there already", several(added.known, "window"));
    }
    print(&format!("{text}\n"))?;
    Ok(if added.failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// A profile, or all below a folder, in order.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), StoreError> {
    let failed = |file: &Path, error: std::io::Error| StoreError::Profile {
        file: file.to_owned(),
        reason: error.to_string(),
    };
    let about = path.metadata().map_err(|e| failed(path, e))?;
    if !about.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(|e| failed(path, e))?;
    let entries: Result<Vec<PathBuf>, std::io::Error> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut entries = entries.map_err(|e| failed(path, e))?;
    entries.sort();
    for entry in entries {
        // Files that are being written have such names.
        let hidden = entry
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_profile = entry.extension().is_some_and(|extension| extension == "trodden");
        // Links to folders may lead in a circle.
        let is_folder = entry.symlink_metadata().is_ok_and(|about| about.is_dir());
        if is_folder && !hidden {
            find(&entry, files)?;
        } else if is_profile && !hidden {
            files.push(entry);
        }
    }
    Ok(())
}
