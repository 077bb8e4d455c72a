//! `trodden-bench`: the benchmark harness.
//!
//! *In*: the Java programs beside it, a built agent, JDKs. *Out*: `runs/<date>-<label>/` with raw data,
//! command, versions and a summary. Absolute times on shared machines mean nothing, so every figure of speed
//! is a ratio of interleaved runs; every figure of accuracy is against an exact profile of the same work (PEP
//! sections 6.3, 6.4).

mod accuracy;
mod agree;
mod artifacts;
mod auto;
mod compile;
mod error;
mod jit;
mod jvm;
mod lines;
mod long;
mod method_data;
mod offline;
mod overhead;
mod record;
mod rewrite;
mod run;
mod skipping;
mod startup;
mod stats;
mod structural;
mod tables;
mod traces;
mod workload;
mod workspace;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use error::{Error, Result};
use jvm::{Config, Launch};
use record::Record;
use workspace::{Jdk, Workspace};

/// Measures Trodden: overhead, accuracy, start-up, rewriting.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// The benchmarks-java folder (default: found from the current folder upwards)
    #[arg(long, global = true)]
    root: Option<PathBuf>,
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Brings applications, inputs and comparison partners (all sets but the corpus) with Maven
    Fetch {
        /// Sets of artifacts.txt (default: all but the corpus)
        sets: Vec<String>,
        /// The corpus for verification as well
        #[arg(long)]
        corpus: bool,
    },
    /// Compiles the kernels, and the drivers of the applications that have been fetched
    Build {
        /// JDK home with the compiler
        #[arg(long)]
        jdk: Option<PathBuf>,
    },
    /// Measures overhead: interleaved runs of configurations
    Run {
        #[command(flatten)]
        common: Common,
        /// Workloads: names, or kernels, apps, all
        #[arg(long, value_delimiter = ',', required = true)]
        workload: Vec<String>,
        /// Configurations: base, yieldpoint, counters, safepoint
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "base,yieldpoint,counters,safepoint"
        )]
        configs: Vec<String>,
        /// A further configuration, as NAME:AGENT-OPTIONS; may be repeated. {former} in it is an exact
        /// profile of one iteration, made beforehand: guided:probe=counters,use-profile={former}
        #[arg(long = "config")]
        extra: Vec<String>,
        /// Pairs of JVM runs
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
        pairs: u32,
    },
    /// The summary of a run of `run` that was cut off
    Summarize {
        /// The run's folder; its summary.md is written
        folder: PathBuf,
    },
    /// Measures accuracy: sampled profiles against exact ones
    Accuracy {
        #[command(flatten)]
        common: Common,
        /// Workloads: names, or kernels, apps, all
        #[arg(long, value_delimiter = ',', required = true)]
        workload: Vec<String>,
        /// Sampling schedules; auto: probe=auto
        #[arg(long, value_delimiter = ',', default_value = "timer,ag:64:17,sag:64:17")]
        schedules: Vec<String>,
        /// Further agent options of the sampled runs, such as single-path-loops=probe
        #[arg(long)]
        options: Option<String>,
        /// Sampled runs per schedule
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
        trials: u32,
    },
    /// Measures what C2 no longer inlines with the agent, and why
    Jit {
        #[command(flatten)]
        common: Common,
        /// Workloads: names, or kernels, apps, all
        #[arg(long, value_delimiter = ',', required_unless_present = "command")]
        workload: Vec<String>,
        /// Configurations: yieldpoint, counters, safepoint
        #[arg(long, value_delimiter = ',', default_value = "counters")]
        configs: Vec<String>,
        /// A further configuration, as NAME:AGENT-OPTIONS; may be repeated
        #[arg(long = "config")]
        extra: Vec<String>,
        /// Any other program: the arguments of the java command
        #[arg(last = true, conflicts_with = "workload")]
        command: Vec<String>,
    },
    /// Holds the branch counts that HotSpot keeps for itself against exact ones
    MethodData {
        #[command(flatten)]
        common: Common,
        /// Workloads: names, or kernels, apps, all
        #[arg(long, value_delimiter = ',', required = true)]
        workload: Vec<String>,
        /// Seconds of processor time after which a JVM's counts are read
        #[arg(long, default_value_t = 10)]
        seconds: u32,
    },
    /// Measures start-up: a one-line program with and without the agent
    Startup {
        #[command(flatten)]
        common: Common,
        /// Configurations: base, yieldpoint, counters, safepoint
        #[arg(long, value_delimiter = ',', default_value = "base,yieldpoint,counters")]
        configs: Vec<String>,
        /// Pairs of JVM runs
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        pairs: u32,
    },
    /// Records the event streams of workloads, for the analyses to be measured on
    Traces {
        /// Workloads: names, or kernels, apps, all
        #[arg(long, value_delimiter = ',', required = true)]
        workload: Vec<String>,
        /// Folder for the traces and the list of them, README.md
        #[arg(long)]
        into: PathBuf,
        /// What they are for: kpaths has paths and activations, contexts every call with its call site
        #[arg(long, default_value = "kpaths", value_parser = ["kpaths", "contexts"])]
        profile: String,
        #[command(flatten)]
        jvm: JvmArgs,
        /// Warm-up iterations, recorded as well
        #[arg(long, default_value_t = 0)]
        warmup: u32,
        /// Iterations
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        iterations: u32,
    },
    /// Measures probe=auto over long runs, against no agent and against exact profiles
    Auto {
        #[command(flatten)]
        jvm: JvmArgs,
        /// Name of the run's folder, after the date
        #[arg(long)]
        label: String,
        #[command(flatten)]
        auto: auto::Arguments,
    },
    /// Measures profile=structural over long runs, against no agent and against exact profiles
    Structural {
        #[command(flatten)]
        jvm: JvmArgs,
        /// Name of the run's folder, after the date
        #[arg(long)]
        label: String,
        #[command(flatten)]
        structural: structural::Arguments,
    },
    /// Measures what skipping costs: the probes of profile=subpaths against prototypes of other ways
    Skipping {
        #[command(flatten)]
        common: Common,
        /// Kernels
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "fft,heapsort,moldyn,raytracer,lexergen"
        )]
        workload: Vec<String>,
        /// Configurations: base, probes, blocks, copies, checks, local, and each but base with -idle
        /// (default: all)
        #[arg(long, value_delimiter = ',')]
        configs: Vec<String>,
        /// Pairs of JVM runs
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
        pairs: u32,
        /// The trodden command (default: target/release/trodden)
        #[arg(long)]
        trodden: Option<PathBuf>,
    },
    /// Measures trodden instrument, from jar to jar, against JaCoCo's offline instrumenter and against ASM
    Offline {
        /// JDK home
        #[arg(long)]
        jdk: Option<PathBuf>,
        /// Name of the run's folder, after the date
        #[arg(long)]
        label: String,
        #[command(flatten)]
        offline: offline::Arguments,
    },
    /// Measures what tools cost from the start of a JVM to its end: ours, and others
    Overhead {
        #[command(flatten)]
        jvm: JvmArgs,
        /// Name of the run's folder, after the date
        #[arg(long)]
        label: String,
        #[command(flatten)]
        overhead: overhead::Arguments,
    },
    /// Compares shares of methods in CPU samples with those of async-profiler and of the JVM's flight
    /// recorder
    Agree {
        #[command(flatten)]
        jvm: JvmArgs,
        /// Name of the run's folder, after the date
        #[arg(long)]
        label: String,
        #[command(flatten)]
        agree: agree::Arguments,
    },
    /// Prints a table about an analysis or a numbering, from traces or profiles
    Table {
        #[command(subcommand)]
        table: tables::Table,
    },
    /// Measures rewriting throughput against ASM
    Rewrite {
        #[command(flatten)]
        common: Common,
        /// Jars (default: the corpus)
        jars: Vec<PathBuf>,
        /// Pairs of measurements
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
        pairs: u32,
    },
}

/// Which JVMs, and with what.
#[derive(Args)]
struct JvmArgs {
    /// JDK homes (default: JAVA_HOME, else java on the PATH)
    #[arg(long, value_delimiter = ',')]
    jdk: Vec<PathBuf>,
    /// The agent library (default: target/release/libtrodden.so)
    #[arg(long)]
    agent: Option<PathBuf>,
    /// Option for every JVM, such as --jvm=-Xmx1g; may be repeated
    #[arg(long, allow_hyphen_values = true)]
    jvm: Vec<String>,
    /// Seconds after which a JVM is killed
    #[arg(long, default_value_t = 900)]
    timeout: u64,
}

#[derive(Args)]
struct Common {
    #[command(flatten)]
    jvm: JvmArgs,
    /// Name of the run's folder, after the date
    #[arg(long)]
    label: String,
    /// Warm-up iterations in each JVM
    #[arg(long, default_value_t = 5)]
    warmup: u32,
    /// Measured iterations in each JVM
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
}

/// What all measurements share.
#[derive(Debug)]
pub struct Plan {
    jdks: Vec<Jdk>,
    agent: Option<PathBuf>,
    jvm_options: Vec<String>,
    warmup: u32,
    iterations: u32,
    timeout: Duration,
}

impl Plan {
    fn new(workspace: &Workspace, common: Common, needs_agent: bool) -> Result<(Plan, String)> {
        let (warmup, iterations) = (common.warmup, common.iterations);
        let plan = Plan::of(workspace, common.jvm, warmup, iterations, needs_agent)?;
        Ok((plan, common.label))
    }

    fn of(
        workspace: &Workspace,
        jvm: JvmArgs,
        warmup: u32,
        iterations: u32,
        needs_agent: bool,
    ) -> Result<Plan> {
        let agent = match needs_agent {
            true => Some(workspace::find_agent(workspace, jvm.agent.as_deref())?),
            false => None,
        };
        Ok(Plan {
            jdks: Jdk::find(&jvm.jdk)?,
            agent,
            jvm_options: jvm.jvm,
            warmup,
            iterations,
            timeout: Duration::from_secs(jvm.timeout),
        })
    }

    /// The agent library.
    fn agent(&self) -> Result<&Path> {
        let agent = self.agent.as_deref();
        agent.ok_or_else(|| Error::Usage("this configuration needs the agent; use --agent".into()))
    }

    /// How a JVM is run without the agent.
    fn plain<'a>(&'a self, jdk: &'a Jdk) -> Launch<'a> {
        Launch {
            jdk,
            jvm_options: &self.jvm_options,
            agent: None,
            timeout: self.timeout,
            processor: None,
            launcher: &[],
        }
    }

    /// How a JVM is run under a configuration, which writes a profile to this file if it has the agent.
    fn launch<'a>(
        &'a self,
        jdk: &'a Jdk,
        config: &'a Config,
        include: Option<&str>,
        profile: &Path,
    ) -> Result<Launch<'a>> {
        let agent = match &config.options {
            Some(_) => config.agent_argument(self.agent()?, include, profile),
            None => None,
        };
        Ok(Launch {
            agent,
            launcher: &config.launcher,
            ..self.plain(jdk)
        })
    }
}

/// Reports on standard error what is being done.
fn progress(what: &str) {
    eprintln!("{what}");
}

fn main() -> ExitCode {
    match perform(Cli::parse()) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("trodden-bench: {error}");
            ExitCode::from(if matches!(error, Error::Usage(_)) { 2 } else { 1 })
        }
    }
}

fn perform(cli: Cli) -> Result<String> {
    let workspace = Workspace::find(cli.root.as_deref())?;
    let start = |label: &str, plan: &Plan| Record::create(&workspace, label, &plan.jdks);
    let finish = |record: &Record, text: String| format!("{text}\n{}\n", record.folder().display());
    match cli.command {
        Action::Fetch { mut sets, corpus } => {
            if sets.is_empty() {
                sets = workspace.artifacts()?.into_iter().map(|a| a.set).collect();
                sets.retain(|set| corpus || set != "corpus");
            } else if corpus {
                sets.push("corpus".into());
            }
            let count = artifacts::fetch(&workspace, &sets)?;
            Ok(format!("{count} files fetched\n"))
        }
        Action::Build { jdk } => {
            let homes: Vec<PathBuf> = jdk.into_iter().collect();
            let left_out = compile::build(&workspace, &Jdk::find(&homes)?[0])?;
            let lines = left_out.iter().map(|reason| format!("left out {reason}\n"));
            Ok(lines.collect())
        }
        Action::Run {
            common,
            workload,
            configs,
            extra,
            pairs,
        } => {
            let configs = configs_of(configs.iter().chain(&extra))?;
            let workloads = workload::choose(&workspace, &workload)?;
            let (plan, label) = Plan::new(&workspace, common, configs.iter().any(|c| c.options.is_some()))?;
            let record = start(&label, &plan)?;
            let text = run::run(&plan, &workloads, &configs, pairs, &record, &|_, _, _| Ok(None))?;
            Ok(finish(&record, text))
        }
        Action::Summarize { folder } => {
            let text = run::summarize(&folder)?;
            let path = folder.join("summary.md");
            std::fs::write(&path, &text).map_err(error::io("write", &path))?;
            Ok(text)
        }
        Action::Accuracy {
            common,
            workload,
            schedules,
            options,
            trials,
        } => {
            let workloads = workload::choose(&workspace, &workload)?;
            let (plan, label) = Plan::new(&workspace, common, true)?;
            let record = start(&label, &plan)?;
            let text = accuracy::run(&plan, &workloads, &schedules, options.as_deref(), trials, &record)?;
            Ok(finish(&record, text))
        }
        Action::Jit {
            common,
            workload,
            configs,
            extra,
            command,
        } => {
            let names = configs.iter().chain(&extra).map(String::as_str);
            let configs: Vec<Config> = names.map(Config::parse).collect::<Result<_>>()?;
            let workloads = match command.is_empty() {
                true => workload::choose(&workspace, &workload)?,
                false => vec![jit::command(&command, None)],
            };
            let (plan, label) = Plan::new(&workspace, common, true)?;
            let record = start(&label, &plan)?;
            let text = jit::run(&plan, &workloads, &configs, &record)?;
            Ok(finish(&record, text))
        }
        Action::MethodData {
            common,
            workload,
            seconds,
        } => {
            let workloads = workload::choose(&workspace, &workload)?;
            let (plan, label) = Plan::new(&workspace, common, true)?;
            let record = start(&label, &plan)?;
            let text = method_data::run(&plan, &workloads, seconds, &record)?;
            Ok(finish(&record, text))
        }
        Action::Startup {
            common,
            configs,
            pairs,
        } => {
            let configs = configs_of(configs.iter())?;
            let (plan, label) = Plan::new(&workspace, common, configs.iter().any(|c| c.options.is_some()))?;
            let record = start(&label, &plan)?;
            let text = startup::run(&plan, &workspace, &configs, pairs, &record)?;
            Ok(finish(&record, text))
        }
        Action::Traces {
            workload,
            into,
            profile,
            jvm,
            warmup,
            iterations,
        } => {
            let workloads = workload::choose(&workspace, &workload)?;
            let plan = Plan::of(&workspace, jvm, warmup, iterations, true)?;
            traces::run(&plan, &workloads, &profile, &into)
        }
        Action::Auto { jvm, label, auto } => {
            let work = long::parse(&workspace, &auto.work)?;
            let trodden = workspace::find_trodden(&workspace, auto.trodden.as_deref())?;
            let plan = Plan::of(&workspace, jvm, 0, 1, true)?;
            let record = start(&label, &plan)?;
            let text = auto::run(&plan, &work, &auto, &trodden, &record)?;
            Ok(finish(&record, text))
        }
        Action::Structural {
            jvm,
            label,
            structural,
        } => {
            let work = long::parse(&workspace, &structural.work)?;
            let trodden = workspace::find_trodden(&workspace, structural.trodden.as_deref())?;
            let plan = Plan::of(&workspace, jvm, 0, 1, true)?;
            let record = start(&label, &plan)?;
            let text = structural::run(&plan, &work, &structural, &trodden, &record)?;
            Ok(finish(&record, text))
        }
        Action::Skipping {
            common,
            workload,
            configs,
            pairs,
            trodden,
        } => {
            let trodden = workspace::find_trodden(&workspace, trodden.as_deref())?;
            let (plan, label) = Plan::new(&workspace, common, true)?;
            let folder =
                tempfile::tempdir().map_err(error::io("create a folder in", std::env::temp_dir()))?;
            let jar = skipping::build(&workspace, &plan.jdks[0], folder.path())?;
            let mut chosen = skipping::configs(&jar);
            if let Some(unknown) = configs
                .iter()
                .find(|name| chosen.iter().all(|c| c.name != **name))
            {
                return Err(Error::Usage(format!("no configuration '{unknown}'")));
            }
            chosen.retain(|c| c.name == "base" || configs.is_empty() || configs.contains(&c.name));
            let workloads = workload::choose(&workspace, &workload)?;
            let with_jar = |w| skipping::with_class_path(&workspace, w, &jar);
            let workloads: Vec<_> = workloads.into_iter().map(with_jar).collect::<Result<_>>()?;
            let record = start(&label, &plan)?;
            let samples = |config: &Config, profile: &Path, errors: &str| {
                skipping::samples(&trodden, config, profile, errors)
            };
            let text = run::run(&plan, &workloads, &chosen, pairs, &record, &samples)?;
            Ok(finish(&record, text))
        }
        Action::Offline { jdk, label, offline } => {
            let homes: Vec<PathBuf> = jdk.into_iter().collect();
            let jdks = Jdk::find(&homes)?;
            let trodden = workspace::find_trodden(&workspace, offline.trodden.as_deref())?;
            let record = Record::create(&workspace, &label, &jdks)?;
            let text = offline::run(&workspace, &jdks[0], &offline, &trodden, &record)?;
            Ok(finish(&record, text))
        }
        Action::Overhead { jvm, label, overhead } => {
            let work = long::parse(&workspace, &overhead.work)?;
            let plan = Plan::of(&workspace, jvm, 0, 1, true)?;
            let record = start(&label, &plan)?;
            let trodden = workspace::find_trodden(&workspace, overhead.trodden.as_deref())?;
            let text = overhead::run(&plan, &workspace, &work, &overhead, &trodden, &record)?;
            Ok(finish(&record, text))
        }
        Action::Agree { jvm, label, agree } => {
            let work = long::parse(&workspace, &agree.work)?;
            let trodden = workspace::find_trodden(&workspace, agree.trodden.as_deref())?;
            let plan = Plan::of(&workspace, jvm, 0, 1, true)?;
            let record = start(&label, &plan)?;
            let text = agree::run(&plan, &workspace, &work, &agree, &trodden, &record)?;
            Ok(finish(&record, text))
        }
        Action::Table { table } => tables::print(table).map(|()| String::new()),
        Action::Rewrite { common, jars, pairs } => {
            let (plan, label) = Plan::new(&workspace, common, false)?;
            let record = start(&label, &plan)?;
            let text = rewrite::run(&plan, &workspace, &jars, pairs, &record)?;
            Ok(finish(&record, text))
        }
    }
}

/// The configurations of interleaved runs: all are held against the first one.
fn configs_of<'a>(names: impl Iterator<Item = &'a String>) -> Result<Vec<Config>> {
    let configs: Vec<Config> = names
        .map(String::as_str)
        .map(Config::parse)
        .collect::<Result<_>>()?;
    match configs.as_slice() {
        [base, _, ..] if base.options.is_none() => Ok(configs),
        _ => Err(Error::Usage(
            "the first configuration must be 'base', and there must be another".into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
