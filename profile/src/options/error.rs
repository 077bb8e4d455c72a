//! What can be wrong with options.

use super::Action;

/// An option that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// No option has this name.
    #[error("unknown option '{name}'{}", .nearest.map(|n| format!("; did you mean '{n}'?")).unwrap_or_default())]
    Unknown {
        /// The name.
        name: String,
        /// The nearest known word, if one is near.
        nearest: Option<&'static str>,
    },
    /// The value is not one that the option takes.
    #[error("option '{name}': {reason}")]
    Value {
        /// The option.
        name: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// An option was given twice that takes one value.
    #[error("option '{name}' is given twice")]
    Twice {
        /// The option.
        name: &'static str,
    },
    /// An option stands without a value.
    #[error("option '{name}' needs a value: {name}={value}")]
    NoValue {
        /// The option.
        name: &'static str,
        /// What values look like.
        value: &'static str,
    },
    /// A word such as `stop` stands elsewhere than in front.
    #[error("action '{action}' must be the first word")]
    LateAction {
        /// The action.
        action: Action,
    },
    /// A line of a properties file has no `=`.
    #[error("line {line}: '{text}' is not name=value")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// Something is wrong in the file that option `config` names.
    #[error("{file}: {reason}")]
    Config {
        /// The file.
        file: String,
        /// What is wrong.
        reason: String,
    },
}
