//! k-BLPP: k-iteration paths.

use std::collections::{BTreeMap, BTreeSet};

use super::found::{Found, median, one, range, ratios};
use super::runs::{Runs, Source, number};
use crate::error::Result;
use crate::stats::geometric_mean;
use crate::svg::{Plot, Series};
use crate::workload::KERNELS;

/// Of the table of times, as it is now and with two builds in one file.
const TIMES: [&str; 2] = [
    "stream,k,round,competitor,ns_per_path_end",
    "build,stream,k,round,competitor,ns_per_path_end",
];
/// Of the sequences of two kernels (`super::steps`).
pub const SEQUENCES: &str = "kernel,what,sequence,count,of";

/// Everything.
///
/// # Errors
/// If a run's data are damaged.
pub fn measure(runs: &Runs) -> Result<Found> {
    let mut found = Found::default();
    times(runs, &mut found)?;
    if let Some(source) = runs.newest("summary.md", |text| {
        text.contains("Nodes of the k-SF (figure 17)")
    }) {
        shapes(&source, &mut found);
    }
    sequences(runs, &mut found)?;
    unrolled(runs, &mut found)?;
    Ok(found)
}

/// Time of a competitor relative to the hash table, by stream and k: quotients of medians. The hash
/// table's is that of all k, and of the faster build where there are two: its code is the same in both.
fn relative(source: &Source, competitor: &str) -> Result<BTreeMap<String, BTreeMap<u32, f64>>> {
    let mut hash: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    let mut times: BTreeMap<(String, u32), Vec<f64>> = BTreeMap::new();
    for row in source.rows()? {
        let (Ok(k), Ok(ns)) = (row["k"].parse::<u32>(), row["ns_per_path_end"].parse::<f64>()) else {
            continue;
        };
        let build = row.get("build").cloned().unwrap_or_default();
        if row["competitor"] == "hash" {
            hash.entry((row["stream"].clone(), build)).or_default().push(ns);
        } else if row["competitor"] == competitor && build != "old" {
            times.entry((row["stream"].clone(), k)).or_default().push(ns);
        }
    }
    let mut all: BTreeMap<String, BTreeMap<u32, f64>> = BTreeMap::new();
    for ((stream, k), ns) in times {
        let of_stream = hash.iter().filter(|((name, _), _)| *name == stream);
        let rival = of_stream.map(|(_, ns)| median(ns)).fold(f64::INFINITY, f64::min);
        all.entry(stream).or_default().insert(k, median(&ns) / rival);
    }
    Ok(all)
}

fn times(runs: &Runs, found: &mut Found) -> Result<()> {
    let is_times = |text: &str| text.lines().next().is_some_and(|head| TIMES.contains(&head));
    // The run with most programs, the newest of these.
    let programs = |source: &Source| {
        let at = usize::from(source.text.starts_with("build"));
        let names = source
            .text
            .lines()
            .skip(1)
            .filter_map(|line| line.split(',').nth(at));
        names.collect::<BTreeSet<_>>().len()
    };
    let all = runs.with("raw.csv", is_times);
    let most = all.iter().map(programs).max().unwrap_or(0);
    let Some(source) = all.iter().find(|source| programs(source) == most) else {
        return Ok(());
    };
    let (pairs, slabs) = (relative(source, "pairs")?, relative(source, "k-SF")?);
    let flat: Vec<f64> = pairs.values().flat_map(BTreeMap::values).copied().collect();
    let below = pairs
        .values()
        .filter(|by| by.values().all(|ratio| *ratio < 1.0))
        .count();
    let half = pairs
        .values()
        .filter(|by| by.values().all(|ratio| *ratio < 0.5))
        .count();
    let from = one(&source.run);
    found.put(
        "kblpp.time.below",
        format!("{below} of {} (below 0.5: {half})", pairs.len()),
        &from,
    );
    found.put("kblpp.time.range", range(&flat, |v| format!("{v:.2}")), &from);
    let mean = |values: &[f64]| geometric_mean(values).map_or("–".to_owned(), |mean| format!("{mean:.2}"));
    found.put("kblpp.time.mean", mean(&flat), &from);
    let flat: Vec<f64> = slabs.values().flat_map(BTreeMap::values).copied().collect();
    found.put("kblpp.time.slab", mean(&flat), &from);
    let ks: BTreeSet<u32> = pairs.values().flat_map(BTreeMap::keys).copied().collect();
    let places: Vec<String> = ks.iter().map(u32::to_string).collect();
    let lines = |kernels: bool| -> Vec<Series> {
        let chosen = pairs
            .iter()
            .filter(|(name, _)| KERNELS.contains(&name.as_str()) == kernels);
        chosen
            .map(|(name, by)| (name.clone(), ks.iter().map(|k| by.get(k).copied()).collect()))
            .collect()
    };
    let marks = [
        ("hash table".to_owned(), 1.0),
        ("paper, least".to_owned(), 0.55),
        ("paper, greatest".to_owned(), 3.76),
    ];
    for (name, kernels, title) in [
        (
            "kblpp-time",
            true,
            "k-BLPP figure 14: time of k-iteration paths, kernels",
        ),
        (
            "kblpp-time-apps",
            false,
            "k-BLPP figure 14: time of k-iteration paths, applications",
        ),
    ] {
        let plot = Plot {
            title,
            axis: "relative to a hash table of paths; by k",
            places: &places,
            series: &lines(kernels),
            marks: &marks,
            log: false,
        };
        found.plot(
            name,
            "Figure 14; dashed: the hash table, and the paper's least and greatest.",
            plot.lines(),
        );
    }
    Ok(())
}

fn shapes(source: &Source, found: &mut Found) {
    let from = one(&source.run);
    let short = |value: f64| match value {
        v if v < 10_000.0 => format!("{v:.0}"),
        v if v < 1e6 => format!("{:.0} k", v / 1e3),
        v => format!("{:.1} M", v / 1e6),
    };
    let column = |title: &str, k: u32| -> Vec<(String, f64)> {
        let table = source.table(title);
        table.map_or(Vec::new(), |table| table.numbers(&format!("k = {k}")))
    };
    let values = |title: &str, k: u32| -> Vec<f64> { column(title, k).into_iter().map(|(_, v)| v).collect() };
    let (slab, forest) = ("Nodes of the k-SF (figure 17)", "Nodes of the k-IPF (figure 18)");
    let degree = "Average degree of inner nodes";
    found.put(
        "kblpp.lookups",
        range(&values("Look-ups of roots", 16), |v| format!("{v:.4}")),
        &from,
    );
    found.put("kblpp.nodes.slab", range(&values(slab, 16), short), &from);
    found.put("kblpp.nodes.forest", range(&values(forest, 16), short), &from);
    let both = values(slab, 16).into_iter().zip(values(forest, 16));
    let (fewer, all) = both.fold((0, 0), |(fewer, all), (s, f)| (fewer + u32::from(f < s), all + 1));
    found.put("kblpp.nodes.fewer", format!("{fewer} of {all}"), &from);
    let both = values(degree, 2).into_iter().zip(values(degree, 16));
    let (falls, all) = both.fold((0, 0), |(falls, all), (a, b)| (falls + u32::from(b < a), all + 1));
    found.put("kblpp.degree.falls", format!("{falls} of {all}"), &from);
    let heapsort = |k| {
        column(degree, k)
            .into_iter()
            .find(|(name, _)| name == "heapsort")
            .map(|(_, v)| v)
    };
    if let (Some(a), Some(b)) = (heapsort(2), heapsort(16)) {
        found.put("kblpp.degree.heapsort", format!("{a:.2}; {b:.2}"), &from);
    }
    found.put(
        "kblpp.depth",
        range(&values("Average depth of leaves", 16), |v| format!("{v:.1}")),
        &from,
    );
    let Some(table) = source.table(slab) else { return };
    let series: Vec<Series> = table
        .rows
        .iter()
        .filter(|row| row.len() == table.head.len() && KERNELS.contains(&row[0].as_str()))
        .map(|row| (row[0].clone(), row[1..].iter().map(|cell| number(cell)).collect()))
        .collect();
    let places: Vec<String> = table.head[1..].to_vec();
    let plot = Plot {
        title: "k-BLPP figure 17: nodes of the k-slab forest, kernels",
        axis: "nodes",
        places: &places,
        series: &series,
        marks: &[],
        log: true,
    };
    found.plot("kblpp-nodes", "Figure 17, our kernels.", plot.lines());
}

fn sequences(runs: &Runs, found: &mut Found) -> Result<()> {
    let Some(source) = runs.with_head("raw.csv", SEQUENCES).into_iter().next() else {
        return Ok(());
    };
    for row in source.rows()? {
        if let (Ok(count), Ok(of)) = (row["count"].parse::<f64>(), row["of"].parse::<f64>()) {
            let key = format!("kblpp.{}.{}", row["kernel"], row["what"]);
            let sequence = row["sequence"].replace('-', " ");
            let text = match row["what"].as_str() {
                "share" => format!("{:.1} %", 100.0 * count / of),
                _ => format!("{:.1} % (`{sequence}`)", 100.0 * count / of),
            };
            found.put(key, text, &one(&source.run));
        }
    }
    Ok(())
}

fn unrolled(runs: &Runs, found: &mut Found) -> Result<()> {
    let Some(source) = runs
        .with_head("raw.csv", "jdk,pair,kernel,iteration,nanos,cpu_nanos")
        .into_iter()
        .next()
    else {
        return Ok(());
    };
    let mut cpu: BTreeMap<(String, String, bool), f64> = BTreeMap::new();
    for row in source.rows()? {
        let warm = row["iteration"].parse::<i64>().is_ok_and(|number| number >= 0);
        if let (true, Ok(nanos)) = (warm, row["cpu_nanos"].parse::<f64>()) {
            let unrolled = row["kernel"] == "convolution-unrolled";
            *cpu.entry((row["jdk"].clone(), row["pair"].clone(), unrolled))
                .or_default() += nanos;
        }
    }
    let mut by_jdk: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for ((jdk, pair, unrolled), nanos) in &cpu {
        if let (false, Some(after)) = (*unrolled, cpu.get(&(jdk.clone(), pair.clone(), true))) {
            by_jdk.entry(jdk.clone()).or_default().push(nanos / after);
        }
    }
    let texts: Vec<String> = by_jdk
        .iter()
        .map(|(jdk, values)| {
            let feature = jdk.split('.').next().unwrap_or_default();
            let spread = ratios(values);
            let spread = spread
                .split_once(" (")
                .map_or("", |(_, rest)| rest.trim_end_matches(')'));
            format!("JDK {feature}: {:.2} ({spread})", median(values))
        })
        .collect();
    if !texts.is_empty() {
        found.put("kblpp.unrolled", texts.join("; "), &one(&source.run));
    }
    Ok(())
}
