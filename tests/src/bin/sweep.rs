//! The verification sweep as a command; see `trodden_tests::sweep`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use trodden_tests::jdk::Jdk;
use trodden_tests::sweep::Probe;
use trodden_tests::{Result, sweep};

/// Rewrites all classes of JDKs and jars with every probe strategy and has HotSpot verify them.
#[derive(Parser)]
struct Arguments {
    /// Home of a JDK: its verifier is asked, its classes are swept. Default: the oldest and the newest found.
    #[arg(long)]
    jdk: Vec<PathBuf>,
    /// Leave the JDKs' own classes out.
    #[arg(long)]
    no_images: bool,
    /// Folder with jars (searched deeply); given more than once: all of them.
    #[arg(long)]
    jars: Vec<PathBuf>,
    /// Probe strategy, or `all`.
    #[arg(long, default_value = "all")]
    probe: String,
    /// Only one class in this many.
    #[arg(long, default_value_t = 1)]
    sample: u64,
    /// Chooses the sample.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Also write each class that HotSpot could not use even in its original form.
    #[arg(long)]
    list_unusable: bool,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let jdks = match arguments.jdk.as_slice() {
        [] => Jdk::both()?,
        homes => homes
            .iter()
            .map(|home| Jdk::at(home).ok_or_else(|| format!("{}: no JDK", home.display()).into()))
            .collect::<Result<_>>()?,
    };
    let mut jars = Vec::new();
    for folder in &arguments.jars {
        jars.extend(sweep::jars_below(folder)?);
    }
    let probes = match arguments.probe.as_str() {
        "all" => Probe::all(),
        name => {
            let found = Probe::all().into_iter().find(|probe| probe.name() == name);
            vec![found.ok_or_else(|| format!("no probe is called '{name}'"))?]
        }
    };
    let options = sweep::Options {
        jdks,
        images: !arguments.no_images,
        jars,
        probes,
        sample: Some(sweep::Sample {
            every: arguments.sample.max(1),
            seed: arguments.seed,
        }),
    };
    let rows = sweep::sweep(&options, |row| {
        eprintln!(
            "jdk{} {} {}: {} accepted, {} failures",
            row.jdk,
            row.container,
            row.probe,
            row.accepted,
            row.failures.len()
        );
    })?;
    let mut out = std::io::stdout().lock();
    write!(out, "{}", sweep::print(&rows))?;
    if arguments.list_unusable {
        for row in &rows {
            for (entry, message) in &row.refused_before {
                writeln!(out, "unusable: {} {entry}: {message}", row.container)?;
            }
        }
    }
    let wrong = sweep::verdict(&rows);
    for line in &wrong {
        writeln!(out, "FAILURE {line}")?;
    }
    Ok(if wrong.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
