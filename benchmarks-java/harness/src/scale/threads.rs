//! The same work in 1 to 64 threads: in JVMs on the processors there are, and simulated on more.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use cpu_time::ThreadTime;
use trodden_analyses::stream::{Pipeline, TraceRecorder};
use trodden_profile::RunInfo;
use trodden_profile::events::{EventKinds, ThreadInfo};
use trodden_profile::trace::{PackedChunk, TraceWriter};

use super::lock::efficiency;
use super::{named_options, stem};
use crate::compile::compile;
use crate::error::{Error, Result, io};
use crate::jvm::Config;
use crate::record::Record;
use crate::stats::Spread;
use crate::tables::Window;
use crate::workload::Workload;
use crate::workspace::Workspace;
use crate::{Plan, progress};

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Arguments {
    /// The kernel that the threads run
    #[arg(long, default_value = "lexergen")]
    kernel: String,
    /// Runs of the kernel in an iteration, whatever the number of threads
    #[arg(long, default_value_t = 64)]
    runs: u32,
    /// Numbers of threads
    #[arg(long = "thread", value_delimiter = ',', default_value = "1,2,4,8,16,32,64")]
    threads: Vec<u32>,
    /// Configurations, as NAME:AGENT-OPTIONS; may be repeated
    #[arg(long = "config", default_values = CONFIGS)]
    configs: Vec<String>,
    /// Rounds
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Recorded traces (paths and call sites) for the simulation; none: it is left out
    traces: Vec<PathBuf>,
}

const CONFIGS: [&str; 5] = [
    "counters:probe=counters",
    "yieldpoint:probe=yieldpoint",
    "kpaths:profile=kpaths",
    "contexts:profile=contexts,burst=off",
    "subpaths:profile=subpaths",
];
/// What the simulation is of.
const ANALYSES: [&str; 4] = [
    "paths:profile=paths",
    "kpaths:profile=kpaths",
    "contexts:profile=contexts",
    "subpaths:profile=subpaths",
];
const PROCESSORS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Words in a thread's buffer.
const BATCH: usize = 4096;
/// Words of a trace that are looked at.
const WORDS: usize = 8 << 20;
/// Turns that are simulated.
const TURNS: u32 = 400_000;

/// Measures, and returns the summary.
///
/// # Errors
/// If a program fails, prints another result than without the agent, or a trace cannot be read.
pub fn run(plan: &Plan, workspace: &Workspace, arguments: &Arguments, record: &Record) -> Result<String> {
    let mut text = String::new();
    real(plan, workspace, arguments, record, &mut text)?;
    if !arguments.traces.is_empty() {
        simulated(&arguments.traces, record, &mut text)?;
    }
    Ok(text)
}

fn real(
    plan: &Plan,
    workspace: &Workspace,
    arguments: &Arguments,
    record: &Record,
    text: &mut String,
) -> Result<()> {
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let classes = folder.path().join("classes");
    let kernels = workspace.build().join("kernels");
    let source = workspace.root().join("scaling/ThreadScaling.java");
    compile(&plan.jdks[0], &[source], std::slice::from_ref(&kernels), &classes)?;
    let class_path =
        std::env::join_paths([&classes, &kernels]).map_err(|e| Error::Usage(format!("class path: {e}")))?;
    let mut configs = vec![Config::parse("base")?];
    for text in &arguments.configs {
        configs.push(Config::parse(text)?);
    }
    let mut raw = record.raw("jdk,kernel,threads,config,round,iteration,nanos,cpu_nanos,checksum")?;
    for jdk in &plan.jdks {
        // Threads and configuration: processor time of each round, of that without the agent.
        let mut ratios: BTreeMap<(u32, usize), Vec<f64>> = BTreeMap::new();
        for round in 0..arguments.rounds {
            for &threads in &arguments.threads {
                let workload = Workload {
                    name: arguments.kernel.clone(),
                    arguments: vec![
                        "-cp".into(),
                        class_path.clone(),
                        "trodden.kernels.ThreadScaling".into(),
                        (&arguments.kernel).into(),
                        threads.to_string().into(),
                        arguments.runs.to_string().into(),
                    ],
                    include: None,
                };
                let mut base = None;
                for (c, config) in configs.iter().enumerate() {
                    progress(&format!("{} threads, {}", threads, config.name));
                    let profile = folder.path().join("profile.trodden");
                    let launch = plan.launch(jdk, config, Some("trodden.kernels.*"), &profile)?;
                    let ran = launch.run_workload(&workload, plan.warmup, plan.iterations)?;
                    let mut cpu = 0.0;
                    for i in &ran.iterations {
                        raw.line(&format!(
                            "{},{},{threads},{},{round},{},{},{},{}",
                            jdk.version,
                            workload.name,
                            config.name,
                            i.number,
                            i.nanos,
                            i.cpu_nanos,
                            i.checksum
                        ))?;
                        if i.number >= 0 {
                            cpu += i.cpu_nanos as f64;
                        }
                    }
                    let checksum = ran.iterations.last().map(|i| i.checksum.clone());
                    let (of_base, expected) = base.get_or_insert((cpu, checksum.clone()));
                    if *expected != checksum {
                        return Err(Error::Program {
                            program: workload.name,
                            problem: format!("result under '{}' differs", config.name),
                        });
                    }
                    ratios.entry((threads, c)).or_default().push(cpu / *of_base);
                }
            }
        }
        let _ = write!(
            text,
            "{} runs of `{}`, taken by so many threads of one JVM (JDK {}) on {} processors. Processor time of the process in the iteration after one to warm up, divided by that \
             without the agent with the same number of threads; median (least-greatest) of {} rounds. A column that does not grow shows that threads do not disturb each other.\n\n\
             | threads | {} |\n| ---: |{}\n",
            arguments.runs,
            arguments.kernel,
            jdk.version,
            std::thread::available_parallelism().map_or(0, usize::from),
            arguments.rounds,
            configs[1..]
                .iter()
                .map(|c| format!("`{}`", c.name))
                .collect::<Vec<_>>()
                .join(" | "),
            " --- |".repeat(configs.len() - 1)
        );
        for threads in &arguments.threads {
            let cells: Vec<String> = (1..configs.len())
                .map(|c| ratios.get(&(*threads, c)).and_then(|values| Spread::of(values)))
                .map(|spread| spread.map_or_else(String::new, |s| s.show(2)))
                .collect();
            let _ = writeln!(text, "| {threads} | {} |", cells.join(" | "));
        }
    }
    Ok(())
}

/// What a batch of words takes.
struct Batch {
    name: String,
    /// Nanoseconds that a thread works on it alone, and holds what all share.
    own: f64,
    held: f64,
}

fn simulated(traces: &[PathBuf], record: &Record, text: &mut String) -> Result<()> {
    let mut raw = record.csv(
        "simulated.csv",
        "trace,analysis,own_ns,held_ns,processors,efficiency",
    )?;
    let _ = write!(
        text,
        "\n**More processors than there are**, simulated: each thread consumes batches of {BATCH} words (*own*: measured on one thread, per batch) and then holds what all threads share \
         (*held*: for an analysis, the count of all words, taken as a cache line that two threads fight for; for a recording, the lock of the file while a packed chunk is appended). \
         Share of so many processors that is left for work. Shared caches and memory are not in it.\n\n\
         | trace | | own, ns | held, ns | {} |\n| --- | --- | ---: | ---: |{}\n",
        PROCESSORS.map(|n| n.to_string()).join(" | "),
        " ---: |".repeat(PROCESSORS.len())
    );
    let fight = counter_under_contention();
    for trace in traces {
        let window =
            Window::read(&trace.to_string_lossy(), WORDS).map_err(|e| Error::Table(e.to_string()))?;
        let mut batches = Vec::new();
        for analysis in ANALYSES {
            batches.push(of_analysis(analysis, &window.words, fight)?);
        }
        batches.push(of_recording(&window.words)?);
        for Batch { name, own, held } in batches {
            let shares = PROCESSORS.map(|n| efficiency(n, own, held, TURNS));
            for (n, share) in PROCESSORS.iter().zip(shares) {
                raw.line(&format!(
                    "{},{name},{own:.0},{held:.1},{n},{share:.4}",
                    stem(trace)
                ))?;
            }
            let _ = writeln!(
                text,
                "| {} | `{name}` | {own:.0} | {held:.1} | {} |",
                stem(trace),
                shares.map(|share| format!("{share:.2}")).join(" | ")
            );
        }
    }
    Ok(())
}

fn of_analysis(analysis: &str, words: &[u64], held: f64) -> Result<Batch> {
    let (name, _, options) = named_options(analysis)?;
    let pipeline = Pipeline::of(&options).map_err(|e| Error::Table(e.to_string()))?;
    let thread = pipeline.open(ThreadInfo::default());
    let start = ThreadTime::now();
    words.chunks(BATCH).for_each(|batch| thread.consume(batch));
    let own = start.elapsed().as_nanos() as f64 / words.len().div_ceil(BATCH) as f64;
    Ok(Batch { name, own, held })
}

/// A recording: packing is a thread's own affair, appending is not.
fn of_recording(words: &[u64]) -> Result<Batch> {
    let file = tempfile::tempfile().map_err(io("create a file in", std::env::temp_dir()))?;
    let failed = |e: &dyn std::fmt::Display| Error::Table(e.to_string());
    let output: BufWriter<File> = BufWriter::with_capacity(1 << 16, file);
    let writer = TraceWriter::new(output, EventKinds::NONE, &RunInfo::default()).map_err(|e| failed(&e))?;
    let recorder = TraceRecorder::new(writer);
    let pipeline = Pipeline::new().with_recorder(std::sync::Arc::new(recorder), EventKinds::NONE);
    let thread = pipeline.open(ThreadInfo::default());
    let batches = words.len().div_ceil(BATCH) as f64;
    let start = ThreadTime::now();
    words.chunks(BATCH).for_each(|batch| thread.consume(batch));
    let all = start.elapsed().as_nanos() as f64 / batches;
    let mut chunk = PackedChunk::default();
    let start = ThreadTime::now();
    for batch in words.chunks(BATCH) {
        chunk.pack(0, batch);
    }
    let own = start.elapsed().as_nanos() as f64 / batches;
    Ok(Batch {
        name: "recording".to_owned(),
        own,
        held: (all - own).max(0.0),
    })
}

/// Nanoseconds of an addition to a counter that two threads fight for.
fn counter_under_contention() -> f64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    const TIMES: u64 = 4_000_000;
    let counter = AtomicU64::new(0);
    let add = || {
        let start = ThreadTime::now();
        (0..TIMES).for_each(|_| {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        start.elapsed().as_nanos() as f64 / TIMES as f64
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(add);
        let mine = add();
        other.join().map_or(mine, |other| mine.max(other))
    })
}
