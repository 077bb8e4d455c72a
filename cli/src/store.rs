//! `trodden store` and `trodden ship`: they are another program's, `trodden-store`, which is built and
//! installed separately.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::error::CliError;

/// Variable that names that program.
pub const STORE_VARIABLE: &str = "TRODDEN_STORE";
/// Its file name.
const STORE_FILE: &str = "trodden-store";

/// Keeps profiles of many JVMs in one place: Parquet files that any engine reads (needs trodden-store).
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct StoreArgs {
    /// A subcommand of it, and its arguments; --help lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

/// Moves windows that agents have written into a store, from then on (needs trodden-store).
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct ShipArgs {
    /// Its arguments; --help lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

/// Becomes `trodden-store`; comes back only if that fails.
pub fn store(args: &StoreArgs) -> CliError {
    become_store("trodden store", &[], &args.words)
}

/// Becomes `trodden-store ship`; comes back only if that fails.
pub fn ship(args: &ShipArgs) -> CliError {
    become_store("trodden", &["ship"], &args.words)
}

/// This process becomes that program: its signals and its exit code are the caller's.
fn become_store(name: &str, first: &[&str], words: &[OsString]) -> CliError {
    let program = match find() {
        Ok(program) => program,
        Err(error) => return error,
    };
    let mut command = Command::new(&program);
    command.args(first).args(words);
    CliError::file(&program, become_program(command, name))
}

#[cfg(unix)]
fn become_program(mut command: Command, name: &str) -> std::io::Error {
    use std::os::unix::process::CommandExt;
    // As what it is called is what its help calls it.
    command.arg0(name).exec()
}

#[cfg(not(unix))]
fn become_program(_: Command, _: &str) -> std::io::Error {
    std::io::Error::other("there is a store for Linux only")
}

/// `TRODDEN_STORE`, else next to this program, else in `../libexec`.
fn find() -> Result<PathBuf, CliError> {
    if let Some(path) = env::var_os(STORE_VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return if path.is_file() {
            Ok(path)
        } else {
            Err(CliError::Failed(format!(
                "{STORE_VARIABLE}: {} is not a file",
                path.display()
            )))
        };
    }
    let program =
        env::current_exe().map_err(|e| CliError::Failed(format!("cannot find own program: {e}")))?;
    let directory = program.parent().unwrap_or(Path::new("/"));
    let candidates = [
        directory.join(STORE_FILE),
        directory.join("../libexec").join(STORE_FILE),
        directory.join("../libexec/trodden").join(STORE_FILE),
    ];
    let found = candidates.iter().find(|path| path.is_file());
    found.cloned().ok_or_else(|| {
        CliError::Failed(format!(
            "{STORE_FILE} is not installed: it is neither beside {} nor in ../libexec. Its package, trodden-store, has it, or \
             `cargo build --release --manifest-path store/Cargo.toml` makes store/target/release/{STORE_FILE}: put it beside \
             trodden, or set {STORE_VARIABLE} to its path",
            program.display()
        ))
    })
}
