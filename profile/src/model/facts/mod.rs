//! Facts about a run: what is known of how it was recorded, by name. One table says which there are, of what type, and
//! how runs are merged.
//!
//! A fact is set through its constant, so none is written that is not in the table:
//!
//! ```
//! use trodden_profile::facts::{self, Facts};
//!
//! let mut run = Facts::default();
//! run.set(facts::OS, "Linux");
//! run.set(facts::TICKS, 3u64);
//! let mut both = run.clone();
//! both.merge(&run);
//! assert_eq!(both.get(facts::TICKS), Some(6));
//! assert_eq!(both.text("os").as_deref(), Some("Linux"));
//! ```
//!
//! In a file, and in reports, each is a text. What is read and is not in the table, or does not look as its type does,
//! stays the text that it is: files are written back unchanged.

mod table;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::marker::PhantomData;
use std::time::Duration;

pub use table::*;

use crate::model::several::list;

/// What a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactKind {
    /// A number of things.
    Count,
    /// A duration, written in this unit.
    Duration(Unit),
    /// Anything else.
    Text,
}

/// How a duration is written; the unit is in the fact's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Whole nanoseconds.
    Ns,
    /// Whole milliseconds.
    Ms,
    /// Milliseconds with one decimal.
    TenthMs,
}

impl Unit {
    /// Nanoseconds of the smallest step.
    fn step(self) -> u128 {
        match self {
            Unit::Ns => 1,
            Unit::Ms => 1_000_000,
            Unit::TenthMs => 100_000,
        }
    }

    /// As whole steps, rounded.
    fn steps(self, duration: Duration) -> u128 {
        (duration.as_nanos() + self.step() / 2) / self.step()
    }

    fn of_steps(self, steps: u128) -> Duration {
        let nanos = steps.saturating_mul(self.step());
        let seconds = u64::try_from(nanos / 1_000_000_000).unwrap_or(u64::MAX);
        Duration::new(seconds, (nanos % 1_000_000_000) as u32)
    }

    fn text(self, duration: Duration) -> String {
        let steps = self.steps(duration);
        match self {
            Unit::Ns | Unit::Ms => steps.to_string(),
            Unit::TenthMs => format!("{}.{}", steps / 10, steps % 10),
        }
    }

    fn parse(self, text: &str) -> Option<Duration> {
        let steps = match self {
            Unit::Ns | Unit::Ms => text.parse::<u64>().ok()?.into(),
            Unit::TenthMs => {
                let (whole, tenth) = text.split_once('.')?;
                u128::from(whole.parse::<u64>().ok()?) * 10 + u128::from(tenth.parse::<u8>().ok()?)
            }
        };
        Some(self.of_steps(steps))
    }
}

/// How a fact of several runs is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRule {
    /// Numbers and durations add up.
    Sum,
    /// The smallest one stays.
    Min,
    /// The largest one stays: what is a property of the program rather than of the run.
    Max,
    /// Different ones are listed, equal ones are one.
    List,
}

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactEntry {
    /// Its name, in files and reports.
    pub name: &'static str,
    /// What it is.
    pub kind: FactKind,
    /// How it is merged.
    pub rule: MergeRule,
}

impl FactEntry {
    fn of(name: &str) -> Option<&'static FactEntry> {
        ALL.iter().find(|entry| entry.name == name)
    }
}

/// A fact whose values are of type `T`.
#[derive(Debug)]
pub struct Fact<T> {
    entry: FactEntry,
    values: PhantomData<fn() -> T>,
}

impl<T> Clone for Fact<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Fact<T> {}

impl<T> Fact<T> {
    const fn new(name: &'static str, kind: FactKind, rule: MergeRule) -> Self {
        let entry = FactEntry { name, kind, rule };
        let values = PhantomData;
        Fact { entry, values }
    }

    /// Its name, in files and reports.
    pub fn name(self) -> &'static str {
        self.entry.name
    }
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactValue {
    /// A number of things.
    Count(u64),
    /// A duration.
    Duration(Duration),
    /// A text; also a number of several runs that differ, and whatever a file has that is no such number.
    Text(String),
}

/// Types that facts can have: `u64`, [`Duration`], `String`.
pub trait FactType: Sized {
    /// As a value of this kind.
    fn into_value(self, kind: FactKind) -> FactValue;
    /// Out of a value, if it has this type.
    fn of_value(value: &FactValue) -> Option<Self>;
}

impl FactType for u64 {
    fn into_value(self, _: FactKind) -> FactValue {
        FactValue::Count(self)
    }

    fn of_value(value: &FactValue) -> Option<Self> {
        match value {
            FactValue::Count(count) => Some(*count),
            _ => None,
        }
    }
}

impl FactType for Duration {
    fn into_value(self, kind: FactKind) -> FactValue {
        // As exact as a file has it, so that what is read equals what was written.
        FactValue::Duration(match kind {
            FactKind::Duration(unit) => unit.of_steps(unit.steps(self)),
            _ => self,
        })
    }

    fn of_value(value: &FactValue) -> Option<Self> {
        match value {
            FactValue::Duration(duration) => Some(*duration),
            _ => None,
        }
    }
}

impl FactType for String {
    fn into_value(self, _: FactKind) -> FactValue {
        FactValue::Text(self)
    }

    fn of_value(value: &FactValue) -> Option<Self> {
        match value {
            FactValue::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

/// The facts of a run, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(BTreeMap<Cow<'static, str>, FactValue>);

impl Facts {
    /// Sets a fact.
    pub fn set<T: FactType>(&mut self, fact: Fact<T>, value: impl Into<T>) {
        let value = value.into().into_value(fact.entry.kind);
        self.0.insert(fact.entry.name.into(), value);
    }

    /// Adds to a number, which is 0 if it is not there.
    pub fn add(&mut self, fact: Fact<u64>, count: u64) {
        let before = self.get(fact).unwrap_or(0);
        self.set(fact, before.saturating_add(count));
    }

    /// A fact, if it is there and is of its type.
    pub fn get<T: FactType>(&self, fact: Fact<T>) -> Option<T> {
        self.0.get(fact.entry.name).and_then(T::of_value)
    }

    /// A fact by name.
    pub fn value(&self, name: &str) -> Option<&FactValue> {
        self.0.get(name)
    }

    /// A fact by name, as files and reports have it.
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.0.get(name).map(|value| text(name, value))
    }

    /// All facts by ascending name, as files and reports have them.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = (&str, Cow<'_, str>)> {
        self.0.iter().map(|(name, value)| (&**name, text(name, value)))
    }

    /// All facts by ascending name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &FactValue)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Takes over other facts of the same run, in place of its own of the same name.
    pub fn append(&mut self, more: Facts) {
        self.0.extend(more.0);
    }

    /// What an earlier moment of the same run lacks of these: what adds up is the difference (a sum that has fallen is 0), all
    /// else is as it is here.
    #[must_use]
    pub fn since(&self, earlier: &Facts) -> Facts {
        use FactValue::{Count, Duration};
        let fact = |(name, value): (&Cow<'static, str>, &FactValue)| {
            let adds = FactEntry::of(name).is_some_and(|entry| entry.rule == MergeRule::Sum);
            let value = match (value, earlier.0.get(name).filter(|_| adds)) {
                (Count(now), Some(Count(then))) => Count(now.saturating_sub(*then)),
                (Duration(now), Some(Duration(then))) => Duration(now.saturating_sub(*then)),
                (now, _) => now.clone(),
            };
            (name.clone(), value)
        };
        Facts(self.0.iter().map(fact).collect())
    }

    /// Takes in the facts of another run.
    pub fn merge(&mut self, other: &Facts) {
        for (name, value) in &other.0 {
            match self.0.entry(name.clone()) {
                Entry::Vacant(place) => {
                    place.insert(value.clone());
                }
                Entry::Occupied(mut own) => {
                    let both = merged(name, own.get(), value);
                    own.insert(both);
                }
            }
        }
    }
}

/// As a file has them.
impl FromIterator<(String, String)> for Facts {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(texts: I) -> Self {
        let fact = |(name, text): (String, String)| match FactEntry::of(&name) {
            Some(entry) => (Cow::Borrowed(entry.name), parse(entry, text)),
            None => (Cow::Owned(name), FactValue::Text(text)),
        };
        Facts(texts.into_iter().map(fact).collect())
    }
}

fn parse(entry: &FactEntry, text: String) -> FactValue {
    let value = match entry.kind {
        FactKind::Count => text.parse().ok().map(FactValue::Count),
        FactKind::Duration(unit) => unit.parse(&text).map(FactValue::Duration),
        FactKind::Text => None,
    };
    // `+3`, `007` or `1.50` would be written back as something else.
    match value {
        Some(value) if self::text(entry.name, &value) == text => value,
        _ => FactValue::Text(text),
    }
}

fn text<'v>(name: &str, value: &'v FactValue) -> Cow<'v, str> {
    match value {
        FactValue::Count(count) => count.to_string().into(),
        FactValue::Duration(duration) => match FactEntry::of(name).map(|entry| entry.kind) {
            Some(FactKind::Duration(unit)) => unit.text(*duration).into(),
            _ => Unit::Ns.text(*duration).into(),
        },
        FactValue::Text(text) => text.into(),
    }
}

fn merged(name: &str, a: &FactValue, b: &FactValue) -> FactValue {
    use FactValue::{Count, Duration};
    match (FactEntry::of(name).map(|entry| entry.rule), a, b) {
        (Some(MergeRule::Sum), Count(a), Count(b)) => Count(a.saturating_add(*b)),
        (Some(MergeRule::Sum), Duration(a), Duration(b)) => Duration(a.saturating_add(*b)),
        (Some(MergeRule::Min), Count(a), Count(b)) => Count(*a.min(b)),
        (Some(MergeRule::Min), Duration(a), Duration(b)) => Duration(*a.min(b)),
        (Some(MergeRule::Max), Count(a), Count(b)) => Count(*a.max(b)),
        (Some(MergeRule::Max), Duration(a), Duration(b)) => Duration(*a.max(b)),
        (_, a, b) if a == b && !matches!(a, FactValue::Text(_)) => a.clone(),
        _ => FactValue::Text(list(&text(name, a), &text(name, b))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_table_once() {
        for (index, entry) in ALL.iter().enumerate() {
            let first = ALL.iter().position(|other| other.name == entry.name);
            assert_eq!(first, Some(index), "{}", entry.name);
            let unit = match entry.kind {
                FactKind::Duration(Unit::Ns) => "_ns",
                FactKind::Duration(Unit::Ms | Unit::TenthMs) => "_ms",
                _ => "",
            };
            assert!(
                entry.name.contains(unit),
                "{} has its unit in its name",
                entry.name
            );
            let adds = entry.rule != MergeRule::List;
            assert!(
                !adds || entry.kind != FactKind::Text,
                "{}: texts do not add up",
                entry.name
            );
        }
    }

    #[test]
    fn all_texts_are_kept() {
        let all = [
            "",
            "0",
            "7",
            "007",
            "+7",
            "1.5",
            "1.50",
            ".5",
            "x",
            "18446744073709551616",
            "3 + 4",
        ];
        for entry in ALL {
            for text in all {
                let facts = Facts::from_iter([(entry.name.to_owned(), text.to_owned())]);
                assert_eq!(facts.text(entry.name).as_deref(), Some(text), "{}", entry.name);
            }
        }
        let odd = Facts::from_iter([("odd".to_owned(), "3".to_owned())]);
        assert_eq!(odd.value("odd"), Some(&FactValue::Text("3".to_owned())));
    }

    #[test]
    fn durations_are_as_exact_as_their_texts() {
        let mut facts = Facts::default();
        facts.set(RETRANSFORMING_MS, Duration::from_micros(12_349));
        assert_eq!(facts.text("retransforming_ms").as_deref(), Some("12.3"));
        assert_eq!(facts.get(RETRANSFORMING_MS), Some(Duration::from_micros(12_300)));
        facts.set(BURST_NS, Duration::from_nanos(17));
        assert_eq!(facts.text("burst_ns").as_deref(), Some("17"));
        let read: Facts = facts
            .texts()
            .map(|(name, text)| (name.to_owned(), text.into_owned()))
            .collect();
        assert_eq!(read, facts);
    }

    #[test]
    fn equal_counts_add_up_and_equal_texts_are_one() {
        let mut one = Facts::default();
        one.set(RETRANSFORMATIONS, 3u64);
        one.set(COUNTING_MS_ESTIMATED, Duration::from_millis(2));
        one.set(METHODS_ESTIMATED, 5u64);
        one.set(CPUS, 2u64);
        one.set(OS, "Linux");
        let mut both = one.clone();
        both.merge(&one);
        assert_eq!(both.get(RETRANSFORMATIONS), Some(6));
        assert_eq!(both.get(COUNTING_MS_ESTIMATED), Some(Duration::from_millis(4)));
        assert_eq!(both.get(METHODS_ESTIMATED), Some(5));
        assert_eq!(
            (both.get(CPUS), both.text("os").as_deref()),
            (Some(2), Some("Linux"))
        );
        // What the sum has more than its part is the other part.
        assert_eq!(both.since(&one), one);
        one.set(WINDOW_STARTED_MS, 5u64);
        both.set(WINDOW_STARTED_MS, 3u64);
        one.set(CPUS, 10u64);
        both.merge(&one);
        assert_eq!(both.get(WINDOW_STARTED_MS), Some(3));
        assert_eq!(both.text("cpus").as_deref(), Some("10 + 2"));
    }
}
