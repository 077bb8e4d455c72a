//! Small lines of numbers by day.

use maud::{Markup, html};

use crate::log::Day;
use crate::query::{Answer, Value};

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 24.0;

/// Numbers by day.
pub(super) struct Series {
    days: Vec<(Day, f64)>,
    /// First and last day of all rows, so that lines of one table can be compared.
    span: (i32, i32),
}

impl Series {
    /// The rows of an answer in which columns have these values.
    pub(super) fn of(answer: &Answer, measure: &str, keys: &[(&str, &Value)]) -> Series {
        let day = |row: &Vec<Value>| match answer.get(row, "day") {
            Value::Day(day) => Some(*day),
            _ => None,
        };
        let own = |row: &&Vec<Value>| keys.iter().all(|(key, value)| answer.get(row, key) == *value);
        let all = || answer.rows.iter().filter_map(day);
        let rows = answer.rows.iter().filter(own);
        let days = rows
            .filter_map(|row| Some((day(row)?, answer.get(row, measure).float()?)))
            .collect();
        Series {
            days,
            span: (
                all().min().map_or(0, |day| day.0),
                all().max().map_or(0, |day| day.0),
            ),
        }
    }

    pub(super) fn total(&self) -> f64 {
        self.days.iter().map(|(_, value)| value).sum()
    }

    /// The line; days without a row are gaps.
    pub(super) fn line(&self, what: &str) -> Markup {
        let most = self.days.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let (from, to) = self.span;
        let x = |day: Day| 2.0 + (WIDTH - 4.0) * f64::from(day.0 - from) / f64::from((to - from).max(1));
        let y = |value: f64| HEIGHT - 2.0 - (HEIGHT - 4.0) * if most > 0.0 { value / most } else { 0.0 };
        let mut path = String::new();
        let mut last: Option<Day> = None;
        for &(day, value) in &self.days {
            let next = last.is_some_and(|last| last.0 + 1 == day.0);
            path += &format!("{}{:.1} {:.1}", if next { "L" } else { "M" }, x(day), y(value));
            last = Some(day);
        }
        let label = match (self.days.first(), self.days.last()) {
            (Some((first, _)), Some((last, _))) => {
                format!("{what} a day from {first} to {last}, at most {}", short(most))
            }
            _ => "nothing".to_owned(),
        };
        html! {
            svg.spark role="img" aria-label=(label) width=(WIDTH) height=(HEIGHT) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } {
                title { (label) }
                path d=(path) {}
                @for &(day, value) in &self.days { circle cx=(format!("{:.1}", x(day))) cy=(format!("{:.1}", y(value))) r="1.6" {} }
            }
        }
    }
}

/// `12.3 million`.
fn short(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.1} thousand million", n / 1e9),
        n if n >= 1e6 => format!("{:.1} million", n / 1e6),
        n => trodden_report::thousands(n as u64),
    }
}
