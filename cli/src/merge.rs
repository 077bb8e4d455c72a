//! `trodden merge`: one profile out of several.

use std::path::PathBuf;

use clap::Args;
use trodden_profile::{MergeError, Profile};

use crate::error::CliError;

/// Adds up several profiles; methods are matched by the hash of their class's bytes.
#[derive(Args)]
pub struct MergeArgs {
    /// Profiles (.trodden).
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// The merged profile.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

/// Runs `trodden merge`.
pub fn merge(args: &MergeArgs) -> Result<(), CliError> {
    let merged = load_merged(&args.inputs)?;
    merged.save(&args.output).map_err(CliError::failed)
}

/// Loads profiles and merges them; a single one stays unchanged.
pub fn load_merged(paths: &[PathBuf]) -> Result<Profile, CliError> {
    let profiles: Vec<Profile> = paths
        .iter()
        .map(|path| Profile::load(path).map_err(CliError::failed))
        .collect::<Result<_, _>>()?;
    if let [_] = profiles.as_slice() {
        return Ok(profiles.into_iter().next().unwrap_or_default());
    }
    trodden_profile::merge(&profiles).map_err(|e| match e {
        MergeError::Unlike {
            what,
            inputs: [a, b],
            values: [in_a, in_b],
        } => CliError::Failed(format!(
            "cannot merge: {what} is {in_a} in {}, but {in_b} in {}",
            paths[a].display(),
            paths[b].display()
        )),
        e => CliError::Failed(format!("cannot merge: {e}")),
    })
}
