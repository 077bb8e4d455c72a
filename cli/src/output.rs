//! Where results go: files, written whole or not at all, or standard output; and colour.

use std::env;
use std::fs::Permissions;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::process::Signal;
use signal_hook::SigId;
use tempfile::NamedTempFile;

use crate::error::CliError;

/// A file to be written.
pub struct NewFile {
    /// Its name.
    pub path: PathBuf,
    /// Its contents.
    pub bytes: Vec<u8>,
    /// Its permissions, before the user's mask.
    pub mode: u32,
}

/// While this is kept, a write beyond the limit of file sizes fails as on a full disk, and does not end us with half a
/// file left.
pub struct FileSizeLimit(Option<SigId>);

impl FileSizeLimit {
    /// Takes the signal.
    pub fn respect() -> Self {
        FileSizeLimit(signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::default()).ok())
    }
}

impl Drop for FileSizeLimit {
    fn drop(&mut self) {
        self.0.map(signal_hook::low_level::unregister);
    }
}

/// Writes a file through a temporary one beside it, so that no reader sees half of it.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    write_files(vec![NewFile {
        path: path.to_owned(),
        bytes: bytes.to_vec(),
        mode: 0o666,
    }])
}

/// Writes files that belong together: none of them is there before all are written and on the disk.
pub fn write_files(files: Vec<NewFile>) -> Result<(), CliError> {
    let failed = |path: &Path, e: io::Error| CliError::file(path, format!("cannot write: {e}"));
    let stage = |new: &NewFile| -> io::Result<NamedTempFile> {
        let directory = match new.path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let mut file = tempfile::Builder::new()
            .prefix(".trodden-")
            .suffix(".tmp")
            .permissions(Permissions::from_mode(new.mode))
            .tempfile_in(directory)?;
        file.write_all(&new.bytes)?;
        file.as_file().sync_all()?;
        Ok(file)
    };
    let _limit = FileSizeLimit::respect();
    let mut staged = Vec::with_capacity(files.len());
    for new in files {
        let file = stage(&new).map_err(|e| failed(&new.path, e))?;
        staged.push((new.path, file));
    }
    for (path, file) in staged {
        file.persist(&path).map_err(|e| failed(&path, e.error))?;
    }
    Ok(())
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
