//! The contents of a commit.

use std::fmt::{self, Display};
use std::str::FromStr;

use chrono::{DateTime, NaiveDate};
use serde::{Deserialize, Serialize};

use super::Windows;
use crate::tables::Table;

/// A UTC day: `2026-11-25`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day(
    /// Days since 1970-01-01.
    pub i32,
);

impl Day {
    /// The day of a time in milliseconds since 1970-01-01.
    pub fn of_ms(ms: i64) -> Day {
        Day(ms.div_euclid(86_400_000).clamp(-700_000, 2_900_000) as i32)
    }

    /// When it begins, in milliseconds since 1970-01-01.
    pub fn start_ms(self) -> i64 {
        i64::from(self.0) * 86_400_000
    }
}

impl Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match DateTime::from_timestamp_millis(self.start_ms()) {
            Some(time) => write!(f, "{}", time.date_naive()),
            None => write!(f, "{}", self.0),
        }
    }
}

/// A text is no day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no day, such as 2026-11-25")]
pub struct NoDay(String);

impl FromStr for Day {
    type Err = NoDay;

    fn from_str(text: &str) -> Result<Self, NoDay> {
        let wrong = || NoDay(text.to_owned());
        let date = NaiveDate::from_str(text).map_err(|_| wrong())?;
        let days = date.signed_duration_since(NaiveDate::default()).num_days();
        i32::try_from(days).map(Day).map_err(|_| wrong())
    }
}

impl TryFrom<String> for Day {
    type Error = NoDay;

    fn try_from(text: String) -> Result<Self, NoDay> {
        text.parse()
    }
}

impl From<Day> for String {
    fn from(day: Day) -> String {
        day.to_string()
    }
}

/// The kind of change that a writer made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Windows came in.
    Add,
    /// Files were replaced by fewer ones that say the same.
    Compact,
    /// Files went.
    Drop,
}

/// The time unit that windows of one JVM were combined into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Granularity {
    /// One row per hour in which they began.
    Hour,
    /// One row per day.
    Day,
}

/// A Parquet file of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// The table that it belongs to.
    pub table: Table,
    /// Where it is, from the root of the store.
    pub path: String,
    /// Rows in it.
    pub rows: u64,
    /// Bytes of it.
    pub bytes: u64,
    /// SHA-256 of these, as 64 hexadecimal digits.
    pub sha256: String,
    /// The service that all of its rows are of.
    pub service: String,
    /// The build.
    pub build: String,
    /// The day, but for tables that have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<Day>,
    /// When the first of its windows began, in milliseconds since 1970-01-01; none if it has no windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<i64>,
    /// When the last of them began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<i64>,
    /// The time unit that its windows were combined into, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grain: Option<Granularity>,
    /// Windows that its rows are of; only of files of the table of windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<u64>,
}

/// One commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// Its number, from 1.
    pub version: u64,
    /// When it was made, in milliseconds since 1970-01-01, by the writer's clock.
    pub at_ms: u64,
    /// A name that no other commit has: by it a writer knows its own.
    pub id: String,
    /// The change.
    pub what: What,
    /// Files that came in.
    pub added: Vec<FileEntry>,
    /// Files that went: their paths.
    pub removed: Vec<String>,
    /// Windows that came in.
    #[serde(default, skip_serializing_if = "Windows::is_empty")]
    pub windows: Windows,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days() {
        for (text, number) in [("1970-01-01", 0), ("2026-11-25", 20_782), ("1969-12-31", -1)] {
            assert_eq!(text.parse(), Ok(Day(number)));
            assert_eq!(Day(number).to_string(), text);
            assert_eq!(Day::of_ms(Day(number).start_ms() + 86_399_999), Day(number));
        }
        assert!("2026-13-01".parse::<Day>().is_err());
        let last = Day::of_ms(i64::MAX);
        assert_eq!(last.to_string().parse(), Ok(last));
    }
}
