//! What changed in a fleet, and is not chance: costs of methods, shares of paths and outcomes, and code that begins or stops
//! to run.
//!
//! *In*: the files of a store. *Out*: findings, each a method with what changed in it at one time. Nothing is kept between
//! two runs: the same files give the same findings.

mod detect;
mod findings;
mod series;
mod write;

use std::collections::BTreeMap;

pub use findings::{Event, Finding, Moved};
pub use series::{Kind, Method};
pub use write::{json, markdown, sarif, webhook};

use crate::log::Day;
use crate::query::{Answer, Engine, Given, Query, QueryError, Value};

/// Options of a watch.
#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// Only this service; empty: all.
    pub service: String,
    /// The first day that is looked at; else 60 before the last.
    pub history: i32,
    /// Findings that were first seen on this day or later; else on the last day only.
    pub since: Option<Day>,
    /// The last day; else the newest that is over.
    pub until: Option<Day>,
    /// False alarms a week, over all series, at most on average.
    pub false_alarms: f64,
    /// The least change of a cost, as a share of the service's.
    pub least: f64,
    /// The least change of the share of a path or outcome.
    pub least_share: f64,
}

impl Default for WatchOptions {
    fn default() -> Self {
        WatchOptions {
            service: String::new(),
            history: 60,
            since: None,
            until: None,
            false_alarms: 1.0,
            least: 0.0005,
            least_share: 0.01,
        }
    }
}

/// The outcome of a watch.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Findings that were first seen on this day or later.
    pub since: Day,
    /// The last day that was looked at.
    pub until: Day,
    /// Days that were looked at.
    pub days: usize,
    /// Series that were tested.
    pub series: usize,
    /// New changes, the largest first; costs that moved are last.
    pub findings: Vec<Finding>,
}

impl Watched {
    /// Findings that are not only costs that moved.
    pub fn alarms(&self) -> usize {
        self.findings.iter().filter(|finding| !finding.is_moved()).count()
    }
}

/// Looks for changes.
///
/// # Errors
/// If the store cannot be asked.
pub async fn watch(engine: &Engine, options: &WatchOptions) -> Result<Watched, QueryError> {
    let newest = engine.files().newest().unwrap_or(Day(0));
    // The day of the last commit is not over.
    let over = if newest >= engine.files().committed {
        Day(engine.files().committed.0 - 1)
    } else {
        newest
    };
    let until = options.until.unwrap_or(over);
    let since = options.since.unwrap_or(until);
    let begin = Day(until.0.saturating_sub(options.history));
    let ask = async |name: &str, sql: &str, of_days: bool| -> Result<Answer, QueryError> {
        let mut given = Given::new();
        given.insert("service".to_owned(), options.service.clone());
        if of_days {
            given.insert("since".to_owned(), begin.to_string());
            given.insert("until".to_owned(), until.to_string());
        }
        Ok(engine.ask(&Query::parse(name, sql)?, &given).await?.0)
    };
    let mut all = series::costs(&ask("costs", include_str!("costs.sql"), true).await?);
    let answer = ask("paths", include_str!("paths.sql"), true).await?;
    let of_path = |row: &[Value]| answer.get(row, "name").text().map(str::to_owned);
    let of = ["service", "class", "method", "descriptor", "graph"];
    all.extend(series::shares(
        Kind::Path,
        &series::choices(&answer, &of, of_path),
    ));
    drop(answer);
    let answer = ask("outcomes", include_str!("outcomes.sql"), true).await?;
    let of_outcome = |row: &[Value]| {
        let text = |column: &str| answer.get(row, column).text();
        let outcome = text("outcome")?;
        Some(match text("condition") {
            Some(condition) => format!("{condition} → {outcome}"),
            None => outcome.to_owned(),
        })
    };
    let of = ["service", "class", "method", "descriptor", "graph", "bci"];
    let choices = series::choices(&answer, &of, of_outcome);
    all.extend(series::shares(Kind::Outcome, &choices));
    let turns = series::turns(&choices);
    drop((choices, answer));

    let builds = builds(&ask("builds", include_str!("builds.sql"), false).await?);
    let places = findings::places(&ask("places", include_str!("places.sql"), false).await?);
    let days = series::days(&all).len();
    let series = all.len();
    let mut findings = findings::find(&all, turns, options, &builds, &places);
    findings.retain(|finding| finding.seen >= since);
    Ok(Watched {
        since,
        until,
        days,
        series,
        findings,
    })
}

/// The builds of services, with their first days, in the order of these.
type Builds = BTreeMap<String, Vec<(i32, String)>>;

fn builds(answer: &Answer) -> Builds {
    let mut builds = Builds::new();
    for row in &answer.rows {
        if let Some(day) = series::day(answer, row) {
            let of = builds
                .entry(series::text(answer, row, "service").to_owned())
                .or_default();
            of.push((day, series::text(answer, row, "build").to_owned()));
        }
    }
    builds
}
