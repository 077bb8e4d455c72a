//! Errors of the command line, and their exit codes.

use std::path::Path;
use std::process::ExitCode;

/// Exit code when a limit is exceeded or a rule is broken.
pub const BROKEN: u8 = 3;

/// Why a subcommand did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The arguments make no sense. Exit code 2.
    #[error("{0}\n\nFor more information, try '--help'.")]
    Usage(String),
    /// The work failed. Exit code 1.
    #[error("{0}")]
    Failed(String),
}

impl CliError {
    /// The documented exit code.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            CliError::Usage(_) => 2,
            CliError::Failed(_) => 1,
        })
    }

    /// A failure, from anything that has a text.
    pub fn failed(reason: impl ToString) -> Self {
        CliError::Failed(reason.to_string())
    }

    /// Trouble with a file.
    pub fn file(path: &Path, error: impl std::fmt::Display) -> Self {
        CliError::Failed(format!("{}: {error}", path.display()))
    }
}
