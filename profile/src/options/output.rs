//! Options about files and messages.

use std::time::Duration;

use super::file_pattern::FilePattern;
use super::values::{Arguments, LogLevel};

/// Options about files and messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputChoices {
    /// Where the profile goes.
    pub file: FilePattern,
    /// Time between periodic dumps, if wanted.
    pub dump: Option<Duration>,
    /// Least severity that is shown.
    pub loglevel: LogLevel,
    /// File for messages; standard error if `None`.
    pub log: Option<String>,
    /// How much of the program's arguments the profile has.
    pub arguments: Arguments,
    /// Show errors only.
    pub quiet: bool,
    /// File for the answer to an attach command.
    pub out: Option<String>,
    /// File that is locked by the process that asked for the profile, as long as it lives.
    pub lease: Option<String>,
}
