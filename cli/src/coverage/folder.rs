//! A folder of pages, that is there whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use trodden_insight::coverage::Coverage;
use trodden_profile::output::{STAGING_FOLDER, hold};
use trodden_report::coverage::{SiteFile, site};

use crate::error::CliError;
use crate::output::{FileSizeLimit, clear_leftovers};

/// Says that a folder is ours, and may be replaced.
const MARKER_FILE: &str = "trodden.css";

/// The folder that an output's name asks for: itself, or the one of an `index.html`.
pub fn wanted(output: &Path) -> PathBuf {
    match output.file_name() {
        Some(name) if name == "index.html" => match output.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        },
        _ => output.to_owned(),
    }
}

/// Writes it, in place of an earlier one.
pub fn write(folder: &Path, coverage: &Coverage) -> Result<(), CliError> {
    let failed = |e: std::io::Error| CliError::file(folder, format!("cannot write: {e}"));
    let _limit = FileSizeLimit::respect();
    let there = match fs::read_dir(folder) {
        Ok(mut entries) => {
            if entries.next().is_some() && !folder.join(MARKER_FILE).is_file() {
                return Err(CliError::file(
                    folder,
                    "is there and holds no pages of trodden: give a new or empty folder",
                ));
            }
            // Its name may be a link, or `.`, which cannot be renamed.
            Some(folder.canonicalize().map_err(failed)?)
        }
        Err(_) if folder.exists() => return Err(CliError::file(folder, "is there and is no folder")),
        Err(_) => None,
    };
    let place = there.clone().unwrap_or_else(|| folder.to_owned());
    let parent = match place.components().as_path().parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(failed)?;
    clear_leftovers(parent);
    let staged = tempfile::Builder::new().prefix(STAGING_FOLDER).tempdir_in(parent);
    let staged = staged.map_err(failed)?;
    let _held = hold(staged.path()).map_err(failed)?;
    let (new, old) = (staged.path().join("new"), staged.path().join("old"));
    let mut put = |file: SiteFile| {
        let path = new.join(&file.path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&path, &file.text)
    };
    site(coverage, &mut put).map_err(failed)?;
    // The old one is moved out of the way first: folders cannot be replaced in one step.
    if there.is_some() {
        fs::rename(&place, &old).map_err(failed)?;
    }
    if let Err(error) = fs::rename(&new, &place) {
        if there.is_some() {
            let _ = fs::rename(&old, &place);
        }
        return Err(failed(error));
    }
    Ok(())
}
