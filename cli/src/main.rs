//! `trodden`, the command line.
//!
//! *In*: arguments, profiles, class files, process ids. *Out*: reports, instrumented classes, exit codes. Glue
//! only: each subcommand has its own file, and what it does is done by the library crates.

mod agent_library;
mod attach;
mod check;
mod compare;
mod coverage;
mod doctor;
mod error;
mod instrument;
mod merge;
mod output;
mod profile_args;
mod render;
mod replay;
mod report;
mod run;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use error::CliError;

const EXIT_CODES: &str = "\
Exit codes: 0 good; 1 the work failed; 2 wrong usage; 3 a check was broken.
`run` hands on the command's own code, or 128 + N when signal N ended it.";

/// Path profiler for the JVM: which control-flow paths a program really takes.
#[derive(Parser)]
#[command(name = "trodden", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::RunArgs),
    Attach(attach::AttachArgs),
    Report(report::ReportArgs),
    Compare(compare::CompareArgs),
    Merge(merge::MergeArgs),
    Replay(replay::ReplayArgs),
    Check(check::CheckArgs),
    Instrument(instrument::InstrumentArgs),
    Doctor(doctor::DoctorArgs),
}

fn main() -> ExitCode {
    // clap itself exits with 2 on wrong usage, and with 0 after --help and --version.
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Attach(args) => attach::attach(&args).map(|()| ExitCode::SUCCESS),
        Command::Report(args) => report::report(&args).map(|()| ExitCode::SUCCESS),
        Command::Compare(args) => compare::compare(&args).map(|()| ExitCode::SUCCESS),
        Command::Merge(args) => merge::merge(&args).map(|()| ExitCode::SUCCESS),
        Command::Replay(args) => replay::replay(&args).map(|()| ExitCode::SUCCESS),
        Command::Check(args) => check::check(&args),
        Command::Instrument(args) => instrument::instrument(&args).map(|()| ExitCode::SUCCESS),
        Command::Doctor(args) => doctor::doctor(&args),
    };
    match result {
        Ok(code) => code,
        // Whoever read our output has seen enough (`trodden report … | head`).
        Err(CliError::BrokenPipe) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("trodden: {error}");
            error.exit_code()
        }
    }
}
