//! `trodden lsp`: a profile in the editor, by the Language Server Protocol on standard input and output.
//!
//! Two rooms: [`ide`] knows profiles, sources and where lines went, and nothing of the protocol; [`server`]
//! knows the protocol, and nothing of profiles.

mod ide;
mod server;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::coverage::CoverageArgs;
use crate::error::CliError;

/// Shows a profile in an editor, by the Language Server Protocol (LSP) on standard input and output.
///
/// How often methods and branches ran and what they cost, at their lines; outcomes on changed lines that
/// nothing took, as warnings. An editor starts it: docs/editors.md has the settings.
#[derive(Args)]
pub struct LspArgs {
    /// Profiles (.trodden); of several, counts are added up [default: the newest one below the editor's
    /// folders]. What is written again is read again.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Warnings for a change: each outcome on a changed line that nothing took. DIFF is what `git diff`
    /// writes.
    #[arg(long, value_name = "DIFF")]
    changed: Option<PathBuf>,
    /// Like --changed, of the change since a commit (main, HEAD~1, origin/main...), as the files are now.
    #[arg(long, value_name = "GITREF", conflicts_with = "changed")]
    base: Option<String>,
    /// The commit whose sources were profiled. Without it, sources that were written after the run began are
    /// compared with the last commit before the run, and that is said.
    #[arg(long, value_name = "GITREF")]
    recorded_at: Option<String>,
    /// Where facts are shown: lines above the code, or at its end [default: lenses if the editor has them].
    #[arg(long, value_enum)]
    show: Option<Show>,
    /// Said by many clients of the protocol; there is no other way to connect.
    #[arg(long, hide = true)]
    stdio: bool,
    #[command(flatten)]
    coverage: CoverageArgs,
}

impl LspArgs {
    /// The change that is asked for.
    fn change(&self) -> Option<ide::Change> {
        let since = || self.base.clone().map(ide::Change::Since);
        self.changed.clone().map(ide::Change::Diff).or_else(since)
    }
}

/// Where an editor shows facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Show {
    /// Lines above methods and branches (code lenses).
    Lenses,
    /// At the end of their lines (inlay hints).
    Hints,
}

/// Runs `trodden lsp`, until the editor ends it.
pub fn lsp(args: &LspArgs) -> Result<ExitCode, CliError> {
    server::serve(args)
}
