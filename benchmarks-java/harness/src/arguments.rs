//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::{agree, auto, latency, offline, overhead, papers, scale, startup, structural, subpaths, tables};

/// Measures Trodden: overhead, accuracy, start-up, rewriting.
#[derive(Parser)]
#[command(version)]
pub struct Cli {
    /// The benchmarks-java folder (default: found from the current folder upwards)
    #[arg(long, global = true)]
    pub root: Option<PathBuf>,
    /// What is to be done
    #[command(subcommand)]
    pub command: Action,
}

/// Its commands.
#[derive(Subcommand)]
pub enum Action {
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
        /// Further agent options of the sampled runs, such as interval=5ms
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
    /// Measures start-up: a program that prints something, with and without the agent
    Startup {
        #[command(flatten)]
        common: Common,
        /// Configurations: base, yieldpoint, counters, safepoint
        #[arg(long, value_delimiter = ',', default_value = "base,yieldpoint,counters")]
        configs: Vec<String>,
        /// What is started
        #[arg(long, value_enum, default_value = "hello")]
        program: startup::Program,
        /// With classes from a cache that the JVM makes before
        #[arg(long)]
        cache: bool,
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
        /// What they are for: kpaths has paths and activations, contexts every call with its call site,
        /// kpaths+contexts all of them, as `scale` wants it
        #[arg(long, default_value = "kpaths", value_parser = ["kpaths", "contexts", "kpaths+contexts"])]
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
    /// Holds the hot subpaths of long runs against exact counts
    Subpaths {
        #[command(flatten)]
        jvm: JvmArgs,
        /// Name of the run's folder, after the date
        #[arg(long)]
        label: String,
        #[command(flatten)]
        subpaths: subpaths::Arguments,
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
    /// Measures what tools do to the latency of a small HTTP server under constant load
    Latency {
        #[command(flatten)]
        jvm: JvmArgs,
        /// Name of the run's folder, after the date
        #[arg(long)]
        label: String,
        #[command(flatten)]
        latency: latency::Arguments,
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
    /// Redoes the tables and figures of the five papers, as the page book/evidence.md
    Papers {
        #[command(flatten)]
        papers: papers::Arguments,
    },
    /// Measures many threads, many thread profiles, long traces
    Scale {
        #[command(subcommand)]
        scale: scale::Scale,
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
pub struct JvmArgs {
    /// JDK homes (default: JAVA_HOME, else java on the PATH)
    #[arg(long, value_delimiter = ',')]
    pub jdk: Vec<PathBuf>,
    /// The agent library (default: target/release/libtrodden.so)
    #[arg(long)]
    pub agent: Option<PathBuf>,
    /// Option for every JVM, such as --jvm=-Xmx1g; may be repeated
    #[arg(long, allow_hyphen_values = true)]
    pub jvm: Vec<String>,
    /// Seconds after which a JVM is killed
    #[arg(long, default_value_t = 900)]
    pub timeout: u64,
}

/// What most measurements take.
#[derive(Args)]
pub struct Common {
    /// Which JVMs
    #[command(flatten)]
    pub jvm: JvmArgs,
    /// Name of the run's folder, after the date
    #[arg(long)]
    pub label: String,
    /// Warm-up iterations in each JVM
    #[arg(long, default_value_t = 5)]
    pub warmup: u32,
    /// Measured iterations in each JVM
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: u32,
}
