//! `trodden report`: a profile for people and programs.

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trodden_insight::contexts::ContextsOptions;
use trodden_insight::kpaths::KPathsOptions;
use trodden_profile::Profile;
use trodden_profile::options::{FileFormat, Share, SubpathThreshold};
use trodden_report::{ReportOptions, StackKind, Weight};

use crate::coverage::{self, CoverageArgs};
use crate::error::CliError;
use crate::output;
use crate::render::{self, Format};
use crate::sources;

/// Shows a profile: hot methods, their hot paths, their branches.
#[derive(Args)]
pub struct ReportArgs {
    /// Profile (.trodden).
    file: PathBuf,
    /// Output format [default: what the output's extension says, else text].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Output file [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only these methods: Class#method with * and ?, or a class alone.
    #[arg(long, value_name = "PATTERN")]
    method: Option<String>,
    /// At most this many methods, hottest first [default: depends on the format].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Text: everything about each method, not one screen. Stacks: the rare ones as well, not in one frame.
    #[arg(long)]
    all: bool,
    /// Sources: a directory, one above several projects, or a -sources.jar; may be repeated [default:
    /// src/main/java and the like, if the current directory has them].
    #[arg(long, value_name = "PLACE")]
    sources: Vec<PathBuf>,
    /// Show decisions as what the bytecode did (taken, not taken), not as conditions of the source.
    #[arg(long)]
    bytecode: bool,
    /// Show only continuations that make up this much of the times of the path before them [default: 1].
    #[arg(long, value_name = "PERCENT", value_parser = percent::<100>, help_heading = "k-iteration paths")]
    min_parent: Option<f64>,
    /// And this much of the times of the tree's first path [default: 5; html and json 1].
    #[arg(long, value_name = "PERCENT", value_parser = percent::<100>, help_heading = "k-iteration paths")]
    min_root: Option<f64>,
    /// Show every path of a sequence on its own, instead of 5 ×4.
    #[arg(long, help_heading = "k-iteration paths")]
    unfold: bool,
    /// Only the first N (top:N), those N times in the sample (samples:N), or with this share of all
    /// (share:0.01).
    #[arg(long, value_name = "THRESHOLD", help_heading = "Subpaths")]
    threshold: Option<SubpathThreshold>,
    /// The frames of stacks [default: calls, with CPU time; for counts calls if the profile has calling
    /// contexts, else paths].
    #[arg(
        long,
        value_enum,
        help_heading = "Stacks (collapsed, speedscope, pprof, otlp, firefox)"
    )]
    stacks: Option<Stacks>,
    /// Which number of a stack comes first; collapsed stacks have no other [default: time if there are CPU
    /// samples, else executions].
    #[arg(
        long,
        value_enum,
        help_heading = "Stacks (collapsed, speedscope, pprof, otlp, firefox)"
    )]
    weight: Option<StackWeight>,
    #[command(flatten)]
    coverage: CoverageArgs,
    /// Share of all calls from which a context is hot [default: that of the recording; 1e-4 if all calls were
    /// counted].
    #[arg(long, value_name = "SHARE", help_heading = "Calling contexts")]
    phi: Option<Share>,
    /// In collapsed stacks and the icicle, distinguish call sites of the same method: a.B.m@LINE.
    #[arg(long, help_heading = "Calling contexts")]
    call_sites: bool,
}

/// The frames of stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Stacks {
    /// Callers and callees: calling contexts or, without them, CPU samples.
    Calls,
    /// Package, class, method; each path is a leaf.
    Paths,
    /// Package, class, method.
    Methods,
}

impl From<Stacks> for StackKind {
    fn from(stacks: Stacks) -> Self {
        match stacks {
            Stacks::Calls => StackKind::Calls,
            Stacks::Paths => StackKind::Paths,
            Stacks::Methods => StackKind::Methods,
        }
    }
}

/// A number of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StackWeight {
    /// How often paths ran.
    Executions,
    /// Bytecode instructions that they executed.
    Instructions,
    /// CPU time, of stacks that were sampled by it (--sample).
    Time,
}

impl From<StackWeight> for Weight {
    fn from(weight: StackWeight) -> Self {
        match weight {
            StackWeight::Executions => Weight::Executions,
            StackWeight::Instructions => Weight::Instructions,
            StackWeight::Time => Weight::Time,
        }
    }
}

/// A percentage of at most `MAX`, as a share.
pub fn percent<const MAX: u32>(text: &str) -> Result<f64, String> {
    let number: f64 = text
        .trim_end_matches('%')
        .trim()
        .parse()
        .map_err(|_| "not a number".to_owned())?;
    if (0.0..=f64::from(MAX)).contains(&number) {
        Ok(number / 100.0)
    } else {
        Err(format!("not from 0 to {MAX}"))
    }
}

/// Runs `trodden report`.
pub fn report(args: &ReportArgs) -> Result<(), CliError> {
    let sources = sources::places(&args.sources)?;
    let format = match (args.format, &args.output) {
        (Some(format), _) => format,
        (None, Some(file)) => output::by_ending(&file.to_string_lossy(), &FileFormat::ENDINGS)?
            .and_then(Format::of_file)
            .unwrap_or(Format::Text),
        (None, None) => Format::Text,
    };
    let mut profile = Profile::load(&args.file).map_err(CliError::failed)?;
    profile.keep_subpaths(args.threshold.unwrap_or_default());
    if let Some(format) = format.coverage() {
        let (method, sources) = (args.method.as_deref(), &sources);
        let coverage = args.coverage.coverage(&args.file, &profile, method, sources)?;
        let top = (args.top, false);
        let colour = args.output.is_none() && output::colour(&io::stdout());
        return coverage::write(&coverage, format, top, args.output.as_deref(), colour);
    }
    if args.coverage.any() {
        let what = "error: --classes, --include and --exclude go with --format coverage, coverage-json, lcov and jacoco";
        return Err(CliError::Usage(what.to_owned()));
    }
    if format != Format::Json {
        profile = profile.into_printable();
    }
    let options = ReportOptions {
        top: args.top.unwrap_or(0) as usize,
        method: args.method.clone(),
        sources,
        bytecode: args.bytecode,
        all: args.all,
        stacks: args.stacks.map(StackKind::from),
        weight: args.weight.map(Weight::from),
        width: output::width(),
        kpaths: KPathsOptions {
            min_parent: args.min_parent,
            min_root: args.min_root,
            unfold: args.unfold,
        },
        contexts: ContextsOptions {
            phi: args.phi.map(Share::get),
            call_sites: args.call_sites,
        },
        ..ReportOptions::default()
    };
    render::write(&profile, format, &options, args.output.as_deref())
}
