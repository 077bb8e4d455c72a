//! Commands that run or find JVMs, on systems for which there is no agent.

use std::ffi::OsString;

use clap::Args;

use crate::agent_library;
use crate::error::CliError;

/// Needs the agent, which there is for Linux.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct ElsewhereArgs {
    /// As on Linux.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

impl ElsewhereArgs {
    /// The error that such a command is.
    pub fn refused<T>(&self) -> Result<T, CliError> {
        Err(CliError::Failed(agent_library::only_linux()))
    }
}
