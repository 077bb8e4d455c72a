//! Errors in options.

use super::near::nearest;
use super::table::options;
use super::value_error::ValueError;
use super::values::Action;

/// An option that cannot be understood.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptionError {
    /// No option has this name.
    #[error("unknown option '{name}'{}", .nearest.map(|n| format!("; did you mean '{n}'?")).unwrap_or_default())]
    Unknown {
        /// The name.
        name: String,
        /// The nearest known word, if one is near.
        nearest: Option<&'static str>,
    },
    /// It does not apply with the other options.
    #[error("option '{name}' is for {scope}; use it with {with}, or leave it out")]
    Inapplicable {
        /// The option.
        name: &'static str,
        /// Where it applies.
        scope: String,
        /// Options with which it does, in the syntax of the agent string.
        with: &'static str,
    },
    /// The action does not take it.
    #[error("option '{name}' means nothing to '{action}'; {}", taken(*.action))]
    Action {
        /// The option.
        name: &'static str,
        /// The action.
        action: Action,
    },
    /// Only a replay takes it, or its value.
    #[error(
        "option '{name}': '{value}' is research on event streams and taken by 'trodden replay' only; record the \
         program's events with file=x.trace, and give it there"
    )]
    OnlyReplayed {
        /// The option.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// A comma between values of a list ended the list.
    #[error("'{word}' has no name: values of '{name}' are joined by '+', {name}={before}+{word}")]
    Comma {
        /// The list.
        name: &'static str,
        /// Its values so far.
        before: String,
        /// The text after the comma.
        word: String,
    },
    /// The value is not one that the option takes.
    #[error("option '{name}': {reason}")]
    Value {
        /// The option.
        name: &'static str,
        /// What is wrong.
        reason: ValueError,
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
        /// Syntax of its values.
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
    /// The file that option `config` names cannot be read.
    #[error("{file}: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// The system's message.
        reason: String,
    },
    /// Something is wrong in the file that option `config` names.
    #[error("{file}: {error}")]
    Config {
        /// The file.
        file: String,
        /// What is wrong.
        error: Box<OptionError>,
    },
    /// A properties file names another one.
    #[error("option '{name}' cannot be used inside a properties file")]
    Nested {
        /// The option.
        name: &'static str,
    },
}

/// The error for a name that no option has. `actions`: words that could stand there as well.
pub(super) fn unknown(name: &str, actions: &'static [Action]) -> OptionError {
    let hyphens = name.replace('_', "-");
    let known = options().map(|option| option.name);
    OptionError::Unknown {
        name: name.to_owned(),
        nearest: nearest(&hyphens, known.chain(actions.iter().map(|action| action.name()))),
    }
}

fn taken(action: Action) -> String {
    let taken = options().filter(|option| option.actions.contains(&action));
    let names: Vec<&str> = taken.map(|option| option.name).collect();
    format!("it takes {}", names.join(", "))
}
