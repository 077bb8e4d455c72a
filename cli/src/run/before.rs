//! What would spoil a run's result, found before the program starts.

use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trodden_profile::options::{FilePattern, check_place};

use crate::error::CliError;

/// Checks the places that are named: the result's, and the folders of sources.
pub fn check(file: &FilePattern, sources: &[PathBuf]) -> Result<(), CliError> {
    crate::sources::places(sources)?;
    let env = |name: &str| env::var(name).ok();
    let name = file.expand(std::process::id(), SystemTime::now(), env);
    let name = name.map_err(CliError::failed)?;
    check_place(Path::new(&name)).map_err(CliError::failed)
}
