//! Where sources are.

use std::path::{Path, PathBuf};

use trodden_report::Repository;

use crate::error::CliError;

/// Where build tools keep sources; looked for when no place is given.
const USUAL: [&str; 2] = ["src/main/java", "src/main/kotlin"];

/// The places given, checked; else the current directory, if it looks like a project with sources.
pub fn places(given: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    for place in given {
        let archive = place.extension().is_some_and(|e| e == "jar" || e == "zip");
        let found = place.is_dir() || archive && place.is_file();
        if !found {
            return Err(CliError::file(
                place,
                "is not a directory with sources, nor a -sources.jar",
            ));
        }
    }
    let here = || USUAL.iter().any(|usual| Path::new(usual).is_dir());
    Ok(match given {
        [] if here() => vec![PathBuf::from(".")],
        given => given.to_vec(),
    })
}

/// The repository that the current folder is in.
pub fn repository() -> Repository {
    Repository::around(&std::env::current_dir().unwrap_or_default())
}
