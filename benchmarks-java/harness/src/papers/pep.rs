//! PEP: overhead and accuracy of sampled paths.

use std::collections::{BTreeMap, BTreeSet};

use super::found::{Found, median};
use super::runs::Runs;
use crate::error::Result;
use crate::stats::geometric_mean;
use crate::svg::{Plot, Series};
use crate::workload::KERNELS;

const RUN: &str = "jdk,workload,config,pair,iteration,nanos,cpu_nanos,checksum";
const ACCURACY: &str = "jdk,workload,schedule,trial,path_accuracy,edge_relative_overlap,edge_absolute_overlap,hot_paths,unobserved_share,samples";
/// Of our configurations, those that a figure needs: its name here, and what runs called it. The runs from
/// before the default schedule was another had `sag:64:17` by the name `yieldpoint`.
const CONFIGS: [(&str, &[&str]); 6] = [
    ("counters", &["counters"]),
    ("idle", &["idle"]),
    ("timer", &["timer"]),
    ("sag", &["sag", "yieldpoint"]),
    ("sag256", &["sag256"]),
    ("sag1024", &["sag1024"]),
];
const SCHEDULES: [&str; 7] = [
    "exact again",
    "timer",
    "ag:64:17",
    "sag:64:17",
    "sag:256:17",
    "sag:1024:17",
    "span:1ms:256",
];

/// By JDK, then by workload: the newest run's value, and that run.
type ByJdk = BTreeMap<u32, BTreeMap<String, (f64, String)>>;

/// Everything.
///
/// # Errors
/// If a run's data are damaged.
pub fn measure(runs: &Runs) -> Result<Found> {
    let mut found = Found::default();
    let mut bars: Vec<(String, ByJdk)> = Vec::new();
    for (name, called) in CONFIGS {
        let warm = overhead(runs, called, false)?;
        put(&mut found, &format!("pep.overhead.{name}"), &warm, true);
        if name == "sag" {
            put(&mut found, "pep.first.sag", &overhead(runs, called, true)?, true);
        }
        if name == "sag" || name == "counters" {
            bars.push((name.to_owned(), warm));
        }
    }
    plot_overhead(&mut found, &bars);
    let measures = [
        ("path", "path_accuracy"),
        ("relative", "edge_relative_overlap"),
        ("absolute", "edge_absolute_overlap"),
    ];
    let mut plotted: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
    for schedule in SCHEDULES {
        for (name, column) in measures {
            let values = accuracy(runs, schedule, column)?;
            put(&mut found, &format!("pep.{name}.{schedule}"), &values, false);
            let all = values.get(&17).map(applications);
            let mean = all.filter(|all| !all.is_empty()).map(|all| mean(&all) * 100.0);
            plotted.entry(name).or_default().push(mean);
        }
    }
    plot_accuracy(&mut found, &plotted);
    Ok(found)
}

fn feature(jdk: &str) -> u32 {
    jdk.split('.').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn is_kernel(name: &str) -> bool {
    KERNELS.contains(&name)
}

fn applications(by: &BTreeMap<String, (f64, String)>) -> Vec<f64> {
    by.iter()
        .filter(|(name, _)| !is_kernel(name))
        .map(|(_, (value, _))| *value)
        .collect()
}

/// Time with a configuration relative to that without the agent, elapsed time of a JVM's median iteration, or
/// of its first: the median of the pairs.
fn overhead(runs: &Runs, called: &[&str], first: bool) -> Result<ByJdk> {
    let mut all = ByJdk::new();
    for source in runs.with_head("raw.csv", RUN) {
        // JDK, workload, configuration and pair: iterations.
        let mut jvms: BTreeMap<[String; 4], Vec<(i64, f64)>> = BTreeMap::new();
        for row in source.rows()? {
            let config = &row["config"];
            if config != "base" && !called.contains(&config.as_str()) {
                continue;
            }
            let config = if config == "base" { "base" } else { "with" };
            let key = [&row["jdk"], &row["workload"], config, &row["pair"]].map(str::to_owned);
            if let (Ok(number), Ok(nanos)) = (row["iteration"].parse(), row["nanos"].parse()) {
                jvms.entry(key).or_default().push((number, nanos));
            }
        }
        let time = |iterations: &[(i64, f64)]| {
            if first {
                iterations
                    .iter()
                    .min_by_key(|(number, _)| *number)
                    .map(|(_, nanos)| *nanos)
            } else {
                let warm: Vec<f64> = iterations
                    .iter()
                    .filter(|(number, _)| *number >= 0)
                    .map(|(_, nanos)| *nanos)
                    .collect();
                Some(median(&warm)).filter(|time| time.is_finite())
            }
        };
        let mut pairs: BTreeMap<(u32, String), Vec<f64>> = BTreeMap::new();
        for ([jdk, workload, config, pair], iterations) in &jvms {
            if config != "with" {
                continue;
            }
            let base = [jdk.clone(), workload.clone(), "base".to_owned(), pair.clone()];
            let base = jvms.get(&base).and_then(|iterations| time(iterations));
            if let (Some(base), Some(with)) = (base, time(iterations)) {
                pairs
                    .entry((feature(jdk), workload.clone()))
                    .or_default()
                    .push(with / base);
            }
        }
        for ((jdk, workload), ratios) in pairs {
            // Newer runs came before.
            let by = all.entry(jdk).or_default();
            by.entry(workload)
                .or_insert_with(|| (median(&ratios), source.run.clone()));
        }
    }
    Ok(all)
}

/// A column of accuracy under a schedule: the median of the trials.
fn accuracy(runs: &Runs, schedule: &str, column: &str) -> Result<ByJdk> {
    let mut all = ByJdk::new();
    for source in runs.with_head("raw.csv", ACCURACY) {
        let mut trials: BTreeMap<(u32, String), Vec<f64>> = BTreeMap::new();
        for row in source.rows()? {
            if let (true, Ok(value)) = (row["schedule"] == schedule, row[column].parse()) {
                trials
                    .entry((feature(&row["jdk"]), row["workload"].clone()))
                    .or_default()
                    .push(value);
            }
        }
        for ((jdk, workload), values) in trials {
            let by = all.entry(jdk).or_default();
            by.entry(workload)
                .or_insert_with(|| (median(&values), source.run.clone()));
        }
    }
    Ok(all)
}

/// Applications and kernels apart, by JDK: a geometric mean of ratios, or a mean of shares.
fn put(found: &mut Found, key: &str, all: &ByJdk, ratios: bool) {
    for (kind, kernels) in [("apps", false), ("kernels", true)] {
        let mut texts = Vec::new();
        let mut from = BTreeSet::new();
        for (jdk, by) in all {
            let of: Vec<(&String, &(f64, String))> =
                by.iter().filter(|(name, _)| is_kernel(name) == kernels).collect();
            let values: Vec<f64> = of.iter().map(|(_, (value, _))| *value).collect();
            from.extend(of.iter().map(|(_, (_, run))| run.clone()));
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let text = match (ratios, geometric_mean(&values)) {
                (_, None) => continue,
                (true, Some(mean)) => format!("{mean:.2} ({least:.2} to {greatest:.2})"),
                (false, _) => format!(
                    "{:.1} % ({:.1} to {:.1})",
                    mean(&values) * 100.0,
                    least * 100.0,
                    greatest * 100.0
                ),
            };
            texts.push(format!("JDK {jdk}, {} programs: {text}", values.len()));
        }
        if !texts.is_empty() {
            found.put(format!("{key}.{kind}"), texts.join("; "), &from);
        }
    }
}

fn plot_overhead(found: &mut Found, bars: &[(String, ByJdk)]) {
    let mut places: Vec<String> = Vec::new();
    for (_, by_jdk) in bars {
        for (jdk, by) in by_jdk {
            for name in by.keys().filter(|name| !is_kernel(name)) {
                let place = format!("{name}, {jdk}");
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
    }
    places.sort();
    let series: Vec<Series> = bars
        .iter()
        .map(|(name, by_jdk)| {
            let value = |place: &String| {
                let (app, jdk) = place.split_once(", ")?;
                Some(by_jdk.get(&jdk.parse().ok()?)?.get(app)?.0)
            };
            let name = if name == "sag" {
                "PEP(64,17)"
            } else {
                "exact counts"
            };
            (name.to_owned(), places.iter().map(value).collect())
        })
        .collect();
    let marks = [
        ("paper, exact".to_owned(), 1.92),
        ("paper, (64,17)".to_owned(), 1.012),
    ];
    let plot = Plot {
        title: "PEP figure 6 and section 5.1: time of a warm run",
        axis: "relative to no agent; application and JDK",
        places: &places,
        series: &series,
        marks: &marks,
        log: false,
    };
    if !places.is_empty() {
        let caption = "Figure 6 and section 5.1: warm runs of applications; dashed: the paper's means.";
        found.plot("pep-overhead", caption, plot.bars());
    }
}

fn plot_accuracy(found: &mut Found, values: &BTreeMap<&str, Vec<Option<f64>>>) {
    let kept: Vec<usize> = (0..SCHEDULES.len())
        .filter(|at| values.values().any(|values| values[*at].is_some()))
        .collect();
    let places: Vec<String> = kept.iter().map(|at| SCHEDULES[*at].to_owned()).collect();
    let names = [
        ("path", "paths"),
        ("relative", "edges, relative"),
        ("absolute", "edges, absolute"),
    ];
    let series: Vec<Series> = names
        .iter()
        .filter_map(|(key, name)| {
            let values = values.get(key)?;
            Some(((*name).to_owned(), kept.iter().map(|at| values[*at]).collect()))
        })
        .collect();
    let marks = [
        ("96: (64,17), relative".to_owned(), 96.0),
        ("94: (64,17), paths".to_owned(), 94.0),
        ("83: absolute".to_owned(), 83.0),
        ("53: timer, paths".to_owned(), 53.0),
    ];
    let plot = Plot {
        title: "PEP figures 8 and 9: accuracy by schedule",
        axis: "%, mean of applications, JDK 17",
        places: &places,
        series: &series,
        marks: &marks,
        log: false,
    };
    if !places.is_empty() {
        let caption = "Figures 8 and 9, applications, JDK 17; dashed: the paper's values.";
        found.plot("pep-accuracy", caption, plot.bars());
    }
}
