//! `probe=auto` over long runs: interleaved runs without an agent, with `probe=auto` and with
//! `probe=counters`.
//!
//! Every iteration does the same work, so the exact profile of one run is the yardstick for the other. Writes
//! a line per iteration, the facts of each profile, a summary, and a plot per application and JDK.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result, io};
use crate::jvm::Config;
use crate::long::{self, Program, Run};
use crate::record::Record;
use crate::workload::Workload;
use crate::{Plan, progress};

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Arguments {
    /// Programs, as NAME:ITERATIONS
    #[arg(long, value_delimiter = ',', required = true)]
    pub work: Vec<String>,
    /// Rounds of each program
    #[arg(long, default_value_t = 1)]
    pub rounds: u32,
    /// The runs without an agent and with probe=auto go on at the same time, each on a processor of its own
    /// (0 and 1), which they exchange from one program to the next: so the rest of the machine disturbs both
    /// alike
    #[arg(long)]
    pub side_by_side: bool,
    /// Exact profiles are of one in this many iterations; the time of probe=counters is then not shown
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub part: u32,
    /// The trodden command (default: target/release/trodden)
    #[arg(long)]
    pub trodden: Option<PathBuf>,
}

const HEAD: [&str; 16] = [
    "JDK",
    "app",
    "base, s elapsed",
    "base, s CPU",
    "auto / base",
    "second half",
    "counters / base",
    "second half",
    "longest safepoint for it, ms",
    "longest call, ms",
    "calls",
    "classes out",
    "classes back",
    "path, %",
    "edge relative, %",
    "edge absolute, %",
];
const CONFIGS: [&str; 3] = ["base", "auto", "counters"];
const FACTS: [&str; 4] = [
    "longest_retransformation_ms",
    "retransformations",
    "classes_retired",
    "classes_rearmed",
];
const ACCURACIES: [&str; 3] = ["path_accuracy", "edge_relative_overlap", "edge_absolute_overlap"];

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
    let mut raw = record.raw("jdk,app,config,round,iteration,nanos,cpu_nanos,checksum")?;
    let mut facts = record.csv("facts.csv", "jdk,app,round,fact,value")?;
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    let mut text = String::new();
    for (program, iterations) in long::programs(plan, work, folder.path()) {
        let (jdk, workload) = (program.jdk, program.workload);
        for round in 0..arguments.rounds {
            progress(&format!("{} {} {}", jdk.version, workload.name, round + 1));
            let first = (rows.len() as u32 - 1 + round) % 2;
            let runs = measure(&program, iterations, arguments, first)?;
            for (config, run) in CONFIGS.iter().zip(&runs) {
                for i in &run.iterations {
                    raw.line(&format!(
                        "{},{},{config},{round},{},{},{},{}",
                        jdk.version, workload.name, i.number, i.nanos, i.cpu_nanos, i.checksum
                    ))?;
                }
            }
            let mut checksums = runs.iter().flat_map(|run| &run.iterations).map(|i| &i.checksum);
            let one = checksums.next();
            if checksums.any(|checksum| Some(checksum) != one) {
                return Err(Error::Program {
                    program: workload.name.clone(),
                    problem: "results differ".to_owned(),
                });
            }
            let [base, auto, counters] = &runs;
            let accuracy = long::json(trodden, "compare", &[&counters.profile, &auto.profile])?;
            let report = long::json(trodden, "report", &[&auto.profile])?["run"]["facts"].take();
            for (name, value) in objects(&accuracy).chain(objects(&report)) {
                if !value.is_object() && !value.is_array() {
                    let value = long::cell(value);
                    facts.line(&format!(
                        "{},{},{round},{name},{value}",
                        jdk.version, workload.name
                    ))?;
                }
            }
            let title = format!(
                "{}, JDK {}: processor time per iteration",
                workload.name, jdk.version
            );
            let major = jdk.version.split('.').next().unwrap_or_default();
            let file = format!("{}-jdk{major}-{round}.svg", workload.name);
            record.write(
                &file,
                &plot(&title, [relative(auto, base), relative(counters, base)]),
            )?;
            let pause = longest_redefinition(&log_of(folder.path(), "auto"))?;
            rows.push(row(
                program,
                &runs,
                arguments.part == 1,
                pause,
                &report,
                &accuracy,
            ));
            text = format!(
                "Processor time of the whole process, compiler threads included, over all iterations of a JVM (from \
                 the first one on), and over the second half of them.\n\n{}",
                long::table(&rows)
            );
            record.write("summary.md", &text)?;
        }
    }
    Ok(text)
}

fn objects(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn row(
    program: Program,
    runs: &[Run; 3],
    whole: bool,
    pause: f64,
    facts: &Value,
    accuracy: &Value,
) -> Vec<String> {
    let [base, auto, counters] = runs;
    let [base_all, base_late] = base.cpu();
    let [auto_all, auto_late] = auto.cpu();
    let [exact_all, exact_late] = counters.cpu();
    let exact = |ratio: f64| {
        if whole {
            format!("{ratio:.3}")
        } else {
            "–".to_owned()
        }
    };
    let mut row = vec![
        program.jdk.version.clone(),
        program.workload.name.clone(),
        format!("{:.0}", base.elapsed.as_secs_f64()),
        format!("{:.0}", base_all / 1e9),
        format!("{:.3}", auto_all / base_all),
        format!("{:.3}", auto_late / base_late),
        exact(exact_all / base_all),
        exact(exact_late / base_late),
        format!("{pause:.0}"),
    ];
    row.extend(FACTS.iter().map(|fact| long::cell(&facts[*fact])));
    row.extend(ACCURACIES.iter().map(|name| long::percent(&accuracy[*name])));
    row
}

/// Runs in the order of [`CONFIGS`]. If side by side, that without an agent on processor `first`.
fn measure(program: &Program, iterations: u32, arguments: &Arguments, first: u32) -> Result<[Run; 3]> {
    let one = |name: &str, iterations, processor: Option<u32>| {
        let log = log_of(program.folder, name);
        let safepoints = format!("-Xlog:safepoint:file={}:uptime:filecount=0", log.display());
        let options = (name != "base").then(|| format!("probe={name}"));
        let config = Config {
            name: name.to_owned(),
            options,
            ..Config::default()
        };
        program.run(&config, iterations, &[safepoints], processor)
    };
    let beside = arguments.side_by_side;
    let (base, auto) = if beside {
        std::thread::scope(|scope| {
            let base = scope.spawn(|| one("base", iterations, Some(first)));
            let auto = one("auto", iterations, Some(1 - first));
            (
                base.join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                auto,
            )
        })
    } else {
        (one("base", iterations, None), one("auto", iterations, None))
    };
    let exact = (iterations / arguments.part).max(1);
    Ok([base?, auto?, one("counters", exact, beside.then_some(1))?])
}

fn log_of(folder: &Path, config: &str) -> PathBuf {
    folder.join(format!("safepoints-{config}.log"))
}

/// Longest safepoint for a retransformation, in milliseconds, by the JVM's own log.
fn longest_redefinition(log: &Path) -> Result<f64> {
    let text = std::fs::read_to_string(log).map_err(io("read", log))?;
    Ok(longest(&text))
}

fn longest(log: &str) -> f64 {
    let redefinitions = log.lines().filter(|line| line.contains("RedefineClasses"));
    let totals = redefinitions.filter_map(|line| {
        let total = line.split("Total:").nth(1)?.split_whitespace().next()?;
        total.parse::<f64>().ok()
    });
    totals.fold(0.0, f64::max) / 1e6
}

/// Processor time of each iteration, relative to the same iteration of another run.
fn relative(run: &Run, base: &Run) -> Vec<f64> {
    let both = run.iterations.iter().zip(&base.iterations);
    both.map(|(a, b)| a.cpu_nanos as f64 / b.cpu_nanos as f64)
        .collect()
}

/// Processor time of each iteration relative to the run without an agent, as an SVG.
fn plot(title: &str, [auto, counters]: [Vec<f64>; 2]) -> String {
    let (width, height, top) = (760.0, 260.0, 2.0);
    let count = auto.len().max(counters.len());
    let x = |i: usize| 50.0 + i as f64 * (width - 70.0) / (count.saturating_sub(1).max(1)) as f64;
    let y = |v: f64| 20.0 + (top - v.min(top)) * (height - 60.0) / top;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<text x=\"50\" y=\"14\">{title}</text>\n"
    );
    for value in [0.5, 1.0, 1.5, 2.0] {
        let (right, at, below) = (width - 20.0, y(value), y(value) + 4.0);
        let _ = writeln!(
            svg,
            "<line x1=\"50\" x2=\"{right}\" y1=\"{at}\" y2=\"{at}\" stroke=\"#ccc\"/>\
             <text x=\"15\" y=\"{below}\">{value:.1}</text>"
        );
    }
    for (points, color) in [(auto, "#06c"), (counters, "#c60")] {
        let points: Vec<String> = points
            .iter()
            .enumerate()
            .map(|(i, v)| format!("{:.1},{:.1}", x(i), y(*v)))
            .collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.5\"/>",
            points.join(" ")
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"50\" y=\"{}\">iterations, first to last; blue: auto, orange: counters; 1.0: without an agent</text></svg>",
        height - 8.0
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_safepoint_of_a_log() {
        let log = "[1.0s] Safepoint \"RedefineClasses\", Time since last: 1 ns, Total:    2500000 ns\n\
                   [2.0s] Safepoint \"VM_RedefineClasses\", Total: 34000000 ns, more\n\
                   [3.0s] Safepoint \"G1CollectForAllocation\", Total: 99000000 ns\n";
        assert_eq!(longest(log), 34.0);
        assert_eq!(longest(""), 0.0);
    }

    #[test]
    fn plots_are_drawn_within_their_frame() {
        let svg = plot("t", [vec![1.0, 5.0], vec![0.0]]);
        assert!(svg.contains("points=\"50.0,120.0 740.0,20.0\""), "{svg}");
        assert!(svg.contains("points=\"50.0,220.0\""), "{svg}");
    }
}
