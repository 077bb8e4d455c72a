//! Profile options: the same words on the command line, in the agent string and in a properties file.
//!
//! *In*: text. *Out*: an [`AgentCommand`] or [`ProfileOptions`]. No JVM is needed to parse.
//!
//! - **Agent string**: `start,probe=yieldpoint,interval=20ms,include=a.*+b.*`. An [`Action`] may come first.
//!   A comma ends a value; `\,` is a comma inside one. An underscore in a name is taken as a hyphen.
//! - **Properties file**: a `name=value` (or `name: value`) per line; `#` or `!` begins a comment line.
//!   A comma is a plain character there, and on the command line.
//! - In all three, values of a list are joined by `+` or `,` (`\+` and `\,` are the characters inside
//!   one), or the name is repeated. `\\` is a backslash; before any other character a backslash is itself.
//!
//! There is one [entry](OptionEntry) per option, in the file of its group in `entries`: name, help, default,
//! how it is read and printed, where it applies, who takes it, and what changes with it. Everything else
//! about options goes through that [table](GROUPS): the parser, the printer, the help of the command line,
//! the documentation, and [`ProfileOptions::fingerprint`], which says whether two profiles can continue with
//! the same classes.

// In the table, `set` reads as the assignment that it is: `|o, value| Ok(o.field = parse(value)?)`.
#![allow(clippy::unit_arg)]

mod check;
mod choices;
mod code;
mod command;
mod contexts;
mod derived;
mod entries;
mod entry;
mod error;
mod file_pattern;
mod fleet;
mod kpaths;
mod limits;
mod near;
mod output;
mod place;
mod sampling;
mod schedule;
mod structural;
mod subpaths;
mod syntax;
mod table;
mod value_error;
mod values;

pub use choices::ProfileOptions;
pub use code::{CodeChoices, UseProfile};
pub use command::AgentCommand;
pub use contexts::ContextChoices;
pub use entry::{Effect, Level, OptionEntry, TakenBy, Use};
pub use error::OptionError;
pub use file_pattern::{FileFormat, FilePattern, UnsetVariable};
pub use fleet::{Fleet, FleetChoices};
pub use kpaths::KPathsChoices;
pub use limits::{MAX_K, MAX_SUBPATH};
pub use near::{near_patterns, nearest};
pub use output::OutputChoices;
pub use place::{PlaceError, check_place};
pub use sampling::SamplingChoices;
pub use schedule::Schedule;
pub use structural::{RetiringChoices, StructuralChoices};
pub use subpaths::{MAX_PREFERENCE, SubpathChoices, SubpathDistance, SubpathStarts, SubpathThreshold};
pub use table::{GROUPS, OptionGroup, markdown, option_named, options};
pub use value_error::ValueError;
pub use values::{
    Action, Arguments, Burst, BurstEvents, ContextAlgorithm, ContextWeight, CoverageOf, CutPaths, LogLevel,
    OpenPaths, Probe, ProfileKind, SampledBy, Share, SinglePathMethods, SubpathCounts, SubpathIdentity,
    SubpathLengths, format_duration, parse_duration,
};

use syntax::{join_list, properties, split_list};
use table::option_called;

/// The option that is read before all others.
const CONFIG: &str = "config";

impl ProfileOptions {
    /// From names and values, values in option syntax (`+` between values of a list). Order does not matter,
    /// but among values of one list. For programs that are recorded.
    ///
    /// # Errors
    /// An option that cannot be understood or does not apply with the others, one that only a replay takes,
    /// or trouble with the file that `config` names.
    pub fn from_pairs<N: AsRef<str>, V: AsRef<str>>(pairs: &[(N, V)]) -> Result<Self, OptionError> {
        let options = Self::read_pairs(pairs)?;
        options.check_recorded()?;
        options.check_given(pairs)?;
        options.check()?;
        Ok(options)
    }

    /// From names and values as [`from_pairs`](Self::from_pairs) takes them, for a replay, which takes values
    /// for research as well.
    ///
    /// # Errors
    /// An option that cannot be understood or does not apply with the others, or trouble with the file that
    /// `config` names.
    pub fn for_replay<N: AsRef<str>, V: AsRef<str>>(pairs: &[(N, V)]) -> Result<Self, OptionError> {
        let options = Self::read_pairs(pairs)?;
        options.check_given(pairs)?;
        options.check_together()?;
        Ok(options)
    }

    /// Do the options that were given apply? First, since that is the clearest thing to say.
    fn check_given<N: AsRef<str>, V>(&self, pairs: &[(N, V)]) -> Result<(), OptionError> {
        let given = pairs.iter().filter_map(|(name, _)| option_called(name.as_ref()));
        { given }.try_for_each(|option| self.check_use(option))
    }

    /// From names and values, whether the options go together or not: see [`check`](Self::check).
    ///
    /// # Errors
    /// An option that cannot be understood, or trouble with the file that `config` names.
    pub fn read_pairs<N: AsRef<str>, V: AsRef<str>>(pairs: &[(N, V)]) -> Result<Self, OptionError> {
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(n, v)| (n.as_ref(), v.as_ref())).collect();
        let mut options = ProfileOptions::default();
        let mut files = pairs.iter().filter(|(name, _)| *name == CONFIG);
        if let Some((_, file)) = files.next() {
            options.read_config(file)?;
        }
        if files.next().is_some() {
            return Err(OptionError::Twice { name: CONFIG });
        }
        options.apply(pairs.iter().copied().filter(|(name, _)| *name != CONFIG))?;
        options.count_for_coverage();
        options.count_for_requests();
        Ok(options)
    }

    fn read_config(&mut self, file: &str) -> Result<(), OptionError> {
        let unreadable = |e: std::io::Error| OptionError::Unreadable {
            file: file.to_owned(),
            reason: e.to_string(),
        };
        let wrong = |error| OptionError::Config {
            file: file.to_owned(),
            error: Box::new(error),
        };
        let text = std::fs::read_to_string(file).map_err(unreadable)?;
        let pairs = lines(&text).map_err(wrong)?;
        if pairs.iter().any(|(name, _)| name == CONFIG) {
            return Err(wrong(OptionError::Nested { name: CONFIG }));
        }
        let pairs = pairs.iter().map(|(name, value)| (&**name, &**value));
        self.apply(pairs).map_err(wrong)
    }

    /// Applies pairs over what is there: a list that is given replaces the one that was there before.
    fn apply<'a>(&mut self, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(), OptionError> {
        let mut values: Vec<(&'static OptionEntry, String)> = Vec::new();
        for (name, value) in pairs {
            let option = option_called(name).ok_or_else(|| error::unknown(name, &[]))?;
            let before = values.iter_mut().find(|(other, _)| other.name == option.name);
            match before {
                None => values.push((option, value.to_owned())),
                Some((_, values)) if option.list => {
                    let mut all = split_list(values);
                    all.extend(split_list(value));
                    *values = join_list(all.iter().map(String::as_str));
                }
                Some(_) => return Err(OptionError::Twice { name: option.name }),
            }
        }
        for option in options() {
            let Some((_, value)) = values.iter().find(|(other, _)| other.name == option.name) else {
                continue;
            };
            (option.set)(self, value).map_err(|reason| OptionError::Value {
                name: option.name,
                reason,
            })?;
            self.given.insert(option.name);
        }
        Ok(())
    }

    /// Names and values, in option syntax, of every option that was given or differs from its default, in the
    /// order of the table. [`ProfileOptions::from_pairs`] reads them back.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let default = ProfileOptions::default();
        let changed = |option: &OptionEntry| {
            let value = option.value_in(self)?;
            let differs = option.value_in(&default).as_ref() != Some(&value);
            (differs || self.is_given(option.name)).then_some((option.name, value))
        };
        options().filter_map(changed).collect()
    }

    /// All that decides about instrumented classes and the meaning of counts, as text. With equal texts,
    /// classes get the same bytes, and counts may be added to those that are there.
    ///
    /// Of a former run's profile it only says whether there is one: the file may be another by now, so what
    /// it holds has to be added.
    pub fn fingerprint(&self) -> String {
        let marks = options().filter_map(|option| {
            let mark = option.mark_in(self)?;
            Some(format!("{}={mark}", option.name))
        });
        marks.collect::<Vec<String>>().join("\n")
    }
}

/// The pairs of a properties file.
fn lines(text: &str) -> Result<Vec<(String, String)>, OptionError> {
    properties(text).map_err(|(line, text)| OptionError::Line { line, text })
}

#[cfg(test)]
mod tests;
