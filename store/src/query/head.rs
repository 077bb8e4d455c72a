//! The declarations of a question, in the comments at its head.
//!
//! ```sql
//! -- Which methods cost most, over all JVMs?
//! -- param since DATE default newest-30d: first day that counts
//! -- param day DATE default newest: the day that is looked at
//! -- param service TEXT default '': of this service only; empty: of all
//! -- days method_days from since
//! -- days paths from day to day
//! -- views builds
//! -- once hosts
//! -- parts hosts by paths: counted, found
//! ```
//!
//! The first line is the question. `param` declares a column of the view `params`, which has one row. `days`
//! promises that the answer depends on no row of a table outside of these days: files of others need not be
//! opened. `views` names views that questions share, each after those that it uses. `once` names tables of
//! the `WITH` that are worth to be made once and kept in memory; an engine that does not may make them
//! whenever they are named. `parts` promises that the last of the tables behind the colon (`found`) has for
//! some rows of the first table (`hosts`, which is made once) what it has for these among all rows: an engine
//! may make it for a part of them at a time. The more rows the table behind `by` has, the more parts.

use super::error::QueryError;
use super::views::{NoView, View, view};
use crate::log::Day;
use crate::tables::{NoTable, Table};

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Its name; for the user's own SQL, the name of the file, or `sql`.
    pub name: String,
    /// The question in one line; empty if its SQL does not say.
    pub question: String,
    /// Parameters, in order.
    pub params: Vec<Declared>,
    /// Which days of tables are of interest.
    pub reaches: Vec<Reach>,
    /// Views that it shares with other questions, in order.
    pub views: Vec<&'static View>,
    /// Tables of its `WITH` that are made once, in order.
    pub once: Vec<String>,
    /// Tables of its `WITH` that can be made in parts.
    pub parts: Option<InParts>,
    /// One SELECT.
    pub sql: String,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// Name of the column of `params`.
    pub name: String,
    /// Its type.
    pub kind: ParamKind,
    /// Its default; `None`: it has to be given.
    pub default: Option<Default>,
    /// Its description.
    pub about: String,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A day.
    Date,
    /// Text.
    Text,
    /// A whole number.
    Number,
    /// A number.
    Share,
}

/// The default of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Default {
    /// This number of days before the newest day of the store.
    Newest(u32),
    /// This day.
    Day(Day),
    /// This text.
    Text(String),
    /// This number.
    Number(i64),
    /// This number.
    Share(f64),
}

/// Rows of a table of other days do not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The table.
    pub table: Table,
    /// Parameter with the first day.
    pub from: String,
    /// Parameter with the last day.
    pub to: Option<String>,
}

/// Tables that can be made for some rows of another one at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InParts {
    /// The one whose rows are parted.
    pub of: String,
    /// The table whose number of rows says how many parts there are.
    pub by: Table,
    /// Those that are made for each part, in order; the last one is that which is kept.
    pub tables: Vec<String>,
}

/// Why a declaration, or a parameter's value, makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HeadError {
    #[error("a parameter is declared as 'param NAME TYPE default VALUE: MEANING'")]
    Param,
    #[error("type '{0}': it has to be DATE, TEXT, BIGINT or DOUBLE")]
    Type(String),
    #[error("'{0}': it has to be 'default VALUE'")]
    Default(String),
    #[error("a text needs single quotes, unlike {0}")]
    Unquoted(String),
    #[error("'{0}' is no whole number")]
    NoWholeNumber(String),
    #[error("'{0}' is no number")]
    NoNumber(String),
    #[error("'{0}' is no day: give 2026-11-25, newest, or 30d for that number of days before the newest")]
    NoDay(String),
    #[error("days are declared as 'days TABLE from PARAM to PARAM'")]
    Days,
    #[error("parts are declared once, as 'parts NAME by TABLE: NAME, …'")]
    Parts,
    #[error(transparent)]
    Table(#[from] NoTable),
    #[error(transparent)]
    View(#[from] NoView),
    #[error("table '{0}' has no days")]
    Timeless(Table),
    #[error("no parameter '{0}' with a DATE was declared above")]
    Undeclared(String),
}

impl Query {
    /// Reads the head of a question.
    ///
    /// # Errors
    /// If a `param` or `days` makes no sense; the line is named.
    pub fn parse(name: &str, sql: &str) -> Result<Self, QueryError> {
        let mut query = Query {
            name: name.to_owned(),
            question: String::new(),
            params: Vec::new(),
            reaches: Vec::new(),
            views: Vec::new(),
            once: Vec::new(),
            parts: None,
            sql: sql.to_owned(),
        };
        let comments = sql.lines().map_while(|line| line.strip_prefix("--"));
        for (index, line) in comments.map(str::trim).enumerate() {
            let wrong = |what: HeadError| QueryError::Asked(format!("{name}: line {}: {what}", index + 1));
            if let Some(rest) = line.strip_prefix("param ") {
                query.params.push(declared(rest).map_err(wrong)?);
            } else if let Some(rest) = line.strip_prefix("days ") {
                let reach = reach(rest).map_err(wrong)?;
                for day in [Some(&reach.from), reach.to.as_ref()].into_iter().flatten() {
                    let known = query
                        .params
                        .iter()
                        .any(|param| param.name == *day && param.kind == ParamKind::Date);
                    if !known {
                        return Err(wrong(HeadError::Undeclared(day.clone())));
                    }
                }
                query.reaches.push(reach);
            } else if let Some(rest) = line.strip_prefix("views ") {
                for name in rest.split(',').map(str::trim) {
                    query
                        .views
                        .push(view(name).map_err(|unknown| wrong(unknown.into()))?);
                }
            } else if let Some(rest) = line.strip_prefix("once ") {
                query
                    .once
                    .extend(rest.split(',').map(|name| name.trim().to_owned()));
            } else if let Some(rest) = line.strip_prefix("parts ") {
                let parts = in_parts(rest).map_err(wrong)?;
                if query.parts.replace(parts).is_some() {
                    return Err(wrong(HeadError::Parts));
                }
            } else if index == 0 {
                query.question = line.to_owned();
            }
        }
        Ok(query)
    }

    /// Returns true if its SQL, or that of a view, has this name of a table in it.
    pub(super) fn has(&self, table: Table) -> bool {
        let views = self.views.iter().map(|view| view.sql);
        views
            .chain([self.sql.as_str()])
            .any(|sql| sql.contains(table.name()))
    }
}

/// `since DATE default newest-30d: first day that counts`
fn declared(text: &str) -> Result<Declared, HeadError> {
    let (spec, about) = text.split_once(": ").unwrap_or((text, ""));
    let mut words = spec.splitn(4, ' ');
    let (Some(name), Some(kind)) = (words.next(), words.next()) else {
        return Err(HeadError::Param);
    };
    let kind = match kind {
        "DATE" => ParamKind::Date,
        "TEXT" => ParamKind::Text,
        "BIGINT" => ParamKind::Number,
        "DOUBLE" => ParamKind::Share,
        other => return Err(HeadError::Type(other.to_owned())),
    };
    let default = match (words.next(), words.next()) {
        (None, _) => None,
        (Some("default"), Some(value)) => Some(default(kind, value)?),
        (Some(other), _) => return Err(HeadError::Default(other.to_owned())),
    };
    Ok(Declared {
        name: name.to_owned(),
        kind,
        default,
        about: about.to_owned(),
    })
}

fn default(kind: ParamKind, text: &str) -> Result<Default, HeadError> {
    match kind {
        ParamKind::Text => match text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            Some(inner) => Ok(Default::Text(inner.to_owned())),
            None => Err(HeadError::Unquoted(text.to_owned())),
        },
        kind => value(kind, text),
    }
}

/// A value as people give it.
pub(super) fn value(kind: ParamKind, text: &str) -> Result<Default, HeadError> {
    match kind {
        ParamKind::Text => Ok(Default::Text(text.to_owned())),
        ParamKind::Number => text
            .parse()
            .map(Default::Number)
            .map_err(|_| HeadError::NoWholeNumber(text.to_owned())),
        ParamKind::Share => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Default::Share(number)),
            _ => Err(HeadError::NoNumber(text.to_owned())),
        },
        ParamKind::Date => match text {
            "newest" => Ok(Default::Newest(0)),
            _ => {
                let days = text.strip_prefix("newest-").unwrap_or(text).strip_suffix('d');
                match days.and_then(|days| days.parse().ok()) {
                    Some(days) => Ok(Default::Newest(days)),
                    None => {
                        let day = text.parse().map(Default::Day);
                        day.map_err(|_| HeadError::NoDay(text.to_owned()))
                    }
                }
            }
        },
    }
}

/// `method_days from since to day`
fn reach(text: &str) -> Result<Reach, HeadError> {
    let words: Vec<&str> = text.split(' ').collect();
    let (table, from, to) = match *words {
        [table, "from", from] => (table, from, None),
        [table, "from", from, "to", to] => (table, from, Some(to.to_owned())),
        _ => return Err(HeadError::Days),
    };
    let table: Table = table.parse()?;
    if table.is_timeless() {
        return Err(HeadError::Timeless(table));
    }
    Ok(Reach {
        table,
        from: from.to_owned(),
        to,
    })
}

/// `hosts by paths: counted, found`
fn in_parts(text: &str) -> Result<InParts, HeadError> {
    let (spec, tables) = text.split_once(": ").ok_or(HeadError::Parts)?;
    let (of, by) = spec.split_once(" by ").ok_or(HeadError::Parts)?;
    Ok(InParts {
        of: of.to_owned(),
        by: by.parse()?,
        tables: tables.split(',').map(|name| name.trim().to_owned()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read() {
        let sql = "-- What?\n-- param day DATE default newest-3d: the day\n-- param to TEXT: where: there\n-- param least BIGINT default 7\n\
                   -- days paths from day to day\n-- views builds, chosen\n-- more\nSELECT 1\n-- param late TEXT\n";
        let query = Query::parse("x", sql).unwrap();
        assert_eq!(query.question, "What?");
        assert_eq!(query.params.len(), 3);
        assert_eq!(query.params[0].default, Some(Default::Newest(3)));
        assert_eq!(
            (query.params[1].about.as_str(), &query.params[1].default),
            ("where: there", &None)
        );
        assert_eq!(query.params[2].default, Some(Default::Number(7)));
        assert_eq!(query.reaches[0].to.as_deref(), Some("day"));
        assert_eq!(query.parts, None);
        let query = Query::parse(
            "x",
            "-- What?\n-- once hosts\n-- parts hosts by paths: counted, found\nSELECT 1",
        )
        .unwrap();
        let parts = InParts {
            of: "hosts".to_owned(),
            by: Table::Paths,
            tables: vec!["counted".to_owned(), "found".to_owned()],
        };
        assert_eq!((query.once, query.parts), (vec!["hosts".to_owned()], Some(parts)));
        let query = Query::parse("x", sql).unwrap();
        let views: Vec<&str> = query.views.iter().map(|view| view.name).collect();
        assert_eq!(views, ["builds", "chosen"]);
        assert!(query.has(Table::Windows) && !query.has(Table::Branches));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let wrong = |head: &str| Query::parse("x.sql", head).unwrap_err().to_string();
        assert!(wrong("-- a\n-- param x INT").starts_with("x.sql: line 2: type 'INT'"));
        assert!(wrong("-- param x DATE default soon").contains("'soon' is no day"));
        assert!(wrong("-- param x TEXT default soon").contains("single quotes"));
        assert!(wrong("-- days paths from x").contains("no parameter 'x'"));
        assert!(wrong("-- param x DATE\n-- days branches from x").contains("has no days"));
        assert!(wrong("-- views build").contains("no view 'build'; there are builds, "));
        assert!(wrong("-- a\n-- parts hosts: counted").contains("'parts NAME by TABLE"));
        assert!(
            wrong("-- parts a by paths: b\n-- parts a by paths: b")
                .contains("line 2: parts are declared once")
        );
        assert!(wrong("-- param x DATE\n-- days path from x").contains("there is no table 'path'"));
    }
}
