//! Shares of time by path against a program's own CPU clock: shapes of code in `ways/`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::jdk::Jdk;
use crate::{Result, artefacts, build, process};

const LIMIT: Duration = Duration::from_secs(300);
/// Error of the program's own clock, in shares of a method's time: its readings are in either way.
pub const CLOCK: f64 = 0.005;

/// Shapes of code; the last one needs virtual threads.
pub const SHAPES: [&str; 8] = [
    "calls",
    "loops",
    "nested",
    "recursion",
    "exceptions",
    "plain",
    "loud",
    "virtual",
];

/// What one run says about one decision.
#[derive(Clone, Debug)]
pub struct Way {
    /// The decision.
    pub name: String,
    /// The share of its method's time that the outcome has, by the program.
    pub truth: f64,
    /// By the report.
    pub share: f64,
    /// The report's interval of 95 %.
    pub interval: [f64; 2],
    /// Samples of the method.
    pub samples: u64,
    /// Those of them whose path is known.
    pub answered: u64,
}

impl Way {
    /// True if the interval holds the truth.
    pub fn holds(&self) -> bool {
        let [low, high] = self.interval;
        (low - CLOCK..=high + CLOCK).contains(&self.truth)
    }

    /// Half of the interval's width, as it would be with so many samples.
    pub fn half_width(&self, samples: f64) -> f64 {
        (self.interval[1] - self.interval[0]) / 2.0 * (self.samples as f64 / samples).sqrt()
    }
}

/// Names and outcomes of the decisions, by line.
fn marks() -> Result<Vec<(u64, String, String)>> {
    let text = std::fs::read_to_string(Path::new(build::ROOT).join("ways/Ways.java"))?;
    let mark = |(line, text): (u64, &str)| {
        let (name, outcome) = text.split_once("// way: ")?.1.split_once(' ')?;
        Some((line, name.to_owned(), outcome.to_owned()))
    };
    Ok((1..).zip(text.lines()).filter_map(mark).collect())
}

/// Runs a shape as a user does, with a sample each millisecond, for so many seconds of CPU time.
///
/// # Errors
/// If it cannot be run, or its report lacks a decision.
pub fn run(jdk: &Jdk, shape: &str, seconds: f64) -> Result<Vec<Way>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("report.json");
    let mut run = Command::new(&artefacts::artefacts()?.cli);
    run.args(["run", "--quiet", "--sample", "1ms", "-o"])
        .arg(&file)
        .arg("--")
        .arg(jdk.command("java").get_program())
        .arg("-Djdk.virtualThreadScheduler.parallelism=1")
        .arg("-cp")
        .arg(build::classes(jdk, "ways", &build::sources("ways", "java")?)?)
        .args(["Ways", shape, &seconds.to_string()]);
    let outcome = process::run(&mut run, LIMIT)?.success()?;
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    let mut ways = Vec::new();
    for line in outcome.stdout.lines() {
        let Some((name, truth)) = line.split_once(' ').filter(|(name, _)| *name != "sum") else {
            continue;
        };
        let way = way(&report, name, truth.parse()?)?;
        ways.push(way.ok_or_else(|| format!("no time of '{name}' in the report"))?);
    }
    Ok(ways)
}

fn way(report: &Value, name: &str, truth: f64) -> Result<Option<Way>> {
    let marks = marks()?;
    let (line, _, outcome) = (marks.iter().find(|mark| mark.1 == name)).ok_or("no such decision")?;
    for method in report["methods"].as_array().into_iter().flatten() {
        for branch in method["branches"].as_array().into_iter().flatten() {
            let times = branch["outcome_time"].as_array().into_iter().flatten();
            let time = times.filter(|_| branch["line"] == *line);
            if let Some(time) = time.into_iter().find(|time| time["outcome"] == outcome.as_str()) {
                return Ok(Some(Way {
                    name: name.to_owned(),
                    truth,
                    share: time["share"].as_f64().ok_or("no share")?,
                    interval: serde_json::from_value(time["interval"].clone())?,
                    samples: method["time"]["total"]["samples"].as_u64().ok_or("no samples")?,
                    answered: method["time"]["answered"].as_u64().ok_or("no answers")?,
                }));
            }
        }
    }
    Ok(None)
}
