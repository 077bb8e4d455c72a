//! The agent string: an action and options.

use super::syntax::{escape, split_unescaped, unescape};
use super::table::option_called;
use super::{Action, OptionError, ProfileKind, ProfileOptions, error, options};

/// The agent string, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCommand {
    /// The action.
    pub action: Action,
    /// With which options.
    pub options: ProfileOptions,
}

impl AgentCommand {
    /// Reads the agent string. An empty one means `start` with defaults.
    ///
    /// # Errors
    /// An option that cannot be understood or does not apply with the others, or trouble with the file that
    /// `config` names.
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let (action, pairs) = words(text)?;
        Self::from_pairs(action, &pairs)
    }

    /// Like [`parse`](Self::parse), for classes that carry probes of a known kind already: those are the
    /// options' probe, if none is given.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_ahead(text: &str, probe: &str) -> Result<Self, OptionError> {
        let (action, mut pairs) = words(text)?;
        let own_probe = pairs
            .iter()
            .any(|(name, value)| name == "probe" && value != "auto");
        // Other actions take no probe; the caller refuses them by their names.
        let coverage = ProfileKind::Coverage.name();
        if action == Action::Start && probe == coverage {
            if !pairs.iter().any(|(name, _)| name == "profile") {
                pairs.push(("profile".to_owned(), coverage.to_owned()));
            }
        } else if action == Action::Start && !own_probe {
            pairs.retain(|(name, _)| name != "probe");
            pairs.push(("probe".to_owned(), probe.to_owned()));
        }
        Self::from_pairs(action, &pairs)
    }

    /// From an action, and names and values as [`ProfileOptions::from_pairs`] takes them.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn from_pairs<N: AsRef<str>, V: AsRef<str>>(
        action: Action,
        pairs: &[(N, V)],
    ) -> Result<Self, OptionError> {
        if action == Action::Start {
            let options = ProfileOptions::from_pairs(pairs)?;
            return Ok(AgentCommand { action, options });
        }
        for (name, _) in pairs {
            let option = option_called(name.as_ref());
            if let Some(option) = option.filter(|option| !option.actions.contains(&action)) {
                let name = option.name;
                return Err(OptionError::Action { name, action });
            }
        }
        // Nothing begins, so it does not matter which options apply together.
        let options = ProfileOptions::read_pairs(pairs)?;
        Ok(AgentCommand { action, options })
    }

    /// The agent string that [`AgentCommand::parse`] reads back to the same. Options that the action does not
    /// take are left out.
    pub fn to_agent_string(&self) -> String {
        let mut text = self.action.name().to_owned();
        for (name, value) in self.options.pairs() {
            let taken = options().any(|option| option.name == name && option.actions.contains(&self.action));
            if taken {
                text.push(',');
                text.push_str(name);
                text.push('=');
                text.push_str(&escape(&value, &[',']));
            }
        }
        text
    }
}

/// The words of an agent string.
fn words(text: &str) -> Result<(Action, Vec<(String, String)>), OptionError> {
    let mut action = Action::Start;
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (index, word) in split_unescaped(text, &[',']).into_iter().enumerate() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name.trim(), unescape(value, &[','])),
            None if word.trim().is_empty() => continue,
            None => match word.parse::<Action>() {
                Ok(given) if index == 0 => {
                    action = given;
                    continue;
                }
                Ok(action) => return Err(OptionError::LateAction { action }),
                Err(_) if word == "quiet" => (word, "true".to_owned()),
                Err(_) => return Err(bare_word(word, pairs.last())),
            },
        };
        pairs.push((name.to_owned(), value));
    }
    Ok((action, pairs))
}

/// The error for a word without `=`.
fn bare_word(word: &str, before: Option<&(String, String)>) -> OptionError {
    if let Some(option) = option_called(word) {
        return OptionError::NoValue {
            name: option.name,
            value: option.value,
        };
    }
    let list = before.and_then(|(name, value)| Some((option_called(name)?, value)));
    match list.filter(|(option, _)| option.list) {
        Some((option, value)) => OptionError::Comma {
            name: option.name,
            before: value.clone(),
            word: word.to_owned(),
        },
        None => error::unknown(word, Action::ALL),
    }
}
