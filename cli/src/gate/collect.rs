//! `trodden gate collect`: profiles that were recorded elsewhere become a gate file.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use trodden_insight::gate::Measured;
use trodden_profile::options::check_place;
use trodden_profile::{Profile, TestCounts};

use super::written;
use crate::error::CliError;

/// Makes a file for `gate compare` of profiles that something else recorded, such as JMH's forks.
#[derive(Args)]
pub struct CollectArgs {
    /// The file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Profiles with separate counts of tests; each is a run of the tests in it.
    #[arg(required = true, value_name = "PROFILE")]
    profiles: Vec<PathBuf>,
}

/// Runs `trodden gate collect`.
pub fn collect(args: &CollectArgs) -> Result<ExitCode, CliError> {
    check_place(&args.output).map_err(CliError::failed)?;
    let mut runs = Vec::new();
    for file in &args.profiles {
        let mut tests = Measured::tests(&Profile::load(file).map_err(CliError::failed)?);
        // Of forks that is set-up and warm-up, of which there is as much as there is time for.
        tests.remove(TestCounts::BETWEEN);
        // JMH's score says it better.
        tests.values_mut().for_each(|test| test.nanos = None);
        if tests.is_empty() {
            return Err(CliError::file(
                file,
                "this profile has no separate counts of tests",
            ));
        }
        runs.push(tests);
    }
    written::write(&args.output, &runs, false)?;
    Ok(ExitCode::SUCCESS)
}
