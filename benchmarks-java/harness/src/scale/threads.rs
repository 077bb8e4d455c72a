//! The same work in 1 to 64 threads.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::compile::compile;
use crate::error::{Error, Result, io};
use crate::jvm::Config;
use crate::record::Record;
use crate::stats::Spread;
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
}

const CONFIGS: [&str; 5] = [
    "counters:probe=counters",
    "yieldpoint:probe=yieldpoint",
    "kpaths:profile=kpaths,burst=off",
    "contexts:profile=contexts,burst=off",
    "subpaths:profile=subpaths",
];
/// Measures, and returns the summary.
///
/// # Errors
/// If a program fails, or prints another result than without the agent.
pub fn run(plan: &Plan, workspace: &Workspace, arguments: &Arguments, record: &Record) -> Result<String> {
    let mut text = String::new();
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
    Ok(text)
}
