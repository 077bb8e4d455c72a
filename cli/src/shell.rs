//! Completions for shells and pages for `man`, made from the same table of options as `--help`.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::CliError;
use crate::output;

/// Prints completions of commands and options for a shell
///
/// bash: `trodden completions bash > ~/.local/share/bash-completion/completions/trodden`;
/// zsh: into a file `_trodden` in a folder of `$fpath`;
/// fish: `trodden completions fish > ~/.config/fish/completions/trodden.fish`.
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Writes the manual's pages into a folder
#[derive(Args)]
pub struct ManArgs {
    /// Folder for `trodden.1`, `trodden-run.1` and the others; made if it is not there
    folder: PathBuf,
}

/// Writes them to standard output.
pub fn completions(args: &CompletionsArgs, mut command: Command) -> Result<(), CliError> {
    // Not straight to standard output: a closed pipe would be a panic there.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "trodden", &mut text);
    output::write(None, &text)
}

/// One page per command.
pub fn man(args: &ManArgs, command: Command) -> Result<(), CliError> {
    let about = |e| CliError::file(&args.folder, e);
    fs::create_dir_all(&args.folder).map_err(about)?;
    clap_mangen::generate_to(command, &args.folder).map_err(about)
}
