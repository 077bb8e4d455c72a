//! Series of days: what methods cost per unit of work, and shares of paths and outcomes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::detect::Point;
use crate::query::{Answer, Value};

/// Executions a day that a share takes.
const MIN_EXECUTIONS: f64 = 100.0;
/// The same of a single day, to count at all.
const MIN_DAY: f64 = 30.0;
/// Methods that the load of a day is the median of.
const MIN_METHODS: usize = 5;
/// Their share of all costs, at least.
const NOTABLE: f64 = 0.001;

/// A method of a service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Method {
    /// The service.
    pub service: String,
    /// With slashes.
    pub class: String,
    /// Its name.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
}

/// The subject of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// CPU time of a method per unit of the service's work, as a share of what the service usually takes.
    Cpu,
    /// The same of decided branches.
    Work,
    /// The share of a path among those of its method.
    Path,
    /// The share of an outcome among those of its branch.
    Outcome,
    /// An outcome that was never taken is taken.
    Begins,
    /// An outcome that was taken every day is not taken any more.
    Stops,
}

impl Kind {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Cpu => "cpu",
            Kind::Work => "work",
            Kind::Path => "path",
            Kind::Outcome => "outcome",
            Kind::Begins => "begins",
            Kind::Stops => "stops",
        }
    }

    /// Returns true if it is a part of a service's costs.
    pub fn is_cost(self) -> bool {
        matches!(self, Kind::Cpu | Kind::Work)
    }
}

/// A series that is watched.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub kind: Kind,
    pub method: Arc<Method>,
    /// The path or outcome, for people.
    pub what: Option<String>,
    /// The line of an outcome.
    pub line: Option<i64>,
    /// One per day, ascending.
    pub points: Vec<Point>,
}

/// Counts of a way (a path, or a way out of a branch) by day.
pub(super) struct Way {
    pub method: Arc<Method>,
    pub what: Option<String>,
    pub line: Option<i64>,
    /// None where it is not known how often.
    pub counts: BTreeMap<i32, Option<f64>>,
}

/// Ways of which one is taken at a time.
pub(super) type Choice = Vec<Way>;

pub(super) fn text<'a>(answer: &Answer, row: &'a [Value], column: &str) -> &'a str {
    answer.get(row, column).text().unwrap_or_default()
}

pub(super) fn number(answer: &Answer, row: &[Value], column: &str) -> Option<i64> {
    match answer.get(row, column) {
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

pub(super) fn day(answer: &Answer, row: &[Value]) -> Option<i32> {
    match answer.get(row, "day") {
        Value::Day(day) => Some(day.0),
        _ => None,
    }
}

pub(super) fn method(answer: &Answer, row: &[Value]) -> Method {
    let text = |column: &str| text(answer, row, column).to_owned();
    Method {
        service: text("service"),
        class: text("class"),
        method: text("method"),
        descriptor: text("descriptor"),
    }
}

/// A cost, and the number of things that were counted for it.
type Cost = (f64, f64);

/// CPU time and decided branches of methods, by day.
type Days = BTreeMap<Arc<Method>, BTreeMap<i32, [Cost; 2]>>;

/// The costs of methods per unit of work, of all services.
pub(super) fn costs(answer: &Answer) -> Vec<Series> {
    let mut by_service: BTreeMap<String, Days> = BTreeMap::new();
    for row in &answer.rows {
        let Some(day) = day(answer, row) else { continue };
        let of = |column: &str| number(answer, row, column).unwrap_or(0) as f64;
        let costs = [(of("cpu_ns"), of("samples")), (of("decisions"), of("paths"))];
        let method = method(answer, row);
        let methods = by_service.entry(method.service.clone()).or_default();
        methods.entry(Arc::new(method)).or_default().insert(day, costs);
    }
    let mut all = Vec::new();
    for methods in by_service.values() {
        for (place, kind) in [Kind::Cpu, Kind::Work].into_iter().enumerate() {
            let costs: Vec<(&Arc<Method>, BTreeMap<i32, Cost>)> = methods
                .iter()
                .map(|(method, days)| {
                    (
                        method,
                        days.iter().map(|(&day, costs)| (day, costs[place])).collect(),
                    )
                })
                .collect();
            all.extend(per_unit(kind, &costs));
        }
    }
    all
}

/// Costs by method and day, each divided by the day's load: the median over methods of the cost as a multiple of the
/// usual one. So what one method does more, and what traffic or other hosts do to all, stay apart.
fn per_unit(kind: Kind, costs: &[(&Arc<Method>, BTreeMap<i32, Cost>)]) -> Vec<Series> {
    let mut totals: BTreeMap<i32, f64> = BTreeMap::new();
    for (day, (cost, _)) in costs.iter().flat_map(|(_, days)| days) {
        *totals.entry(*day).or_default() += cost;
    }
    // Nothing was counted on that day.
    totals.retain(|_, total| *total > 0.0);
    if totals.is_empty() {
        return Vec::new();
    }
    let days: Vec<i32> = totals.keys().copied().collect();
    let on = |days: &BTreeMap<i32, Cost>, day: i32| days.get(&day).copied().unwrap_or_default();
    let shares = |days_of: &BTreeMap<i32, Cost>| -> Vec<f64> {
        days.iter().map(|day| on(days_of, *day).0 / totals[day]).collect()
    };
    let usual: Vec<f64> = costs.iter().map(|(_, days_of)| median(shares(days_of))).collect();
    let notable: Vec<usize> = (0..costs.len())
        .filter(|&place| usual[place] >= NOTABLE)
        .collect();
    let usual_total = median(totals.values().copied().collect());
    let load = |day: i32| {
        let of = |&place: &usize| on(&costs[place].1, day).0 / (usual[place] * usual_total);
        match notable.len() {
            0..MIN_METHODS => totals[&day] / usual_total,
            _ => median(notable.iter().map(of).collect()),
        }
    };
    let loads: Vec<(i32, f64)> = days
        .iter()
        .map(|&day| (day, load(day)))
        .filter(|(_, load)| *load > 0.0)
        .collect();
    let series = costs.iter().map(|(method, days_of)| {
        let points = loads.iter().map(|&(day, load)| {
            let (cost, counted) = on(days_of, day);
            let value = cost / load / usual_total;
            Point {
                day,
                value,
                variance: value * value / counted.max(1.0),
            }
        });
        Series {
            kind,
            method: Arc::clone(method),
            what: None,
            line: None,
            points: points.collect(),
        }
    });
    series
        .filter(|series| series.points.iter().any(|point| point.value > 0.0))
        .collect()
}

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        even if even.is_multiple_of(2) => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

/// The ways that rows speak of; those with the same `of` are one choice. Rows of a choice, and of a way, follow each other.
pub(super) fn choices(
    answer: &Answer,
    of: &[&str],
    what: impl Fn(&[Value]) -> Option<String>,
) -> Vec<Choice> {
    let mut choices: Vec<Choice> = Vec::new();
    let mut last: Option<(Vec<&Value>, &Value)> = None;
    for row in &answer.rows {
        let key: Vec<&Value> = of.iter().map(|column| answer.get(row, column)).collect();
        let way = answer.get(row, "way");
        let new = || Way {
            method: Arc::new(method(answer, row)),
            what: what(row),
            line: number(answer, row, "line"),
            counts: BTreeMap::new(),
        };
        match &last {
            Some((known, known_way)) if *known == key => {
                if *known_way != way
                    && let Some(choice) = choices.last_mut()
                {
                    choice.push(new());
                }
            }
            _ => choices.push(vec![new()]),
        }
        last = Some((key, way));
        if let Some(day) = day(answer, row)
            && let Some(way) = choices.last_mut().and_then(|choice| choice.last_mut())
        {
            way.counts
                .insert(day, number(answer, row, "count").map(|count| count as f64));
        }
    }
    choices
}

/// How often any way of a choice was taken, by day; none if that is not known.
pub(super) fn totals(choice: &Choice) -> Option<BTreeMap<i32, f64>> {
    let mut totals: BTreeMap<i32, f64> = BTreeMap::new();
    for (day, count) in choice.iter().flat_map(|way| &way.counts) {
        *totals.entry(*day).or_default() += (*count)?;
    }
    Some(totals)
}

/// Shares of the ways of choices.
pub(super) fn shares(kind: Kind, choices: &[Choice]) -> Vec<Series> {
    let mut all = Vec::new();
    for choice in choices {
        let Some(mut totals) = totals(choice) else {
            continue;
        };
        totals.retain(|_, total| *total >= MIN_DAY);
        let mean = totals.values().sum::<f64>() / totals.len().max(1) as f64;
        if mean < MIN_EXECUTIONS {
            continue;
        }
        // Of two ways, one says it all.
        let told = if choice.len() == 2 {
            &choice[..1]
        } else {
            &choice[..]
        };
        for way in told {
            let points = totals.iter().map(|(&day, &total)| {
                let count = way.counts.get(&day).copied().flatten().unwrap_or(0.0);
                let about = (count + 0.5) / (total + 1.0);
                Point {
                    day,
                    value: count / total,
                    variance: about * (1.0 - about) / total,
                }
            });
            let points: Vec<Point> = points.collect();
            let varies = points.iter().any(|point| point.value > 0.0 && point.value < 1.0);
            if choice.len() > 1 && varies {
                let method = Arc::clone(&way.method);
                all.push(Series {
                    kind,
                    method,
                    what: way.what.clone(),
                    line: way.line,
                    points,
                });
            }
        }
    }
    all
}

/// An outcome that is taken for the first time, or not taken any more: the day from which on that is so.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub kind: Kind,
    pub method: Arc<Method>,
    pub what: Option<String>,
    pub line: Option<i64>,
    pub from: i32,
    pub seen: i32,
    /// Executions a day, before and from then on.
    pub before: f64,
    pub after: f64,
}

/// Days that something was always, or never, taken on before it is news that it is otherwise.
const LONG: usize = 7;
/// Days on which it has to be otherwise.
const NEWS: usize = 2;

/// Outcomes that begin or stop. A branch counts on days on which it was decided often.
pub(super) fn turns(choices: &[Choice]) -> Vec<Turn> {
    let mut found = Vec::new();
    for choice in choices {
        let Some(totals) = totals(choice) else { continue };
        let days: Vec<(i32, f64)> = totals
            .into_iter()
            .filter(|(_, total)| *total >= MIN_EXECUTIONS)
            .collect();
        if choice.len() < 2 || days.len() < LONG + NEWS {
            continue;
        }
        for way in choice {
            let count = |day: i32| way.counts.get(&day).copied().flatten().unwrap_or(0.0);
            let taken: Vec<bool> = days.iter().map(|(day, _)| count(*day) > 0.0).collect();
            for at in LONG..=days.len() - NEWS {
                let new = taken[at];
                let steady = taken[..at]
                    .iter()
                    .rev()
                    .take_while(|&&taken| taken != new)
                    .count();
                if taken[at - 1] == new || steady < LONG || taken[at + 1] != new || (new && steady < at) {
                    continue;
                }
                let before = (at - steady..at).map(|place| count(days[place].0));
                let before = before.sum::<f64>() / steady as f64;
                let after = (count(days[at].0) + count(days[at + 1].0)) / 2.0;
                // So few that a day without any is no news.
                if !new && before < MIN_DAY {
                    continue;
                }
                found.push(Turn {
                    kind: if new { Kind::Begins } else { Kind::Stops },
                    method: Arc::clone(&way.method),
                    what: way.what.clone(),
                    line: way.line,
                    from: days[at].0,
                    seen: days[at + 1].0,
                    before,
                    after,
                });
            }
        }
    }
    found
}

/// The series of several methods together.
pub(super) fn together<'a>(series: impl Iterator<Item = &'a Series>) -> Vec<Point> {
    let mut sum: BTreeMap<i32, Point> = BTreeMap::new();
    for point in series.flat_map(|series| &series.points) {
        let all = sum.entry(point.day).or_insert(Point {
            value: 0.0,
            variance: 0.0,
            ..*point
        });
        all.value += point.value;
        all.variance += point.variance;
    }
    sum.into_values().collect()
}

/// Days of a service, for the number of those that were looked at.
pub(super) fn days(series: &[Series]) -> BTreeSet<i32> {
    series
        .iter()
        .flat_map(|series| series.points.iter().map(|point| point.day))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Arc<Method> {
        Arc::new(Method {
            service: "shop".to_owned(),
            class: "shop/Shop".to_owned(),
            method: name.to_owned(),
            descriptor: "()V".to_owned(),
        })
    }

    /// Twice the load, or hosts that are twice as fast, change nothing; a method that costs more changes alone.
    #[test]
    fn load_is_not_cost() {
        let methods: Vec<Arc<Method>> = (0..7).map(|number| of(&number.to_string())).collect();
        let cost = |place: usize, day: i32| {
            let load = if day % 2 == 0 { 200.0 } else { 100.0 };
            let factor = if place == 3 && day >= 10 { 3.0 } else { 1.0 };
            (load * factor * (place + 1) as f64, 100.0)
        };
        let costs: Vec<(&Arc<Method>, BTreeMap<i32, Cost>)> = methods
            .iter()
            .enumerate()
            .map(|(place, method)| (method, (0..20).map(|day| (day, cost(place, day))).collect()))
            .collect();
        for (place, series) in per_unit(Kind::Work, &costs).iter().enumerate() {
            let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
            let expected = if place == 3 { 3.0 } else { 1.0 };
            assert!(
                (values[15] / values[5] - expected).abs() < 1e-9,
                "{place}: {values:?}"
            );
            assert!((values[6] / values[5] - 1.0).abs() < 1e-9, "{place}: {values:?}");
        }
    }

    fn choice(counts: [&dyn Fn(i32) -> i32; 2]) -> Vec<Choice> {
        let way = |count: &dyn Fn(i32) -> i32| Way {
            method: of("m"),
            what: None,
            line: None,
            counts: (0..20)
                .filter(|&day| count(day) > 0)
                .map(|day| (day, Some(f64::from(count(day)))))
                .collect(),
        };
        vec![counts.into_iter().map(way).collect()]
    }

    #[test]
    fn outcomes_begin_and_stop() {
        let always = |_: i32| 1_000;
        let kinds = |counts: &dyn Fn(i32) -> i32| -> Vec<(Kind, i32, i32)> {
            let turns = turns(&choice([&always, counts]));
            turns
                .iter()
                .map(|turn| (turn.kind, turn.from, turn.seen))
                .collect()
        };
        assert_eq!(
            kinds(&|day| if day < 12 { 0 } else { 5 }),
            [(Kind::Begins, 12, 13)]
        );
        assert_eq!(
            kinds(&|day| if day < 12 { 50 } else { 0 }),
            [(Kind::Stops, 12, 13)]
        );
        // One day is none, a rare one may be missing, and what was there before does not begin.
        assert_eq!(kinds(&|day| i32::from(day == 12)), []);
        assert_eq!(kinds(&|day| if day < 12 { 3 } else { 0 }), []);
        assert_eq!(kinds(&|day| if day == 0 || day >= 12 { 5 } else { 0 }), []);
    }

    /// Where it is not known how often an outcome was taken, nothing is said of its branch.
    #[test]
    fn counts_that_are_not_known() {
        let mut choices = choice([&|_| 1_000, &|day| if day < 12 { 0 } else { 5 }]);
        choices[0][0].counts.insert(3, None);
        assert!(turns(&choices).is_empty());
        assert!(shares(Kind::Outcome, &choices).is_empty());
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
