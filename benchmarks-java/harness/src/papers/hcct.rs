//! HCCT: hot calling contexts.

use std::collections::BTreeSet;

use super::found::{Found, grouped, one, range};
use super::runs::{Runs, Source, Table, number};
use crate::svg::{Plot, Series};

/// Everything.
pub fn measure(runs: &Runs) -> Found {
    let mut found = Found::default();
    let tables = |title: &str| {
        // The run with most programs, the newest of these.
        let all = runs.with("summary.md", |text| text.contains(title));
        let lines = |source: &Source| {
            let table = source.table(title);
            table.map_or(0, |table| {
                table
                    .rows
                    .iter()
                    .map(|row| &row[0])
                    .collect::<BTreeSet<_>>()
                    .len()
            })
        };
        let most = all.iter().map(lines).max().unwrap_or(0);
        let source = all.into_iter().find(|source| lines(source) == most)?;
        Some((source.table(title)?, one(&source.run)))
    };
    if let Some((table, from)) = tables("**Sizes (table 1)") {
        for (key, column) in [
            ("methods", "methods (call graph)"),
            ("sites", "call sites"),
            ("contexts", "CCT"),
            ("calls", "calls (call tree)"),
        ] {
            found.put(
                format!("hcct.{key}"),
                range(&values(&table, column), grouped),
                &from,
            );
        }
    }
    if let Some((table, from)) = tables("**Nodes of the exact HCCT") {
        thresholds(&table, &from, &mut found);
    }
    if let Some((table, from)) = tables("**Against the exact CCT") {
        accuracy(&table, &from, &mut found);
    }
    let sizes = tables("**Sizes (table 1)");
    if let (Some((sizes, _)), Some((table, from))) = (sizes, tables("**Most nodes at a time")) {
        space(&sizes, &table, &from, &mut found);
    }
    if let Some((table, from)) = tables("**The same relative to the exact tree") {
        for (key, column) in [
            ("lss", "lazy Space Saving"),
            ("bss", "bucket Space Saving"),
            ("lc", "Lossy Counting"),
        ] {
            let of = values(&table, column);
            found.put(
                format!("hcct.time.{key}"),
                range(&of, |v| format!("{v:.2}")),
                &from,
            );
        }
    }
    if let Some((table, from)) = tables("**Lazy Space Saving in bursts") {
        let exact = tables("**Against the exact CCT").map(|(table, _)| table);
        bursts(&table, exact.as_ref(), &from, &mut found);
    }
    if let Some((table, from)) = tables("**Calls in the hottest contexts") {
        skew(&table, &from, &mut found);
    }
    if let Some((table, from)) = tables("**From which tau on coverage is complete") {
        let all: Vec<String> = table.head[1..]
            .iter()
            .map(|column| {
                let phi: f64 = column.trim_start_matches("phi = ").parse().unwrap_or(f64::NAN);
                let of: Vec<f64> = values(&table, column).into_iter().map(|tau| tau / phi).collect();
                format!("{column}: {}", range(&of, |v| format!("{v:.1}")))
            })
            .collect();
        found.put("hcct.tau.phi", all.join("; "), &from);
    }
    if let Some((table, from)) = tables("**Falsely reported, of what is reported") {
        for (key, algorithm) in [("lss", "lazy Space Saving"), ("lc", "Lossy Counting")] {
            let greatest = |column: &String| {
                let at = table.column(column).unwrap_or(0);
                let of = table.rows.iter().filter(|row| row[1] == algorithm);
                let of = of
                    .filter_map(|row| number(&row[at]))
                    .fold(f64::NEG_INFINITY, f64::max);
                format!("{of:.2}")
            };
            let all: Vec<String> = table.head[2..].iter().map(greatest).collect();
            found.put(
                format!("hcct.false.epsilon.{key}"),
                format!("{} %", all.join("; ")),
                &from,
            );
        }
    }
    found
}

fn values(table: &Table, column: &str) -> Vec<f64> {
    table
        .numbers(column)
        .into_iter()
        .map(|(_, value)| value)
        .collect()
}

/// The parts of a cell `437 / 437; 72.6 %; 36.0 %`.
fn part(cell: &str, at: usize) -> Option<f64> {
    number(cell.split([';', '/']).nth(at)?)
}

fn thresholds(table: &Table, from: &BTreeSet<String>, found: &mut Found) {
    for (key, column) in [("3", "phi = 1e-3"), ("5", "phi = 1e-5"), ("7", "phi = 1e-7")] {
        found.put(
            format!("hcct.nodes.{key}"),
            range(&values(table, column), grouped),
            from,
        );
    }
    let overlap = |row: &Vec<String>, column: usize| part(row.get(column)?, 2);
    let at = table.column("phi = 1e-4").unwrap_or(0);
    let of: Vec<f64> = table.rows.iter().filter_map(|row| overlap(row, at)).collect();
    found.put("hcct.overlap.4", range(&of, |v| format!("{v:.1} %")), from);
    let places: Vec<String> = table.head[1..].to_vec();
    let series: Vec<Series> = table
        .rows
        .iter()
        .map(|row| {
            (
                row[0].clone(),
                (1..row.len()).map(|column| overlap(row, column)).collect(),
            )
        })
        .collect();
    let plot = Plot {
        title: "HCCT figure 6: overlap of the hot tree with all calls",
        axis: "% of all calls; by phi",
        places: &places,
        series: &series,
        marks: &[],
        log: false,
    };
    found.plot("hcct-overlap", "Figure 6.", plot.lines());
}

/// Numbers of an algorithm's column.
fn of(table: &Table, algorithm: &str, column: &str, at: usize) -> Vec<f64> {
    let Some(column) = table.column(column) else {
        return Vec::new();
    };
    let rows = table
        .rows
        .iter()
        .filter(|row| row.get(1).is_some_and(|name| name == algorithm));
    rows.filter_map(|row| part(row.get(column)?, at)).collect()
}

fn accuracy(table: &Table, from: &BTreeSet<String>, found: &mut Found) {
    let (lss, lc) = ("lazy Space Saving", "Lossy Counting");
    let percent = |v: f64| match v {
        v if v != 0.0 && v < 0.01 => format!("{v:.0e} %"),
        v => format!("{v:.2} %"),
    };
    let mut put = |key: &str, algorithm: &str, column: &str, at: usize| {
        let text = match column {
            "complete above tau" => range(&of(table, algorithm, column, at), |v| format!("{v:.4}")),
            _ => range(&of(table, algorithm, column, at), percent),
        };
        found.put(format!("hcct.{key}"), text, from);
    };
    put("uncovered.max", lss, "uncovered max", 0);
    put("uncovered.average", lss, "uncovered average", 0);
    put("tau", lss, "complete above tau", 0);
    put("false.lss", lss, "false positives", 0);
    put("false.lc", lc, "false positives", 0);
    for (name, algorithm) in [("lss", lss), ("lc", lc)] {
        let errors = "error of lower bounds max / average";
        put(&format!("error.{name}.max"), algorithm, errors, 0);
        put(&format!("error.{name}.average"), algorithm, errors, 1);
    }
}

fn space(sizes: &Table, table: &Table, from: &BTreeSet<String>, found: &mut Found) {
    let contexts = sizes.numbers("CCT");
    let Some(column) = table.column("lazy Space Saving") else {
        return;
    };
    let bytes: Vec<(String, f64)> = table
        .rows
        .iter()
        .filter_map(|row| Some((row[0].clone(), part(row.get(column)?, 1)?)))
        .collect();
    let large = |name: &String| contexts.iter().any(|(other, n)| other == name && *n > 1e6);
    let show = |v: f64| format!("{v:.2} %");
    let of: Vec<f64> = bytes
        .iter()
        .filter(|(name, _)| large(name))
        .map(|(_, v)| *v)
        .collect();
    found.put("hcct.space.large", range(&of, show), from);
    let of: Vec<f64> = bytes.iter().map(|(_, v)| *v).collect();
    found.put("hcct.space.all", range(&of, show), from);
    let places: Vec<String> = table.rows.iter().map(|row| row[0].clone()).collect();
    let series: Vec<Series> = table.head[1..]
        .iter()
        .enumerate()
        .map(|(at, name)| {
            (
                name.clone(),
                table.rows.iter().map(|row| part(row.get(at + 1)?, 1)).collect(),
            )
        })
        .collect();
    let marks = [("paper, worst".to_owned(), 6.5), ("1 %".to_owned(), 1.0)];
    let plot = Plot {
        title: "HCCT figure 12: most bytes at a time, phi = 1e-4",
        axis: "% of the bytes of the whole tree",
        places: &places,
        series: &series,
        marks: &marks,
        log: true,
    };
    found.plot(
        "hcct-space",
        "Figure 12; dashed: the paper's worst case and its usual one.",
        plot.bars(),
    );
}

fn bursts(table: &Table, exact: Option<&Table>, from: &BTreeSet<String>, found: &mut Found) {
    let speed = if table.column("of the analysis alone").is_some() {
        "of the analysis alone"
    } else {
        "speed-up over the exact tree"
    };
    for (key, kind) in [("static", "static"), ("5", "RR 5 %")] {
        let of = of(table, kind, speed, 0);
        found.put(
            format!("hcct.bursts.{key}"),
            range(&of, |v| format!("{v:.1}")),
            from,
        );
    }
    if let Some(exact) = exact {
        let all = of(exact, "lazy Space Saving", "overlap", 0);
        let with = of(table, "RR 5 %", "overlap", 0);
        if all.len() == with.len() {
            let lost: Vec<f64> = all.iter().zip(&with).map(|(a, b)| a - b).collect();
            found.put("hcct.bursts.lost", range(&lost, |v| format!("{v:.1}")), from);
        }
    }
    let mut places: Vec<String> = Vec::new();
    let mut kinds: Vec<String> = Vec::new();
    for row in &table.rows {
        for (names, name) in [(&mut places, &row[0]), (&mut kinds, &row[1])] {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    let column = table.column(speed).unwrap_or(0);
    let cell = |place: &String, kind: &String| {
        let row = table
            .rows
            .iter()
            .find(|row| row[0] == *place && row[1] == *kind)?;
        number(row.get(column)?)
    };
    let series: Vec<Series> = kinds
        .iter()
        .map(|kind| {
            (
                kind.clone(),
                places.iter().map(|place| cell(place, kind)).collect(),
            )
        })
        .collect();
    let marks = [("paper, most".to_owned(), 36.0)];
    let plot = Plot {
        title: "HCCT figure 13: Lazy Space Saving in bursts",
        axis: "times as fast as the exact tree of all events, analysis alone",
        places: &places,
        series: &series,
        marks: &marks,
        log: true,
    };
    found.plot(
        "hcct-bursts",
        "Figure 13; dashed: the paper's greatest.",
        plot.bars(),
    );
}

fn skew(table: &Table, from: &BTreeSet<String>, found: &mut Found) {
    found.put(
        "hcct.skew",
        range(&values(table, "10 %"), |v| format!("{v:.1} %")),
        from,
    );
    let places: Vec<String> = table.head[1..].to_vec();
    let series: Vec<Series> = table
        .rows
        .iter()
        .map(|row| (row[0].clone(), row[1..].iter().map(|cell| number(cell)).collect()))
        .collect();
    let plot = Plot {
        title: "HCCT figure 1: share of calls in the hottest contexts",
        axis: "% of all calls; by share of contexts",
        places: &places,
        series: &series,
        marks: &[("paper, at 10 %: about 90".to_owned(), 90.0)],
        log: false,
    };
    found.plot(
        "hcct-skew",
        "Figure 1; dashed: the paper's 10 to 90 rule.",
        plot.lines(),
    );
}
