//! Notes that an answer's rows do not have: that nothing was there to be asked, that windows are missing.

use std::collections::{BTreeMap, BTreeSet};

use trodden_profile::printable;
use trodden_report::thousands;

use super::answer::{Answer, Value};
use super::files::{DataFile, Files};
use super::head::Query;
use super::params::Params;
use crate::log::Day;
use crate::tables::Table;
use crate::words::several;

impl Answer {
    /// Sentences for people, without an end.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.nothing_there.iter().cloned().collect();
        let numbers = |row: &Vec<Value>| {
            ["missing", "lacking", "unended"]
                .map(|name| self.get(row, name).number().unwrap_or(0).unsigned_abs())
        };
        let of_services: BTreeSet<(String, [u64; 3])> = self
            .rows
            .iter()
            .filter(|_| self.column("certain").is_some())
            .map(|row| (self.get(row, "service").printable(), numbers(row)))
            .collect();
        for (service, [missing, lacking, unended]) in of_services {
            let reasons: Vec<String> = [
                (missing > 0).then(|| {
                    let (windows, recordings) = (several(missing, "window"), several(lacking, "recording"));
                    format!("{windows} of {recordings} did not come in")
                }),
                (unended > 0).then(|| match unended {
                    1 => "the last window of 1 recording is not there".to_owned(),
                    more => format!("the last windows of {} recordings are not there", thousands(more)),
                }),
            ]
            .into_iter()
            .flatten()
            .collect();
            if !reasons.is_empty() {
                notes.push(format!("{service}: not known, as {}", reasons.join(", and ")));
            }
        }
        notes
    }
}

/// A sentence that says so, if the store has nothing of what was asked about. Without windows, rows say nothing
/// either.
pub(super) fn nothing_there(files: &Files, query: &Query, params: &Params, is_empty: bool) -> Option<String> {
    let asked = Asked::of(files, query, params);
    let no_window = asked.no_window();
    if no_window.is_some() || !is_empty {
        return no_window;
    }
    asked.nothing_counted().or_else(|| asked.nothing_to_compare())
}

/// The part of a store that a question is about.
struct Asked<'a> {
    files: &'a [DataFile],
    query: &'a Query,
    params: &'a Params,
    from: Option<Day>,
    to: Option<Day>,
}

impl<'a> Asked<'a> {
    fn of(files: &'a Files, query: &'a Query, params: &'a Params) -> Self {
        let (from, to) = match query.reaches.first() {
            Some(reach) => (
                params.day(&reach.from),
                reach.to.as_ref().and_then(|to| params.day(to)),
            ),
            None => (params.day("since"), None),
        };
        Asked {
            files: &files.files,
            query,
            params,
            from,
            to,
        }
    }

    fn given(&self, name: &str) -> Option<&str> {
        self.params.text(name).filter(|text| !text.is_empty())
    }

    /// Files of a table, of the service and the build that were given.
    fn chosen(&self, table: Table) -> impl Iterator<Item = &DataFile> {
        let is = |name: &str, own: &str| self.given(name).is_none_or(|wanted| wanted == own);
        self.files.iter().filter(move |file| {
            file.table == table && is("service", &file.service) && is("build", &file.build)
        })
    }

    fn is_inside(&self, file: &DataFile) -> bool {
        let Some(day) = file.day else { return true };
        self.from.is_none_or(|from| from <= day) && self.to.is_none_or(|to| day <= to)
    }

    /// The service and the build, as in "no window of service shop".
    fn whose(&self) -> String {
        let part = |name| {
            self.given(name)
                .map(|value| format!(" of {name} {}", printable(value)))
        };
        ["service", "build"].into_iter().filter_map(part).collect()
    }

    /// The days, as in "no window since 2026-11-01".
    fn when(&self) -> String {
        match (self.from, self.to) {
            (Some(from), Some(to)) if from == to => format!(" on {from}"),
            (Some(from), Some(to)) => format!(" from {from} to {to}"),
            (Some(from), None) => format!(" since {from}"),
            (None, _) => String::new(),
        }
    }

    fn no_window(&self) -> Option<String> {
        if !self.files.iter().any(|file| file.table == Table::Windows) {
            return Some("no window of any JVM is in the store".to_owned());
        }
        if self.chosen(Table::Windows).any(|file| self.is_inside(file)) {
            return None;
        }
        let newest = self.chosen(Table::Windows).filter_map(|file| file.day).max();
        let newest = newest.map_or(String::new(), |day| format!("; the newest is of {day}"));
        Some(format!(
            "no window{} is there{}{newest}",
            self.whose(),
            self.when()
        ))
    }

    /// Windows are there, and none has what the question is about.
    fn nothing_counted(&self) -> Option<String> {
        let tables: Vec<Table> = self.query.reaches.iter().map(|reach| reach.table).collect();
        let has = |&table: &Table| self.chosen(table).any(|file| self.is_inside(file));
        if tables.is_empty() || tables.iter().any(has) {
            return None;
        }
        let mut counted: Vec<&str> = tables.into_iter().map(contents).collect();
        counted.dedup();
        Some(format!(
            "no window{} has {}{}",
            self.whose(),
            counted.join(" or "),
            self.when()
        ))
    }

    /// A build that has nothing to be compared with.
    fn nothing_to_compare(&self) -> Option<String> {
        if !self.query.params.iter().any(|param| param.name == "base") {
            return None;
        }
        let mut builds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let counted = self.files.iter().filter(|file| file.table == Table::PathDays);
        for file in counted.filter(|file| self.is_inside(file)) {
            builds.entry(&file.service).or_default().insert(&file.build);
        }
        let of_service = |service: &&str| self.given("service").is_none_or(|wanted| wanted == *service);
        let is_pair = |builds: &BTreeSet<&str>| {
            let given = [self.given("build"), self.given("base")];
            builds.len() > 1 && given.into_iter().flatten().all(|build| builds.contains(build))
        };
        if builds
            .iter()
            .any(|(service, builds)| of_service(service) && is_pair(builds))
        {
            return None;
        }
        Some(format!(
            "there are no paths of two builds to compare{}",
            self.when()
        ))
    }
}

/// Contents of a table, for people.
fn contents(table: Table) -> &'static str {
    match table {
        Table::ContextDays => "calling contexts",
        Table::RequestDays | Table::RequestEdgeDays => "requests",
        Table::EdgeDays => "ways out of branches",
        Table::MethodDays => "methods that ran",
        _ => "paths",
    }
}
