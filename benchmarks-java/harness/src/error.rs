//! What can go wrong with a benchmark.

use std::path::{Path, PathBuf};

use trodden_profile::Profile;

/// An error of the harness.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or process could not be read, written or started.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The command line asks for something that is not there.
    #[error("{0}")]
    Usage(String),
    /// A program that was run failed, or printed what it must not.
    #[error("{program}: {problem}")]
    Program {
        /// Which program.
        program: String,
        /// How it failed, with the end of its output.
        problem: String,
    },
    /// A line of a committed list or of a program's output cannot be understood.
    #[error("line {line}: {problem}: '{text}'")]
    Parse {
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong.
        problem: &'static str,
        /// The line.
        text: String,
    },
    /// A profile cannot be read.
    #[error("profile of {workload}: {source}")]
    Profile {
        /// Whose profile.
        workload: String,
        /// Why.
        source: trodden_profile::LoadError,
    },
    /// A table cannot be made.
    #[error("{0}")]
    Table(String),
}

/// Result with the harness's error.
pub type Result<T> = std::result::Result<T, Error>;

/// For `map_err`: names the action and the path.
pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.as_ref().to_owned();
    move |source| Error::Io { action, path, source }
}

/// The profile in a file.
///
/// # Errors
/// If it cannot be read; names the workload.
pub fn load_profile(file: &Path, workload: &str) -> Result<Profile> {
    Profile::load(file).map_err(|source| Error::Profile {
        workload: workload.to_owned(),
        source,
    })
}
