//! `trodden`, the command line.
//!
//! *In*: arguments, profiles, class files, process ids. *Out*: reports, instrumented classes, exit codes.
//! Glue only: each subcommand has its own file, and what it does is done by the library crates.

// These macros panic where standard error is closed; `output` has what does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]
// What only commands need that are not there.
#![cfg_attr(not(unix), allow(dead_code, unused_imports))]

mod agent_library;
mod argv;
#[cfg(unix)]
mod attach;
mod check;
mod compare;
mod coverage;
mod diff;
mod doctor;
#[cfg(test)]
mod documents;
#[cfg(not(unix))]
mod elsewhere;
mod error;
mod folders;
mod gate;
mod git;
mod instrument;
#[cfg(unix)]
mod interrupt;
mod lsp;
mod mcp;
mod memory;
mod merge;
mod output;
mod profile_args;
#[cfg(unix)]
mod ps;
mod reach;
mod recorded_commit;
mod render;
mod replay;
mod report;
#[cfg(unix)]
mod run;
mod shell;
mod slow;
mod sources;
mod store;
#[cfg(unix)]
mod top;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use error::CliError;

const EXIT_CODES: &str = "\
`trodden java …` is short for `trodden run java …`; so it is with mvn, gradle, and the path of any program.

Exit codes: 0 good; 1 the work failed; 2 wrong usage; 3 a check was broken.
`run` hands on the command's own code, or 128 + N when signal N ended it.
`trodden --help-all` explains all options of all commands.";

/// Path profiler for the JVM: which control-flow paths a program really takes.
#[derive(Parser)]
#[command(name = "trodden", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[cfg(unix)]
    Run(run::RunArgs),
    #[cfg(unix)]
    Attach(attach::AttachArgs),
    #[cfg(unix)]
    Top(top::TopArgs),
    #[cfg(unix)]
    Ps(ps::PsArgs),
    #[cfg(not(unix))]
    Run(elsewhere::ElsewhereArgs),
    #[cfg(not(unix))]
    Attach(elsewhere::ElsewhereArgs),
    #[cfg(not(unix))]
    Top(elsewhere::ElsewhereArgs),
    #[cfg(not(unix))]
    Ps(elsewhere::ElsewhereArgs),
    Report(report::ReportArgs),
    Coverage(coverage::CoverageCommand),
    Compare(compare::CompareArgs),
    Diff(diff::DiffArgs),
    Slow(slow::SlowArgs),
    Gate(gate::GateArgs),
    Tests(reach::TestsArgs),
    Merge(merge::MergeArgs),
    Replay(replay::ReplayArgs),
    Check(check::CheckArgs),
    Instrument(instrument::InstrumentArgs),
    Doctor(doctor::DoctorArgs),
    Mcp(mcp::McpArgs),
    Lsp(lsp::LspArgs),
    Store(store::StoreArgs),
    Ship(store::ShipArgs),
    Completions(shell::CompletionsArgs),
    #[command(hide = true)]
    Man(shell::ManArgs),
}

/// The command line, with helps of a size to read; with `all`, every option is explained.
fn commands(all: bool) -> clap::Command {
    let commands = Cli::command();
    #[cfg(unix)]
    let commands = commands
        .mut_subcommand("run", |run| {
            let more = ["production", "top", "again", "repeat"];
            profile_args::short_help(run, all, &more)
        })
        .mut_subcommand("attach", |attach| {
            profile_args::short_help(attach, all, &["wait"])
        })
        .mut_subcommand("top", |top| profile_args::short_help(top, all, &["wait"]));
    #[cfg(not(unix))]
    let _ = all;
    let commands = commands.mut_subcommand("replay", profile_args::replay_help);
    profile_args::with_help_all(commands)
}

/// The help of every command, with all options.
fn help_all() -> String {
    let mut text = String::new();
    add_help(&mut text, commands(true), "trodden");
    text
}

fn add_help(text: &mut String, command: clap::Command, name: &str) {
    let mut command = command.bin_name(name.to_owned());
    *text += &format!("{name}\n\n{}\n", command.render_long_help());
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let name = format!("{name} {}", sub.get_name());
        add_help(text, sub.clone(), &name);
    }
}

fn main() -> ExitCode {
    // clap itself exits with 2 on wrong usage, and with 0 after --help and --version.
    let words = argv::with_run(std::env::args_os().collect(), &Cli::command());
    if words
        .get(1)
        .is_some_and(|word| *word == *format!("--{}", profile_args::HELP_ALL))
    {
        return ended(output::write(None, help_all().as_bytes()).map(|()| ExitCode::SUCCESS));
    }
    if let Some(slip) = argv::slip(&words, &Cli::command()) {
        return ended(Err(slip));
    }
    let matches = commands(argv::asks_for_all(&words)).get_matches_from(words);
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    let result = match cli.command {
        #[cfg(unix)]
        Command::Run(args) => run::run(&args),
        #[cfg(unix)]
        Command::Attach(args) => attach::attach(&args).map(|()| ExitCode::SUCCESS),
        #[cfg(unix)]
        Command::Top(args) => top::top(&args).map(|()| ExitCode::SUCCESS),
        #[cfg(unix)]
        Command::Ps(args) => ps::ps(&args).map(|()| ExitCode::SUCCESS),
        #[cfg(not(unix))]
        Command::Run(args) | Command::Attach(args) | Command::Top(args) | Command::Ps(args) => args.refused(),
        Command::Report(args) => report::report(&args).map(|()| ExitCode::SUCCESS),
        Command::Coverage(args) => coverage::coverage(&args).map(|()| ExitCode::SUCCESS),
        Command::Compare(args) => compare::compare(&args).map(|()| ExitCode::SUCCESS),
        Command::Diff(args) => diff::diff(&args),
        Command::Slow(args) => slow::slow(&args).map(|()| ExitCode::SUCCESS),
        Command::Gate(args) => gate::gate(&args),
        Command::Tests(args) => reach::tests(&args).map(|()| ExitCode::SUCCESS),
        Command::Merge(args) => merge::merge(&args).map(|()| ExitCode::SUCCESS),
        Command::Replay(args) => replay::replay(&args).map(|()| ExitCode::SUCCESS),
        Command::Check(args) => check::check(&args),
        Command::Instrument(args) => instrument::instrument(&args).map(|()| ExitCode::SUCCESS),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Mcp(args) => mcp::mcp(&args),
        Command::Lsp(args) => lsp::lsp(&args),
        Command::Store(args) => Err(store::store(&args)),
        Command::Ship(args) => Err(store::ship(&args)),
        Command::Completions(args) => shell::completions(&args, commands(true)).map(|()| ExitCode::SUCCESS),
        Command::Man(args) => shell::man(&args, commands(true)).map(|()| ExitCode::SUCCESS),
    };
    ended(result)
}

/// The exit code of what was done; says what went wrong.
fn ended(result: Result<ExitCode, CliError>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) => {
            output::complain(&error.to_string());
            error.exit_code()
        }
    }
}
