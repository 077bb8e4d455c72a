//! OSP: hot subpaths.

use std::collections::{BTreeMap, BTreeSet};

use super::found::{Found, grouped, one};
use super::runs::{Runs, Source, Table, number};
use crate::error::{Error, Result};
use crate::svg::{Plot, Series};
use crate::tables;

/// Of the paper, those of which there is one of ours: total and sampling overhead in percent.
const PROGRAMS: [(&str, f64, f64); 6] = [
    ("fft", 31.16, 10.07),
    ("heapsort", 214.73, 56.05),
    ("moldyn", 236.63, 10.94),
    ("raytracer", 286.40, 3.75),
    ("lexergen", 64.10, 17.95),
    ("javac", 177.10, 17.55),
];

/// Everything.
///
/// # Errors
/// If a run's data are damaged.
pub fn measure(runs: &Runs) -> Result<Found> {
    let mut found = Found::default();
    let mut ranked = (0, 0);
    let mut errors: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
    let mut all_from = BTreeSet::new();
    for (name, ..) in PROGRAMS {
        let Some(source) = runs.newest(&format!("{name}.md"), |text| text.contains("(OSP table 1)")) else {
            continue;
        };
        let from = one(&source.run);
        all_from.extend(from.clone());
        sizes(&source, name, &from, &mut found);
        samples(&source, name, &from, &mut found);
        for (way, of) in ten(&source, name, &from, &mut found) {
            errors.entry(way).or_default().push(of);
        }
        let (right, all) = points(&source);
        if name == "fft" {
            found.put("osp.points.fft", format!("{right} of {all} (both ways)"), &from);
        }
        ranked = (ranked.0 + right, ranked.1 + all);
    }
    if ranked.1 > 0 {
        found.put(
            "osp.points.all",
            format!("{} of {} (both ways)", ranked.0, ranked.1),
            &all_from,
        );
        plot_errors(&mut found, &errors);
    }
    overhead(runs, &mut found)?;
    Ok(found)
}

/// Cells of the lines of a table about each way to skip.
fn by_way<'a>(table: &'a Table, column: &str) -> Vec<(&'a str, &'a str)> {
    let (Some(way), Some(column)) = (table.column("skipping by"), table.column(column)) else {
        return Vec::new();
    };
    table
        .rows
        .iter()
        .map(|row| (row[way].as_str(), row[column].as_str()))
        .collect()
}

fn sizes(source: &Source, name: &str, from: &BTreeSet<String>, found: &mut Found) {
    if let Some(table) = source.table("(OSP table 1)") {
        let first = |column: &str| table.numbers(column).first().map(|(_, value)| grouped(*value));
        if let (Some(blocks), Some(distinct)) = (first("blocks"), first("distinct")) {
            found.put(format!("osp.size.{name}"), format!("{blocks}; {distinct}"), from);
        }
    }
    if let Some(table) = source.table("(OSP table 4)") {
        let sample = by_way(&table, "sample of a thread, at most");
        let besides = by_way(&table, "besides, per thread");
        let cells: Vec<String> = sample
            .iter()
            .zip(&besides)
            .map(|((way, sample), (_, besides))| format!("{way} {sample}; {besides}"))
            .collect();
        if !cells.is_empty() {
            found.put(format!("osp.memory.{name}"), cells.join(", "), from);
        }
    }
}

fn samples(source: &Source, name: &str, from: &BTreeSet<String>, found: &mut Found) {
    let Some(table) = source.table("(OSP table 3)") else {
        return;
    };
    let columns = ["in the sample", "distinct", "f"].map(|column| by_way(&table, column));
    let cells: Vec<String> = (0..columns[0].len())
        .filter_map(|at| {
            let [sample, distinct, f] = [0, 1, 2].map(|column| columns[column].get(at));
            Some(format!("{} {}; {}; {}", sample?.0, sample?.1, distinct?.1, f?.1))
        })
        .collect();
    if !cells.is_empty() {
        found.put(format!("osp.sample.{name}"), cells.join(", "), from);
    }
}

/// The ten; returns the greatest error of the first four, by way.
fn ten(
    source: &Source,
    name: &str,
    from: &BTreeSet<String>,
    found: &mut Found,
) -> Vec<(&'static str, Option<f64>)> {
    let Some(table) = source.table("In short") else {
        return Vec::new();
    };
    let right = by_way(&table, "first ten that are among the true ten");
    let errors = by_way(&table, "errors of the first four");
    let cells: Vec<String> = right
        .iter()
        .zip(&errors)
        .map(|((way, right), (_, errors))| format!("{way} {right}; {errors}"))
        .collect();
    if !cells.is_empty() {
        found.put(format!("osp.ten.{name}"), cells.join(", "), from);
    }
    let greatest = |way: &'static str| {
        let (_, text) = errors.iter().find(|(other, _)| *other == way)?;
        text.trim_end_matches('%')
            .split(',')
            .filter_map(number)
            .reduce(f64::max)
    };
    ["consumer", "probes"].map(|way| (way, greatest(way))).to_vec()
}

/// Of the ranks at the points of a run, how many are the true ones.
fn points(source: &Source) -> (u32, u32) {
    let Some(table) = source.table("(OSP table 6)") else {
        return (0, 0);
    };
    let mut sums = (0, 0);
    for row in &table.rows {
        let rank = number(&row[0]);
        for cell in row.iter().skip(2) {
            sums = (sums.0 + u32::from(number(cell) == rank), sums.1 + 1);
        }
    }
    sums
}

fn plot_errors(found: &mut Found, errors: &BTreeMap<&str, Vec<Option<f64>>>) {
    let places = PROGRAMS.map(|(name, ..)| name.to_owned());
    let series: Vec<Series> = errors
        .iter()
        .map(|(way, values)| ((*way).to_owned(), values.clone()))
        .collect();
    let plot = Plot {
        title: "OSP table 5: greatest error of the estimates of the first four",
        axis: "%",
        places: &places,
        series: &series,
        marks: &[("paper, fft".to_owned(), 1.0)],
        log: true,
    };
    found.plot(
        "osp-errors",
        "Table 5; dashed: the paper's greatest, of FFT.",
        plot.bars(),
    );
}

fn overhead(runs: &Runs, found: &mut Found) -> Result<()> {
    let wanted = |text: &str| {
        text.starts_with("jdk,workload,config,pair,iteration")
            && text.contains(",probes-idle,")
            && !text.contains(",blocks,")
    };
    // JDK and program: total and sampling, and the run.
    let mut all: BTreeMap<(u32, String), (f64, f64, String)> = BTreeMap::new();
    for source in runs.with("raw.csv", wanted) {
        let text = tables::subpaths_overhead(&[runs.folder(&source.run)]).map_err(Error::Table)?;
        for part in text.split("**JDK ").skip(1) {
            let Some(jdk) = part.split('.').next().and_then(|jdk| jdk.parse().ok()) else {
                continue;
            };
            let part = Source {
                run: source.run.clone(),
                text: part.to_owned(),
            };
            let Some(table) = part.table_with("total overhead") else {
                continue;
            };
            let (total, sampling) = (
                table.numbers("total overhead"),
                table.numbers("sampling overhead"),
            );
            for (name, total) in total {
                let of = sampling.iter().find(|(other, _)| *other == name);
                if let Some((_, sampling)) = of {
                    all.entry((jdk, name))
                        .or_insert((total, *sampling, source.run.clone()));
                }
            }
        }
    }
    let jdks: BTreeSet<u32> = all.keys().map(|(jdk, _)| *jdk).collect();
    for (name, ..) in PROGRAMS {
        let mut from = BTreeSet::new();
        let mut texts = Vec::new();
        for jdk in &jdks {
            if let Some((total, sampling, run)) = all.get(&(*jdk, name.to_owned())) {
                texts.push(format!("JDK {jdk}: {total:.0} %; {sampling:.0} %"));
                from.insert(run.clone());
            }
        }
        if !texts.is_empty() {
            found.put(format!("osp.overhead.{name}"), texts.join(", "), &from);
        }
    }
    let places = PROGRAMS.map(|(name, ..)| name.to_owned());
    let ours = |jdk: u32| -> Vec<Option<f64>> {
        places
            .iter()
            .map(|name| all.get(&(jdk, name.clone())).map(|(total, ..)| *total))
            .collect()
    };
    let mut series: Vec<Series> = vec![(
        "paper, total".to_owned(),
        PROGRAMS.iter().map(|(_, total, _)| Some(*total)).collect(),
    )];
    series.extend(
        jdks.iter()
            .map(|jdk| (format!("ours, total, JDK {jdk}"), ours(*jdk))),
    );
    series.push((
        "paper, sampling".to_owned(),
        PROGRAMS.iter().map(|(.., s)| Some(*s)).collect(),
    ));
    let plot = Plot {
        title: "OSP table 2: overhead",
        axis: "% of the time without a profiler",
        places: &places,
        series: &series,
        marks: &[("aim".to_owned(), 10.0)],
        log: false,
    };
    found.plot(
        "osp-overhead",
        "Table 2: the paper's programs beside ours of the same kind; dashed: our aim.",
        plot.bars(),
    );
    Ok(())
}
