//! Parameters of a question: what was given, what is the default, and which files that leaves.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::error::{QueryError, nearest};
use super::files::{DataFile, Files};
use super::head::{Default, ParamKind, Query, value};
use crate::log::Day;

/// The parameters that were given, by name.
pub type Given = BTreeMap<String, String>;

/// One parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Param {
    Date(Day),
    Text(String),
    Number(i64),
    Share(f64),
}

/// The row of `params`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    pub(super) values: Vec<(String, Param)>,
}

impl Params {
    /// Those of a question. SQL that declares none has `since`, `service` and `build`, each if it was given,
    /// and they choose rows of all tables.
    ///
    /// # Errors
    /// If a value is of another type, names nothing of the store, or is missing; or if there is no such
    /// parameter.
    pub fn of(query: &mut Query, given: &Given, files: &Files) -> Result<Self, QueryError> {
        if query.params.is_empty() {
            query.params = own(given);
        }
        let names: Vec<&str> = query.params.iter().map(|param| param.name.as_str()).collect();
        if let Some(unknown) = given.keys().find(|name| !names.contains(&name.as_str())) {
            let near = nearest(unknown, names.iter().copied())
                .map_or(String::new(), |near| format!("; did you mean '{near}'?"));
            return Err(QueryError::Asked(format!(
                "{} has no parameter '{unknown}'{near} It has {}.",
                query.name,
                if names.is_empty() {
                    "none".to_owned()
                } else {
                    names.join(", ")
                }
            )));
        }
        let newest = files.newest().unwrap_or(Day(0));
        let mut values = Vec::new();
        for param in &query.params {
            let given = match given.get(&param.name) {
                Some(text) => {
                    let wrong =
                        |what: &dyn Display| QueryError::Asked(format!("parameter {}: {what}", param.name));
                    known(&param.name, text, files).map_err(|unknown| wrong(&unknown))?;
                    Some(value(param.kind, text).map_err(|senseless| wrong(&senseless))?)
                }
                None => param.default.clone(),
            };
            let value = match given {
                Some(Default::Newest(days)) => Param::Date(Day(newest.0.saturating_sub_unsigned(days))),
                Some(Default::Day(day)) => Param::Date(day),
                Some(Default::Text(text)) => Param::Text(text),
                Some(Default::Number(number)) => Param::Number(number),
                Some(Default::Share(number)) => Param::Share(number),
                None => {
                    return Err(QueryError::Asked(format!(
                        "{} needs --param {}=… ({})",
                        query.name, param.name, param.about
                    )));
                }
            };
            values.push((param.name.clone(), value));
        }
        Ok(Params { values })
    }

    pub(super) fn day(&self, name: &str) -> Option<Day> {
        self.values.iter().find_map(|(known, value)| match value {
            Param::Date(day) if known == name => Some(*day),
            _ => None,
        })
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.values.iter().find_map(|(known, value)| match value {
            Param::Text(text) if known == name => Some(text.as_str()),
            _ => None,
        })
    }

    /// Names and values as text.
    pub fn texts(&self) -> impl Iterator<Item = (&str, String)> {
        self.values.iter().map(|(name, value)| {
            let text = match value {
                Param::Date(day) => day.to_string(),
                Param::Text(text) => text.clone(),
                Param::Number(number) => number.to_string(),
                Param::Share(number) => number.to_string(),
            };
            (name.as_str(), text)
        })
    }

    /// Returns true if this file can have rows that matter.
    pub(super) fn concerns(&self, query: &Query, file: &DataFile) -> bool {
        let is = |name: &str, own: &str| {
            self.text(name)
                .is_none_or(|wanted| wanted.is_empty() || wanted == own)
        };
        // Whatever is asked of a service is asked of nothing else. A build is compared with others.
        if !is("service", &file.service) {
            return false;
        }
        let Some(day) = file.day else { return true };
        query
            .reaches
            .iter()
            .filter(|reach| reach.table == file.table)
            .all(|reach| {
                let from = self.day(&reach.from);
                let to = reach.to.as_ref().and_then(|to| self.day(to));
                from.is_none_or(|from| from <= day) && to.is_none_or(|to| day <= to)
            })
    }

    /// Like `concerns`, but for the user's own SQL, whose use of `params` is not known: rows of all tables
    /// are chosen by them.
    pub(super) fn chooses(&self, file: &DataFile) -> bool {
        let is = |name: &str, own: &str| self.text(name).is_none_or(|wanted| wanted == own);
        let since = self.day("since");
        is("service", &file.service)
            && is("build", &file.build)
            && since.is_none_or(|since| file.day.is_none_or(|day| since <= day))
    }
}

/// The parameters of SQL that declares nothing.
fn own(given: &Given) -> Vec<super::head::Declared> {
    let all = [
        ("since", ParamKind::Date),
        ("service", ParamKind::Text),
        ("build", ParamKind::Text),
    ];
    let given = all.into_iter().filter(|(name, _)| given.contains_key(*name));
    given
        .map(|(name, kind)| super::head::Declared {
            name: name.to_owned(),
            kind,
            default: None,
            about: String::new(),
        })
        .collect()
}

/// A service or build that nothing in the store has.
#[derive(Debug, thiserror::Error)]
#[error("nothing in the store has '{name}'{near} {there}")]
struct Unknown {
    name: String,
    /// The name that may be meant.
    near: String,
    /// The names that there are.
    there: String,
}

/// Names of services and builds are checked: a misspelt one would give an empty answer.
fn known(param: &str, text: &str, files: &Files) -> Result<(), Unknown> {
    let names = match param {
        "service" => files.services(),
        "build" | "base" => files.builds(),
        _ => return Ok(()),
    };
    if text.is_empty() || names.contains(&text) {
        return Ok(());
    }
    let near = nearest(text, names.iter().copied())
        .map_or(String::new(), |near| format!("; did you mean '{near}'?"));
    let few: Vec<&str> = names.iter().copied().take(10).collect();
    let more = if names.len() > few.len() { ", …" } else { "" };
    let there = if few.is_empty() {
        "The store is empty.".to_owned()
    } else {
        format!("There are {}{more}.", few.join(", "))
    };
    Err(Unknown {
        name: text.to_owned(),
        near,
        there,
    })
}
