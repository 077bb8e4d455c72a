//! Sampled profiles against exact ones of the same work: the figures 8 and 9 of PEP.

use std::fmt::Write as _;

use trodden_profile::facts;
use trodden_profile::{Accuracy, AccuracyOptions, Profile, compare};

use crate::error::{Result, io, load_profile};
use crate::jvm::Config;
use crate::record::Record;
use crate::stats::Spread;
use crate::workload::Workload;
use crate::workspace::Jdk;
use crate::{Plan, progress};

/// Takes an exact profile and `trials` sampled ones per schedule of every workload, writes `raw.csv` and
/// `summary.md`, and returns the summary.
///
/// # Errors
/// If a program fails, or a profile cannot be read.
pub fn run(
    plan: &Plan,
    workloads: &[Workload],
    schedules: &[String],
    options: Option<&str>,
    trials: u32,
    record: &Record,
) -> Result<String> {
    let exact = Config::parse("counters")?;
    let more = options.map_or(String::new(), |options| format!(",{options}"));
    let mut configs = vec![Config {
        name: "exact again".into(),
        options: exact.options.clone(),
        ..Config::default()
    }];
    configs.extend(schedules.iter().map(|schedule| Config {
        name: schedule.clone(),
        options: Some(match schedule.as_str() {
            // No schedule, but it stands in the same place.
            "auto" => format!("probe=auto{more}"),
            schedule => format!("probe=yieldpoint,schedule={schedule}{more}"),
        }),
        ..Config::default()
    }));
    let mut raw = record.raw(
        "jdk,workload,schedule,trial,path_accuracy,edge_relative_overlap,edge_absolute_overlap,hot_paths,unobserved_share,samples",
    )?;
    let mut text = format!(
        "Accuracy of sampled profiles (probe `yieldpoint`) against an exact one (probe `counters`) of another run of the \
         same work: {} iterations in one JVM, the first ones included. Median of {trials} trials (least-greatest).\n\
         *path*: Wall weight matching of hot paths (PEP section 6.3, figure 8). *edge, relative* and *absolute*: overlaps \
         of edge profiles (PEP section 6.4, figure 9). *unobserved*: share of the exact flow on paths that the sampled \
         probes do not report, left out of the comparison. `exact again` is a second exact run: what even a perfect \
         profile of another run reaches.\n",
        plan.warmup + plan.iterations
    );
    for jdk in &plan.jdks {
        let _ = write!(
            text,
            "\n## JDK {}\n| workload | hot paths | schedule | samples | path, % | edge relative, % | edge absolute, % | unobserved, % |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- |\n",
            jdk.version
        );
        let mut means: Vec<[Vec<f64>; 3]> = vec![Default::default(); configs.len()];
        for workload in workloads {
            progress(&format!("{} {} exact", jdk.version, workload.name));
            let perfect = profile(plan, jdk, workload, &exact)?;
            for (config, means) in configs.iter().zip(&mut means) {
                let mut results = Vec::new();
                for trial in 0..trials {
                    progress(&format!(
                        "{} {} {} {}/{trials}",
                        jdk.version,
                        workload.name,
                        config.name,
                        trial + 1
                    ));
                    let sampled = profile(plan, jdk, workload, config)?;
                    let accuracy = compare(&perfect, &sampled, &AccuracyOptions::default());
                    // Counts are weighted with some schedules: the samples themselves are a fact of the run.
                    let taken = sampled.run.facts.get(facts::SAMPLES);
                    let counted = || {
                        sampled
                            .classes
                            .iter()
                            .flat_map(|c| &c.counts)
                            .map(|c| c.total())
                            .sum()
                    };
                    let samples: u64 = taken.unwrap_or_else(counted);
                    raw.line(&raw_line(jdk, workload, config, trial, &accuracy, samples))?;
                    results.push((accuracy, samples));
                }
                let row = Row::of(&results);
                for (mean, figure) in means.iter_mut().zip(&row.figures) {
                    mean.extend(figure.map(|f| f.median));
                }
                let _ = writeln!(
                    text,
                    "| {} | {} | {} | {} |",
                    workload.name,
                    row.hot_paths,
                    config.name,
                    row.show()
                );
            }
        }
        for (config, figures) in configs.iter().zip(means) {
            let [path, relative, absolute] = figures.map(|f| match f.len() {
                0 => "-".to_owned(),
                n => format!("{:.1}", f.iter().sum::<f64>() / n as f64),
            });
            let _ = writeln!(
                text,
                "| **mean** | | {} | | {path} | {relative} | {absolute} | |",
                config.name
            );
        }
    }
    record.write("summary.md", &text)?;
    Ok(text)
}

/// One line of the table: the trials of one workload under one schedule.
struct Row {
    hot_paths: usize,
    samples: f64,
    /// Path accuracy, relative and absolute overlap, in per cent.
    figures: [Option<Spread>; 3],
    unobserved: f64,
}

impl Row {
    fn of(results: &[(Accuracy, u64)]) -> Row {
        let spread = |figure: fn(&Accuracy) -> Option<f64>| {
            let values: Vec<f64> = results
                .iter()
                .filter_map(|(a, _)| figure(a))
                .map(|v| v * 100.0)
                .collect();
            Spread::of(&values)
        };
        let median = |figure: fn(&(Accuracy, u64)) -> f64| {
            let values: Vec<f64> = results.iter().map(figure).collect();
            Spread::of(&values).map_or(0.0, |s| s.median)
        };
        Row {
            hot_paths: results.first().map_or(0, |(a, _)| a.hot_paths),
            samples: median(|(_, samples)| *samples as f64),
            figures: [
                spread(|a| a.path_accuracy),
                spread(|a| a.edge_relative_overlap),
                spread(|a| a.edge_absolute_overlap),
            ],
            unobserved: median(|(a, _)| a.unobserved_share * 100.0),
        }
    }

    fn show(&self) -> String {
        let [path, relative, absolute] = self.figures.map(|f| f.map_or("-".into(), |f| f.show(1)));
        format!(
            "{:.0} | {path} | {relative} | {absolute} | {:.1}",
            self.samples, self.unobserved
        )
    }
}

fn raw_line(
    jdk: &Jdk,
    workload: &Workload,
    config: &Config,
    trial: u32,
    a: &Accuracy,
    samples: u64,
) -> String {
    let show = |figure: Option<f64>| figure.map_or(String::new(), |f| format!("{f:.6}"));
    format!(
        "{},{},{},{trial},{},{},{},{},{:.6},{samples}",
        jdk.version,
        workload.name,
        config.name,
        show(a.path_accuracy),
        show(a.edge_relative_overlap),
        show(a.edge_absolute_overlap),
        a.hot_paths,
        a.unobserved_share
    )
}

fn profile(plan: &Plan, jdk: &Jdk, workload: &Workload, config: &Config) -> Result<Profile> {
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let file = folder.path().join("profile.trodden");
    let launch = plan.launch(jdk, config, workload.include, &file)?;
    launch.run_workload(workload, plan.warmup, plan.iterations)?;
    load_profile(&file, &workload.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_takes_medians_in_per_cent() {
        let accuracy = |path| Accuracy {
            path_accuracy: Some(path),
            unobserved_share: 0.25,
            hot_paths: 7,
            ..Accuracy::default()
        };
        let row = Row::of(&[(accuracy(0.9), 10), (accuracy(0.95), 30), (accuracy(0.99), 20)]);
        assert_eq!(row.hot_paths, 7);
        assert_eq!(row.show(), "20 | 95.0 (90.0-99.0) | - | - | 25.0");
    }
}
