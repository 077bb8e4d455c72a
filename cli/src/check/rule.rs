//! The rules' little language:
//!
//! ```text
//! rules   = rule { (";" | newline) rule }            empty ones, and lines that begin with #, are skipped
//! rule    = [ scope ":" ] [ "missed" ] counter ( ">=" | "<=" ) number [ "%" ]
//! scope   = [ "each" ( "package" | "class" | "method" ) ] [ "in" PATTERN ]
//! counter = "paths" | "branches" | "lines" | "methods" | "classes" | "mcdc" | "prime-paths"
//! ```

use std::fmt;

use clap::ValueEnum;
use trodden_insight::coverage::Ratio;

/// The units that are judged separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Each {
    #[value(skip)]
    All,
    Package,
    Class,
    Method,
}

/// The items that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Counter {
    Paths,
    Branches,
    Lines,
    Methods,
    Classes,
    Mcdc,
    PrimePaths,
}

/// A threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub each: Each,
    /// Which methods, if not all.
    pub pattern: Option<String>,
    pub counter: Counter,
    /// True if items that did not run are counted, instead of those that ran.
    missed: bool,
    at_least: bool,
    value: f64,
    percent: bool,
    text: String,
}

/// Reads rules.
pub fn parse(text: &str) -> Result<Vec<Rule>, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let rules = lines.flat_map(|line| line.split(';')).map(str::trim);
    rules.filter(|rule| !rule.is_empty()).map(one).collect()
}

fn one(text: &str) -> Result<Rule, String> {
    let wrong = |what: &str| format!("rule '{text}': {what}");
    let (scope, claim) = match text.split_once(':') {
        Some((scope, claim)) => (scope.trim(), claim.trim()),
        None => ("", text),
    };
    let mut each = Each::All;
    let mut pattern = None;
    let mut words = scope.split_whitespace();
    while let Some(word) = words.next() {
        match (word, words.next()) {
            ("each", Some(what)) if each == Each::All && pattern.is_none() => {
                let each_what = Each::from_str(what, false);
                each = each_what.map_err(|_| wrong("after 'each' goes 'package', 'class' or 'method'"))?;
            }
            ("in", Some(what)) if pattern.is_none() => pattern = Some(what.to_owned()),
            _ => {
                return Err(wrong(
                    "in front of ':' goes 'each package|class|method', 'in PATTERN', or both",
                ));
            }
        }
    }
    let (left, right, at_least) = match (claim.split_once(">="), claim.split_once("<=")) {
        (Some((left, right)), None) => (left, right, true),
        (None, Some((left, right))) => (left, right, false),
        _ => return Err(wrong("there is no '>=' or '<='")),
    };
    let mut left: Vec<&str> = left.split_whitespace().collect();
    let missed = left.first() == Some(&"missed");
    if missed {
        left.remove(0);
    }
    let counter = match left.as_slice() {
        [word] => Counter::from_str(word, false).ok(),
        _ => None,
    };
    let counter = counter.ok_or_else(|| {
        wrong("it counts 'paths', 'branches', 'lines', 'methods', 'classes', 'mcdc' or 'prime-paths'")
    })?;
    let (number, percent) = match right.trim().strip_suffix('%') {
        Some(number) => (number.trim(), true),
        None => (right.trim(), false),
    };
    let value: f64 = number.parse().map_err(|_| wrong("its value is no number"))?;
    let most = if percent { 100.0 } else { f64::MAX };
    if !(0.0..=most).contains(&value) {
        return Err(wrong("its value is not from 0 to 100 %"));
    }
    Ok(Rule {
        each,
        pattern,
        counter,
        missed,
        at_least,
        value,
        percent,
        text: text.split_whitespace().collect::<Vec<_>>().join(" "),
    })
}

impl Rule {
    /// True if it is kept. Of nothing, no share can be too small or too large.
    pub fn holds(&self, ratio: Ratio) -> bool {
        let (part, total) = if self.missed {
            (ratio.missed(), ratio.total)
        } else {
            (ratio.covered, ratio.total)
        };
        let (actual, wanted) = match (self.percent, total) {
            (true, 0) => return true,
            // part / total against value / 100, without a division that could round a just kept rule away.
            (true, _) => (part as f64 * 100.0, self.value * total as f64),
            (false, _) => (part as f64, self.value),
        };
        if self.at_least {
            actual >= wanted
        } else {
            actual <= wanted
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(rule: &str, covered: u64, total: u64) -> bool {
        parse(rule).unwrap()[0].holds(Ratio { covered, total })
    }

    #[test]
    fn rules_are_read_and_judged() {
        let rules =
            parse("# why\nlines >= 80%; each class in a.*:missed paths<=9\n\n in C#m : branches >= 2")
                .unwrap();
        assert_eq!(rules.len(), 3);
        assert_eq!(
            (rules[1].each, rules[1].pattern.as_deref()),
            (Each::Class, Some("a.*"))
        );
        assert_eq!(rules[1].counter, Counter::Paths);
        assert_eq!(
            (rules[2].each, rules[2].pattern.as_deref()),
            (Each::All, Some("C#m"))
        );
        assert!(holds("lines >= 80%", 8, 10));
        assert!(!holds("lines >= 80.1 %", 8, 10));
        assert!(holds("lines >= 80%", 0, 0));
        assert!(holds("missed paths <= 2", 8, 10));
        assert!(!holds("missed paths <= 1", 8, 10));
        assert!(holds("missed paths <= 20%", 8, 10));
        assert!(!holds("paths >= 9", 8, 10));
        // 7 of 25 is 28 % exactly.
        assert!(holds("paths >= 28%", 7, 25) && holds("paths <= 28%", 7, 25));
    }

    #[test]
    fn what_is_wrong_with_a_rule_is_told() {
        for (rule, what) in [
            ("lines", ">="),
            ("lines > 80%", ">="),
            ("lines >= much", "no number"),
            ("lines >= 101%", "0 to 100"),
            ("lines >= -1", "0 to 100"),
            ("rows >= 1", "counts"),
            ("each file: lines >= 1", "package"),
            ("each: lines >= 1", "in front"),
            ("each class in a in b: lines >= 1", "in front"),
            ("missed >= 1", "counts"),
        ] {
            let error = parse(rule).unwrap_err();
            assert!(error.contains(what) && error.contains(rule), "{error}");
        }
    }
}
