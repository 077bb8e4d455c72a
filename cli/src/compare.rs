//! `trodden compare`: how well one profile predicts another (PEP section 6).

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trodden_profile::Profile;
use trodden_profile::options::Share;
use trodden_report::{CompareOptions, Comparison};

use crate::error::CliError;
use crate::output;

/// Compares a profile with an exact one, or one run with another.
#[derive(Args)]
pub struct CompareArgs {
    /// The profile that is taken for the truth.
    exact: PathBuf,
    /// The profile that is judged.
    estimate: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    format: CompareFormat,
    /// Calling contexts: from which share of all calls on a context is hot [default: as the estimate was
    /// counted].
    #[arg(long, value_name = "SHARE")]
    phi: Option<Share>,
}

/// Formats of `trodden compare`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// For the terminal.
    Text,
    /// For programs.
    Json,
}

/// Runs `trodden compare`.
pub fn compare(args: &CompareArgs) -> Result<(), CliError> {
    let exact = Profile::load(&args.exact).map_err(CliError::failed)?;
    let estimate = Profile::load(&args.estimate).map_err(CliError::failed)?;
    let options = CompareOptions {
        names: [&args.exact, &args.estimate].map(|file| file.display().to_string()),
        phi: args.phi.map(Share::get),
    };
    let comparison = Comparison::new(&exact, &estimate, &options).map_err(CliError::failed)?;
    for note in comparison.notes() {
        output::complain(&format!("note: {note}"));
    }
    let text = match args.format {
        CompareFormat::Text => comparison.text(),
        CompareFormat::Json => comparison.json(),
    };
    output::write(None, text.as_bytes())
}
