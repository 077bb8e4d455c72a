//! Options about files and messages.

use std::time::Duration;

use super::file_pattern::FilePattern;
use super::values::{Arguments, LogLevel};

/// Options about files and messages.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// File that is locked by whoever asked for the profile, as long as they live.
    pub lease: Option<String>,
}

impl Default for OutputChoices {
    fn default() -> Self {
        OutputChoices {
            file: FilePattern::default(),
            dump: None,
            arguments: Arguments::Names,
            loglevel: LogLevel::Warn,
            log: None,
            quiet: false,
            out: None,
            lease: None,
        }
    }
}

/// A file's name as an option takes it.
pub(super) fn file_name(value: &str) -> Result<String, String> {
    match value {
        "" => Err("the file name is empty".to_owned()),
        name => Ok(name.to_owned()),
    }
}
