//! Notes that an answer's rows do not have: that nothing was there to be asked, that windows are missing.

use std::collections::BTreeSet;

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
        let number = |row: &[Value], name: &str| self.get(row, name).number().unwrap_or(0).unsigned_abs();
        let of_services: BTreeSet<(String, [u64; 3])> = self
            .rows
            .iter()
            .filter(|_| self.column("certain").is_some())
            .map(|row| {
                let service = self.get(row, "service").plain();
                (
                    service,
                    ["missing", "lacking", "unended"].map(|name| number(row, name)),
                )
            })
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
                notes.push(format!(
                    "{}: not known, as {}",
                    printable(&service),
                    reasons.join(", and ")
                ));
            }
        }
        notes
    }
}

/// Why no row can be an answer: no window of the service, the build or the days is there.
pub(super) fn nothing_there(files: &Files, query: &Query, params: &Params) -> Option<String> {
    let windows = |file: &&DataFile| file.table == Table::Windows;
    if !files.files.iter().any(|file| windows(&file)) {
        return Some("no window of any JVM is in the store".to_owned());
    }
    let given = |name: &str| params.text(name).filter(|text| !text.is_empty());
    let is = |name: &str, own: &str| given(name).is_none_or(|wanted| wanted == own);
    let (from, to) = match query.reaches.first() {
        Some(reach) => (
            params.day(&reach.from),
            reach.to.as_ref().and_then(|to| params.day(to)),
        ),
        None => (params.day("since"), None),
    };
    let of = || {
        files
            .files
            .iter()
            .filter(windows)
            .filter(|file| is("service", &file.service) && is("build", &file.build))
    };
    let inside = |day: Day| from.is_none_or(|from| from <= day) && to.is_none_or(|to| day <= to);
    if of().any(|file| file.day.is_none_or(inside)) {
        return None;
    }
    let mut whose = String::new();
    for name in ["service", "build"] {
        if let Some(value) = given(name) {
            whose += &format!(" of {name} {}", printable(value));
        }
    }
    let when = match (from, to) {
        (Some(from), Some(to)) if from == to => format!(" on {from}"),
        (Some(from), Some(to)) => format!(" from {from} to {to}"),
        (Some(from), None) => format!(" since {from}"),
        (None, _) => String::new(),
    };
    let newest = of().filter_map(|file| file.day).max();
    let newest = newest.map_or(String::new(), |day| format!("; the newest is of {day}"));
    Some(format!("no window{whose} is there{when}{newest}"))
}
