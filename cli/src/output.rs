//! Where results go: files, written whole or not at all, or standard output; and colour.

use std::env;
use std::fs::Permissions;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::error::CliError;

/// Writes a file through a temporary one beside it, so that no reader sees half of it.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let save = || -> io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(".trodden-")
            .suffix(".tmp")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    };
    save().map_err(|e| CliError::file(path, format!("cannot write: {e}")))
}

/// Writes to a file, or to standard output if there is none.
pub fn write(path: Option<&Path>, bytes: &[u8]) -> Result<(), CliError> {
    match path {
        Some(path) => write_file(path, bytes),
        None => {
            let mut out = io::stdout().lock();
            out.write_all(bytes)
                .and_then(|()| out.flush())
                .map_err(CliError::stream)
        }
    }
}

/// Colour on this stream: on a terminal, unless `NO_COLOR` is set or the terminal is dumb.
pub fn colour(stream: &impl IsTerminal) -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    stream.is_terminal() && !refused && !dumb
}
