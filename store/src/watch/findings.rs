//! From changes of series to findings: what belongs together, what moved, and which build it came with.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::detect::{self, Point, Step};
use super::series::{self, Kind, Method, Series, Turn};
use super::{Builds, WatchOptions};
use crate::log::Day;
use crate::query::Answer;

/// The part of a change that may be left in a class or package, if its cost moved within that.
const LEFT: f64 = 0.25;
/// Days before a change that are compared.
const BEFORE: i32 = 28;

/// One thing that changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its kind.
    pub kind: Kind,
    /// The path or outcome.
    pub what: Option<String>,
    /// The line of an outcome.
    pub line: Option<i64>,
    /// The level before: a share, or executions a day of an outcome that begins or stops.
    pub before: f64,
    /// The level from then on.
    pub after: f64,
    /// Standard error of the difference, where it is one of shares.
    pub error: Option<f64>,
    /// Logarithm to base 10 of the evidence; none for what is a fact.
    pub evidence: Option<f64>,
}

/// Where a cost went, or came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// `class`, `package` or `service`: within what it moved.
    pub within: &'static str,
    /// The method on the other side.
    pub other: Method,
}

/// A method in which something changed, at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Where.
    pub method: Method,
    /// Its source file and first line, if known.
    pub place: (Option<String>, Option<i64>),
    /// The first day of the change.
    pub from: Day,
    /// The day on which it was seen.
    pub seen: Day,
    /// The build that began then, and the one before it.
    pub builds: Option<(String, String)>,
    /// Its changes, the most important first.
    pub events: Vec<Event>,
    /// If what it costs is only a cost that moved.
    pub moved: Option<Moved>,
}

impl Finding {
    /// Returns true if its costs moved, and nothing begins or stops.
    pub fn is_moved(&self) -> bool {
        self.moved.is_some()
    }

    /// By how much the most important share changed.
    pub fn size(&self) -> f64 {
        self.events
            .first()
            .map_or(0.0, |event| (event.after - event.before).abs())
    }

    /// A name that stays the same from run to run.
    pub fn id(&self) -> String {
        let kind = self.events.first().map_or("", |event| event.kind.name());
        let what = self
            .events
            .first()
            .and_then(|event| event.what.as_deref())
            .unwrap_or_default();
        let Method {
            service,
            class,
            method,
            descriptor,
        } = &self.method;
        let parts = [
            service,
            class,
            method,
            descriptor,
            kind,
            what,
            &self.from.to_string(),
        ];
        trodden_report::sarif::fingerprint(&parts, 0)
    }
}

/// Source files and first lines.
pub(super) type Places = BTreeMap<Method, (Option<String>, Option<i64>)>;

pub(super) fn places(answer: &Answer) -> Places {
    let place = |row: &Vec<_>| {
        let file = answer.get(row, "source_file").text().map(str::to_owned);
        (
            series::method(answer, row),
            (file, series::number(answer, row, "line")),
        )
    };
    answer.rows.iter().map(place).collect()
}

/// A change of a series.
struct Changed<'a> {
    series: &'a Series,
    change: detect::Change,
}

pub(super) fn find(
    all: &[Series],
    turns: Vec<Turn>,
    options: &WatchOptions,
    builds: &Builds,
    places: &Places,
) -> Vec<Finding> {
    // Each series has its part of the false alarms.
    let threshold = (7.0 * all.len().max(1) as f64 / options.false_alarms.max(1e-9)).ln();
    let weights = weights(all);
    let mut changed = Vec::new();
    for series in all {
        let least = if series.kind.is_cost() {
            options.least
        } else {
            options.least_share
        };
        let weight = weights.get(&series.method).copied();
        // A method that costs next to nothing may take any path.
        if !series.kind.is_cost() && weight.is_some_and(|weight| weight < options.least) {
            continue;
        }
        for change in detect::changes(&series.points, threshold) {
            if change.step.abs() >= least {
                changed.push(Changed { series, change });
            }
        }
    }
    let moved: Vec<Option<Moved>> = changed.iter().map(|one| moved(one, &changed, all)).collect();
    let mut findings: Vec<Finding> = Vec::new();
    for (one, moved) in changed.iter().zip(moved) {
        let change = &one.change;
        let event = Event {
            kind: one.series.kind,
            what: one.series.what.clone(),
            line: one.series.line,
            before: change.before,
            after: change.before + change.step,
            error: Some(change.error),
            evidence: Some(change.evidence / std::f64::consts::LN_10),
        };
        let moved = moved.filter(|_| event.kind.is_cost());
        add(
            &mut findings,
            &one.series.method,
            (change.from, change.seen),
            event,
            moved,
            builds,
            places,
        );
    }
    for turn in turns {
        let event = Event {
            kind: turn.kind,
            what: turn.what,
            line: turn.line,
            before: turn.before,
            after: turn.after,
            error: None,
            evidence: None,
        };
        add(
            &mut findings,
            &turn.method,
            (turn.from, turn.seen),
            event,
            None,
            builds,
            places,
        );
    }
    for finding in &mut findings {
        finding.events.sort_by(|one, other| {
            let size = |event: &Event| (event.after - event.before).abs();
            (one.kind, size(other))
                .partial_cmp(&(other.kind, size(one)))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        // News of code is no cost that moved.
        if finding
            .events
            .iter()
            .any(|event| matches!(event.kind, Kind::Begins | Kind::Stops))
        {
            finding.moved = None;
        }
    }
    let costs = |finding: &Finding| finding.events.iter().any(|event| event.kind.is_cost());
    findings.sort_by(|one, other| {
        let key = |finding: &Finding| (finding.is_moved(), !costs(finding));
        key(one)
            .cmp(&key(other))
            .then(other.size().total_cmp(&one.size()))
            .then(one.method.cmp(&other.method))
    });
    findings
}

/// Puts an event to the finding of the same method and time, or makes one.
fn add(
    findings: &mut Vec<Finding>,
    method: &Arc<Method>,
    (from, seen): (i32, i32),
    event: Event,
    moved: Option<Moved>,
    builds: &Builds,
    places: &Places,
) {
    let same = |finding: &&mut Finding| finding.method == **method && (finding.from.0 - from).abs() <= 1;
    if let Some(finding) = findings.iter_mut().find(same) {
        finding.seen = finding.seen.min(Day(seen));
        finding.from = finding.from.min(Day(from));
        finding.moved = finding.moved.take().or(moved);
        finding.events.push(event);
        return;
    }
    findings.push(Finding {
        method: method.as_ref().clone(),
        place: places.get(method.as_ref()).cloned().unwrap_or_default(),
        from: Day(from),
        seen: Day(seen),
        builds: began(builds, &method.service, from),
        events: vec![event],
        moved,
    });
}

/// The build that began on a day or the day before it, and the one before that.
fn began(builds: &Builds, service: &str, from: i32) -> Option<(String, String)> {
    let of = builds.get(service)?;
    let place = of.iter().rposition(|(day, _)| (from - 1..=from).contains(day))?;
    let before = of.get(place.checked_sub(1)?)?;
    Some((of[place].1.clone(), before.1.clone()))
}

/// The largest cost of each method.
fn weights(all: &[Series]) -> BTreeMap<Arc<Method>, f64> {
    let mut weights: BTreeMap<Arc<Method>, f64> = BTreeMap::new();
    for series in all.iter().filter(|series| series.kind.is_cost()) {
        let most = series.points.iter().map(|point| point.value).fold(0.0, f64::max);
        let weight = weights.entry(Arc::clone(&series.method)).or_default();
        *weight = weight.max(most);
    }
    weights
}

/// The step of a series on a day, from what is known of it on another.
fn step_at(points: &[Point], from: i32, seen: i32) -> Option<Step> {
    let near: Vec<Point> = points
        .iter()
        .filter(|point| (from - BEFORE..=seen).contains(&point.day))
        .copied()
        .collect();
    let at = near.iter().position(|point| point.day >= from)?;
    Step::new(&near, at)
}

fn package(class: &str) -> &str {
    class.rsplit_once('/').map_or("", |(package, _)| package)
}

fn moved(one: &Changed, changed: &[Changed], all: &[Series]) -> Option<Moved> {
    let of = &one.series.method;
    let (from, seen, size) = (one.change.from, one.change.seen, one.change.step);
    type Within = fn(&Method, &Method) -> bool;
    let scopes: [(&'static str, Within); 2] = [
        ("class", |one, other| one.class == other.class),
        ("package", |one, other| {
            package(&one.class) == package(&other.class)
        }),
    ];
    for (within, is_in) in scopes {
        let others = || {
            all.iter().filter(|series| {
                series.kind == one.series.kind
                    && series.method.service == of.service
                    && is_in(&series.method, of)
            })
        };
        // Of all of it, the class with the change too, nothing, or next to nothing, is left.
        let Some(sum) = step_at(&series::together(others()), from, seen) else {
            continue;
        };
        if sum.size.abs() > LEFT * size.abs() || sum.error > LEFT * size.abs() {
            continue;
        }
        let steps = others()
            .filter(|series| series.method != *of)
            .filter_map(|series| {
                let step = step_at(&series.points, from, seen)?;
                (step.size * size < 0.0 && step.size.abs() > LEFT * size.abs())
                    .then_some((step.size.abs(), series))
            });
        if let Some((_, other)) = steps.max_by(|one, other| one.0.total_cmp(&other.0)) {
            return Some(Moved {
                within,
                other: other.method.as_ref().clone(),
            });
        }
    }
    let pair = changed.iter().find(|other| {
        let sum = (size + other.change.step).abs();
        other.series.kind == one.series.kind
            && other.series.method.service == of.service
            && (other.change.from - from).abs() <= 1
            && size * other.change.step < 0.0
            && sum <= LEFT / 2.0 * size.abs() + 2.0 * one.change.error.hypot(other.change.error)
    })?;
    Some(Moved {
        within: "service",
        other: pair.series.method.as_ref().clone(),
    })
}
