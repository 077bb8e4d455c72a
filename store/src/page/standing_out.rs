//! The first screen: what is worth a look, in sentences.

use std::collections::BTreeMap;

use maud::{Markup, html};
use trodden_report::{percent, thousands};

use super::{Answers, parts};
use crate::query::{Answer, Value};

/// A host stands out from this distance on, and from the following multiple of that of the others.
const MIN_DISTANCE: f64 = 0.05;
const MIN_RATIO: f64 = 3.0;
/// Named of each kind.
const NAMED: usize = 3;

struct Finding {
    link: &'static str,
    text: String,
    evidence: Vec<String>,
}

pub(super) fn section(answers: &Answers) -> Markup {
    let all = [
        changed(answers),
        never(answers),
        odd(&answers.odd_hosts),
        covered(&answers.coverage),
    ];
    html! {
        section #findings {
            h2 { "What stands out" }
            ol.findings { @for finding in all.iter().flatten() {
                li {
                    p { a href={ "#" (finding.link) } { (finding.text) } }
                    @for line in &finding.evidence { p.note { (line) } }
                }
            } }
        }
    }
}

fn changed(answers: &Answers) -> Option<Finding> {
    let answer = &answers.changed;
    let first = answers.builds.rows.first()?;
    if answer.rows.is_empty() {
        let builds = answers.builds.rows.len();
        let text = match builds {
            1 => format!(
                "One build so far: {}",
                answers.builds.get(first, "build").printable()
            ),
            _ if answer.nothing_there.is_some() => "No service has two builds to compare".to_owned(),
            _ => "The newest builds do what those before them did".to_owned(),
        };
        return Some(Finding {
            link: "builds",
            text,
            evidence: Vec::new(),
        });
    }
    // By service: how many changes.
    let mut services: BTreeMap<(String, String, String), u64> = BTreeMap::new();
    for row in &answer.rows {
        let key = ["service", "build", "base"].map(|name| answer.get(row, name).printable());
        let [service, build, base] = key;
        *services.entry((service, build, base)).or_default() += 1;
    }
    let told = services
        .iter()
        .take(NAMED)
        .map(|((service, build, base), changes)| {
            let things = if *changes == 1 { "thing" } else { "things" };
            format!(
                "{service}: build {build} does {} {things} differently from {base}",
                thousands(*changes)
            )
        });
    let evidence = answer.rows.iter().take(NAMED).map(|row| {
        let share = |name: &str| answer.get(row, name).float().map_or("–".to_owned(), percent);
        let method = answer.method(row);
        match answer.get(row, "kind").text().unwrap_or_default() {
            "share" => format!(
                "{method}: {} of its paths instead of {}: {}",
                share("new_share"),
                share("old_share"),
                path(answer, row)
            ),
            "new path" => format!(
                "{method}: a path that it did not take before, now {} of its paths: {}",
                share("new_share"),
                path(answer, row)
            ),
            "gone path" => format!(
                "{method}: no longer takes a path that was {} of its paths: {}",
                share("old_share"),
                path(answer, row)
            ),
            "graph changed" => format!("{method}: its code branches differently"),
            "new method" => format!("{method} runs, which it did not before"),
            _ => format!("{method} runs no more"),
        }
    });
    Some(Finding {
        link: "changed",
        text: told.collect::<Vec<_>>().join("; "),
        evidence: evidence.collect(),
    })
}

fn path(answer: &Answer, row: &[Value]) -> String {
    parts::path(answer.get(row, "text"))
}

fn never(answers: &Answers) -> Option<Finding> {
    let (taken, ran) = (&answers.never_taken, &answers.never_ran);
    let certain = |answer: &Answer| {
        answer
            .rows
            .iter()
            .all(|row| *answer.get(row, "certain") == Value::Flag(true))
    };
    let (ways, methods) = (taken.rows.len() as u64, ran.rows.len() as u64);
    let asked = taken.params.iter().find(|(name, _)| name == "since");
    let first = answers
        .builds
        .rows
        .iter()
        .map(|row| answers.builds.get(row, "first_day").plain())
        .min();
    // Nothing is known of days before the first.
    let since = asked.map(|(_, day)| day.clone()).max(first).unwrap_or_default();
    if ways + methods == 0 {
        if taken.nothing_there.is_some() || ran.nothing_there.is_some() {
            return None;
        }
        return Some(Finding {
            link: "never-taken",
            text: format!("Everything that was loaded has run since {since}, every way"),
            evidence: Vec::new(),
        });
    }
    let sure = if certain(taken) && certain(ran) {
        "Since"
    } else {
        "As far as anybody saw, since"
    };
    let plural = |number: u64, one: &str, many: &str| {
        format!("{} {}", thousands(number), if number == 1 { one } else { many })
    };
    let evidence = taken
        .rows
        .iter()
        .take(NAMED)
        .map(|row| format!("{}, {}", taken.method(row), taken.way(row)));
    Some(Finding {
        link: "never-taken",
        text: format!(
            "{sure} {since}, no JVM took {}, and no JVM ran {}",
            plural(ways, "way out of a branch", "ways out of branches"),
            plural(methods, "method", "methods")
        ),
        evidence: evidence.collect(),
    })
}

fn odd(answer: &Answer) -> Option<Finding> {
    let far = |row: &&Vec<Value>| {
        let float = |name: &str| answer.get(row, name).float().unwrap_or(0.0);
        float("distance") >= MIN_DISTANCE && float("distance") >= MIN_RATIO * float("others")
    };
    let odd: Vec<&Vec<Value>> = answer.rows.iter().filter(far).collect();
    if answer.rows.is_empty() {
        return None;
    }
    let names: Vec<String> = odd
        .iter()
        .take(NAMED)
        .map(|row| answer.get(row, "host").printable())
        .collect();
    let text = match odd.len() {
        0 => "All hosts run the same paths, about as often".to_owned(),
        1 => format!("Host {} runs other paths than the rest", names[0]),
        n if n > NAMED => format!(
            "Hosts {} and {} more run other paths than the rest",
            names.join(", "),
            n - NAMED
        ),
        _ => format!("Hosts {} run other paths than the rest", names.join(", ")),
    };
    let evidence = odd.iter().take(NAMED).map(|row| {
        let share = |name: &str| answer.get(row, name).float().map_or("–".to_owned(), percent);
        format!(
            "{}: {} of its paths there, {} elsewhere: {}",
            answer.method(row),
            share("share"),
            share("others_share"),
            path(answer, row)
        )
    });
    Some(Finding {
        link: "odd-hosts",
        text,
        evidence: evidence.collect(),
    })
}

fn covered(answer: &Answer) -> Option<Finding> {
    let sum = |column: &str| {
        answer
            .rows
            .iter()
            .filter_map(|row| answer.get(row, column).number())
            .sum::<i64>()
            .unsigned_abs()
    };
    let (taken, ways) = (sum("ways_taken"), sum("ways"));
    (ways > 0).then(|| Finding {
        link: "coverage",
        text: format!(
            "{} of the ways out of branches are in use: {} of {}",
            percent(taken as f64 / ways as f64),
            thousands(taken),
            thousands(ways)
        ),
        evidence: Vec::new(),
    })
}
