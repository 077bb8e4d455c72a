//! SPP: structural paths.

use super::found::{Found, one, range, ratios};
use super::runs::{Runs, Table};
use crate::stats::geometric_mean;
use crate::svg::{Plot, Series};
use crate::workload::KERNELS;

/// The paper's table 1: paths and places, structural and Ball-Larus.
const TABLE: [(&str, [f64; 4]); 7] = [
    ("mtrt", [2617.0, 3370.0, 909.0, 807.0]),
    ("jess", [4332.0, 5634.0, 1642.0, 1420.0]),
    ("compress", [2142.0, 2829.0, 627.0, 560.0]),
    ("db", [2324.0, 2943.0, 755.0, 671.0]),
    ("mpegaudio", [2673.0, 3255.0, 1021.0, 879.0]),
    ("jack", [4379.0, 5197.0, 1365.0, 1224.0]),
    ("javac", [12234.0, 13563.0, 4376.0, 3780.0]),
];

/// Everything.
pub fn measure(runs: &Runs) -> Found {
    let mut found = Found::default();
    let table_1 = |text: &str| text.contains("| paths, BPP at back edges |");
    if let Some(source) = runs.newest("summary.md", table_1)
        && let Some(table) = source.table_with("paths, SPP")
    {
        numbers(&table, &source.run, &mut found);
    }
    if let Some(source) = runs.newest("summary.md", |text| text.contains("| structural paths, % |"))
        && let Some(table) = source.table_with("structural paths, %")
    {
        overhead(&table, &source.run, &mut found);
    }
    found
}

fn is_kernel(name: &str) -> bool {
    KERNELS.contains(&name)
}

fn numbers(table: &Table, run: &str, found: &mut Found) {
    let ratio = |a: &str, b: &str| -> Vec<(String, f64)> {
        let both = table.numbers(a).into_iter().zip(table.numbers(b));
        both.map(|((name, a), (_, b))| (name, a / b))
            .filter(|(name, _)| !is_kernel(name))
            .collect()
    };
    let paths = ratio("paths, SPP", "paths, BPP at back edges");
    let points = ratio("points, SPP", "points, BPP at back edges");
    let from = one(run);
    for (key, of) in [("spp.paths", &paths), ("spp.points", &points)] {
        let values: Vec<f64> = of.iter().map(|(_, value)| *value).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = geometric_mean(&values).unwrap_or(f64::NAN);
        found.put(key, format!("{least:.2} to {greatest:.2} ({mean:.2})"), &from);
    }
    let mut places: Vec<String> = TABLE.iter().map(|(name, _)| format!("{name} (paper)")).collect();
    places.extend(paths.iter().map(|(name, _)| name.clone()));
    let of = |a: usize, b: usize, ours: &[(String, f64)]| -> Vec<Option<f64>> {
        let paper = TABLE.iter().map(|(_, values)| Some(values[a] / values[b]));
        paper.chain(ours.iter().map(|(_, value)| Some(*value))).collect()
    };
    let series: Vec<Series> = vec![
        ("paths".to_owned(), of(0, 1, &paths)),
        ("places".to_owned(), of(2, 3, &points)),
    ];
    let plot = Plot {
        title: "SPP table 1: structural relative to Ball-Larus",
        axis: "ratio of numbers",
        places: &places,
        series: &series,
        marks: &[],
        log: false,
    };
    found.plot(
        "spp-table1",
        "Table 1: the paper's programs, and our applications.",
        plot.bars(),
    );
}

fn overhead(table: &Table, run: &str, found: &mut Found) {
    let from = one(run);
    let Some(program) = table.column("program") else {
        return;
    };
    let of = |column: &str, nth: usize| -> Vec<(String, f64)> {
        // Two columns have the same name.
        let places: Vec<usize> = (0..table.head.len())
            .filter(|at| table.head[*at] == column)
            .collect();
        let Some(at) = places.get(nth) else {
            return Vec::new();
        };
        let cell = |row: &Vec<String>| Some((row.get(program)?.clone(), row.get(*at)?.parse().ok()?));
        table.rows.iter().filter_map(cell).collect()
    };
    let chosen = |all: &[(String, f64)], kernels: bool| -> Vec<f64> {
        all.iter()
            .filter(|(name, _)| is_kernel(name) == kernels)
            .map(|(_, value)| *value)
            .collect()
    };
    let (active, accuracy) = (of("active / base", 0), of("structural paths, %", 0));
    for (kind, kernels) in [("kernels", true), ("apps", false)] {
        found.put(
            format!("spp.active.{kind}"),
            ratios(&chosen(&active, kernels)),
            &from,
        );
        let accuracy = range(&chosen(&accuracy, kernels), |v| format!("{v:.1} %"));
        found.put(format!("spp.accuracy.{kind}"), accuracy, &from);
    }
    let (late, retired) = (of("second half", 1), of("methods retired", 0));
    let after: Vec<String> = late
        .iter()
        .zip(&retired)
        .filter(|(_, (_, methods))| *methods > 0.0)
        .map(|((name, ratio), _)| format!("{name} {ratio:.2}"))
        .collect();
    found.put("spp.after", after.join(", "), &from);
}
