//! What measurements say about a paper's figures: values in words by key, and plots.

use std::collections::{BTreeMap, BTreeSet};

use crate::stats::{Spread, geometric_mean};

/// A value, and the runs that it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// As it is shown.
    pub text: String,
    /// Names of the runs.
    pub runs: BTreeSet<String>,
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What it shows, below it.
    pub caption: String,
    /// The SVG.
    pub svg: String,
}

/// What was found for a paper.
#[derive(Default)]
pub struct Found {
    /// By key.
    pub values: BTreeMap<String, Value>,
    /// By name.
    pub plots: BTreeMap<String, Picture>,
}

impl Found {
    /// Adds a value.
    pub fn put(&mut self, key: impl Into<String>, text: impl Into<String>, runs: &BTreeSet<String>) {
        let value = Value {
            text: text.into(),
            runs: runs.clone(),
        };
        self.values.insert(key.into(), value);
    }

    /// Adds a plot.
    pub fn plot(&mut self, name: &str, caption: &str, svg: String) {
        let caption = caption.to_owned();
        self.plots.insert(name.to_owned(), Picture { caption, svg });
    }
}

/// A set of one run.
pub fn one(run: &str) -> BTreeSet<String> {
    BTreeSet::from([run.to_owned()])
}

/// Median of some values; NaN of none.
pub fn median(values: &[f64]) -> f64 {
    Spread::of(values).map_or(f64::NAN, |spread| spread.median)
}

/// `least to greatest (median)`, each as it is shown by the function.
pub fn range(values: &[f64], show: impl Fn(f64) -> String) -> String {
    Spread::of(values).map_or("–".to_owned(), |s| {
        format!("{} to {} ({})", show(s.min), show(s.max), show(s.median))
    })
}

/// `geometric mean (least to greatest)` of ratios.
pub fn ratios(values: &[f64]) -> String {
    match (geometric_mean(values), Spread::of(values)) {
        (Some(mean), Some(s)) => format!("{mean:.2} ({:.2} to {:.2})", s.min, s.max),
        _ => "–".to_owned(),
    }
}

/// With thousands apart.
pub fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_values() {
        assert_eq!(grouped(1_234_567.0), "1,234,567");
        assert_eq!(grouped(999.0), "999");
        assert_eq!(range(&[3.0, 1.0, 2.0], |v| format!("{v:.0}")), "1 to 3 (2)");
        assert_eq!(ratios(&[1.0, 4.0]), "2.00 (1.00 to 4.00)");
        assert_eq!(ratios(&[]), "–");
    }
}
