//! Options about which code carries probes, and which.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::value_error::{ValueError, file_name};
use super::values::{format_duration, parse_duration};

/// Options about which code carries probes, and which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeChoices {
    /// Include patterns; empty for the default.
    pub include: Vec<String>,
    /// Exclude patterns.
    pub exclude: Vec<String>,
    /// JVMs whose main class or jar is one of these are left alone.
    pub skip_main: Vec<String>,
    /// By whose frequencies methods are numbered.
    pub use_profile: Option<UseProfile>,
    /// Methods that handle requests: patterns, or names of frameworks.
    pub requests: Vec<String>,
    /// Plan of methods that get no probes, as earlier runs know them.
    pub memory: Option<String>,
}

/// The profile by whose frequencies methods are numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UseProfile {
    /// A former run's, in this file.
    Former(String),
    /// Probes `counters` and `yieldpoint`: that of this run, by which hot classes are numbered again once it
    /// has lasted for that time.
    Own(Duration),
}

impl fmt::Display for UseProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UseProfile::Former(file) => f.write_str(file),
            UseProfile::Own(after) => write!(f, "{OWN}{}", format_duration(*after)),
        }
    }
}

/// Beginning of a value that is no file. A file of such a name is reached by `./`.
const OWN: &str = "own:";

impl FromStr for UseProfile {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<Self, ValueError> {
        match given.strip_prefix(OWN) {
            Some(after) => Ok(UseProfile::Own(parse_duration(after)?)),
            None => Ok(UseProfile::Former(file_name(given)?)),
        }
    }
}
