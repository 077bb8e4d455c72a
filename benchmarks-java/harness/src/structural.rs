//! `profile=structural`: interleaved runs of the same work without an agent, with probes that stay, with
//! probes that are taken out, with every structural path counted, and with exact Ball-Larus counts.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::error::{Error, Result, io};
use crate::jvm::Config;
use crate::long::{self, Program, Run};
use crate::record::Record;
use crate::stats::Spread;
use crate::workload::Workload;
use crate::{Plan, progress};

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Arguments {
    /// Programs, as NAME:ITERATIONS
    #[arg(long, value_delimiter = ',', required = true)]
    pub work: Vec<String>,
    /// Rounds of each program
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// As many runs at a time as processors are named, each on one of its own, in turn
    #[arg(long, value_delimiter = ',')]
    pub processors: Vec<u32>,
    /// The trodden command (default: target/release/trodden)
    #[arg(long)]
    pub trodden: Option<PathBuf>,
}

const CONFIGS: [(&str, Option<&str>); 5] = [
    ("base", None),
    ("active", Some("profile=structural,window=100:keep")),
    ("structural", Some("profile=structural")),
    ("complete", Some("profile=structural,window=all")),
    ("counters", Some("probe=counters")),
];
/// Those whose second half is shown too.
const LATE: [&str; 2] = ["active", "structural"];

/// Measures, and returns the summary.
///
/// # Errors
/// If a program fails, or its results differ between configurations.
pub fn run(
    plan: &Plan,
    work: &[(Workload, u32)],
    arguments: &Arguments,
    trodden: &Path,
    record: &Record,
) -> Result<String> {
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let mut raw = record.raw("jdk,name,config,round,iteration,nanos,cpu_nanos,checksum")?;
    let mut rows = vec![head()];
    let mut text = String::new();
    for (program, iterations) in long::programs(plan, work, folder.path()) {
        let (jdk, workload) = (program.jdk, program.workload);
        let mut rounds: Vec<Vec<Run>> = Vec::new();
        for round in 0..arguments.rounds {
            progress(&format!("{} {} {}", jdk.version, workload.name, round + 1));
            let runs = measure(&program, iterations, &arguments.processors, round)?;
            for ((config, _), run) in CONFIGS.iter().zip(&runs) {
                for i in &run.iterations {
                    raw.line(&format!(
                        "{},{},{config},{round},{},{},{},{}",
                        jdk.version, workload.name, i.number, i.nanos, i.cpu_nanos, i.checksum
                    ))?;
                }
            }
            let checksums =
                |run: &Run| -> Vec<String> { run.iterations.iter().map(|i| i.checksum.clone()).collect() };
            if runs.iter().any(|run| checksums(run) != checksums(&runs[0])) {
                return Err(Error::Program {
                    program: workload.name.clone(),
                    problem: "results differ".to_owned(),
                });
            }
            rounds.push(runs);
        }
        rows.push(row(program, &rounds, trodden)?);
        text = summary(arguments, &rows);
        record.write("summary.md", &text)?;
    }
    Ok(text)
}

fn head() -> Vec<String> {
    let mut head = vec!["JDK".to_owned(), "program".to_owned(), "base, s CPU".to_owned()];
    for (config, _) in &CONFIGS[1..] {
        head.push(format!("{config} / base"));
        if LATE.contains(config) {
            head.push("second half".to_owned());
        }
    }
    let rest = [
        "methods retired",
        "calls",
        "longest, ms",
        "whole paths, %",
        "edge relative, %",
        "edge absolute, %",
        "structural paths, %",
        "within graphs, %",
    ];
    head.extend(rest.map(str::to_owned));
    head
}

fn row(program: Program, rounds: &[Vec<Run>], trodden: &Path) -> Result<Vec<String>> {
    let median = |values: Vec<f64>| Spread::of(&values).map_or(f64::NAN, |spread| spread.median);
    let base = median(rounds.iter().map(|runs| runs[0].cpu()[0]).collect()) / 1e9;
    let mut row = vec![
        program.jdk.version.clone(),
        program.workload.name.clone(),
        format!("{base:.1}"),
    ];
    for (c, (config, _)) in CONFIGS.iter().enumerate().skip(1) {
        let ratio = |half: usize| {
            median(
                rounds
                    .iter()
                    .map(|r| r[c].cpu()[half] / r[0].cpu()[half])
                    .collect(),
            )
        };
        row.push(format!("{:.3}", ratio(0)));
        if LATE.contains(config) {
            row.push(format!("{:.3}", ratio(1)));
        }
    }
    if let Some([_, _, structural, complete, counters]) = rounds.last().map(Vec::as_slice) {
        let facts = long::json(trodden, "report", &[&structural.profile])?["run"]["facts"].take();
        let whole = long::json(trodden, "compare", &[&counters.profile, &structural.profile])?;
        let own =
            long::json(trodden, "compare", &[&complete.profile, &structural.profile])?["structural"].take();
        let shown = [
            "methods_estimated",
            "retransformations",
            "longest_retransformation_ms",
        ];
        row.extend(shown.iter().map(|fact| long::cell(&facts[*fact])));
        let shown = ["path_accuracy", "edge_relative_overlap", "edge_absolute_overlap"];
        row.extend(shown.iter().map(|name| long::percent(&whole[*name])));
        let shown = ["path_accuracy", "local_overlap"];
        row.extend(shown.iter().map(|name| long::percent(&own[*name])));
    }
    Ok(row)
}

fn summary(arguments: &Arguments, rows: &[Vec<String>]) -> String {
    let several = match arguments.processors.len() {
        0 | 1 => String::new(),
        count => format!(" of runs {count} at a time, each on its own processor"),
    };
    let options = |name: &str| {
        CONFIGS
            .iter()
            .find(|c| c.0 == name)
            .and_then(|c| c.1)
            .unwrap_or_default()
    };
    format!(
        "Processor time of the whole process, compiler threads included, over all iterations of a JVM from the first one \
         on; medians of {} interleaved rounds{several}. *active*: `{}`; *structural*: `{}`; *complete*: `{}`. Accuracy of \
         *structural*: whole paths and edges against *counters*, structural paths against *complete*.\n\n{}",
        arguments.rounds,
        options("active"),
        options("structural"),
        options("complete"),
        long::table(rows)
    )
}

/// Runs in the order of [`CONFIGS`], as many at a time as there are processors.
fn measure(program: &Program, iterations: u32, processors: &[u32], round: u32) -> Result<Vec<Run>> {
    let mut free: VecDeque<Option<u32>> = processors.iter().copied().map(Some).collect();
    if free.is_empty() {
        free.push_back(None);
    }
    let turn = round as usize % free.len();
    free.rotate_left(turn);
    let (free, freed) = (Mutex::new(free), Condvar::new());
    let one = |(name, options): (&str, Option<&str>)| {
        let processor = {
            let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                match free.pop_front() {
                    Some(processor) => break processor,
                    None => free = freed.wait(free).unwrap_or_else(PoisonError::into_inner),
                }
            }
        };
        let config = Config {
            name: name.to_owned(),
            options: options.map(str::to_owned),
            ..Config::default()
        };
        let run = program.run(&config, iterations, &[], processor);
        // Others wait for it, however this ended.
        free.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(processor);
        freed.notify_one();
        run
    };
    std::thread::scope(|scope| {
        let one = &one;
        let begun: Vec<_> = CONFIGS
            .map(|config| scope.spawn(move || one(config)))
            .into_iter()
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<Result<Run>>| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        begun.into_iter().map(join).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_has_a_column_for_each_figure() {
        let head = head();
        assert_eq!(head.len(), 3 + 4 + LATE.len() + 8);
        assert_eq!(head[3..6], ["active / base", "second half", "structural / base"]);
    }
}
