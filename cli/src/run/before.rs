//! Checks, before the program starts, for causes that would spoil a run's result.

use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trodden_profile::options::{ProfileOptions, check_place};
use trodden_profile::output::check_links;
use trodden_profile::spool::Key;

use crate::error::CliError;

/// Checks the places that are named: the result's, the spool folder, the key, and the folders of sources.
pub fn check(options: &ProfileOptions, sources: &[PathBuf]) -> Result<(), CliError> {
    crate::sources::places(sources)?;
    check_spool(options)?;
    if !options.writes_file() {
        return Ok(());
    }
    let env = |name: &str| env::var(name).ok();
    let name = options
        .output
        .file
        .expand(std::process::id(), SystemTime::now(), env);
    let name = name.map_err(CliError::failed)?;
    check_place(Path::new(&name)).map_err(CliError::failed)
}

/// The agent would say so, but only in the program's output, and the program would run without a profile.
fn check_spool(options: &ProfileOptions) -> Result<(), CliError> {
    if let Some(folder) = &options.fleet.spool {
        check_links(Path::new(folder)).map_err(|e| CliError::Failed(format!("--spool: {e}")))?;
        if !Path::new(folder).is_dir() {
            return Err(CliError::Failed(format!(
                "the spool folder {folder} does not exist, or is no folder; create it, or choose another place"
            )));
        }
    }
    let key = options
        .fleet
        .hmac_key
        .as_ref()
        .map(|file| Key::read(Path::new(file)));
    key.transpose().map(drop).map_err(CliError::failed)
}
