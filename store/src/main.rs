//! `trodden-store`, the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    trodden_store::cli::main()
}
