//! Where results go: files, written whole or not at all, or standard output; and colour.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use rustix::process::Signal;
use signal_hook::SigId;
use trodden_profile::output::{self, Draft, Target};
use trodden_profile::{Profile, printable_lines};

use crate::error::CliError;
pub use trodden_profile::output::NewFile;

/// While this is kept, a write beyond the limit of file sizes fails as on a full disk, and does not end us
/// with half a file left.
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

/// Columns of the terminal; `COLUMNS`, or 100, where there is none.
pub fn width() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let named = || env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(named).unwrap_or(100)
}

/// Writes a file; see [`write_files`].
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let _limit = FileSizeLimit::respect();
    output::write(path, bytes).map_err(CliError::failed)
}

/// Writes files that belong together: none of them is there before all are written and on the disk. Links are
/// followed; devices and pipes are written to as they are.
pub fn write_files(files: &[NewFile]) -> Result<(), CliError> {
    let _limit = FileSizeLimit::respect();
    output::write_files(files).map_err(CliError::failed)
}

/// The same with files that were written piece by piece before.
pub fn write_files_with(drafts: Vec<Draft>, files: &[NewFile]) -> Result<(), CliError> {
    let _limit = FileSizeLimit::respect();
    output::write_files_with(drafts, files).map_err(CliError::failed)
}

/// Does this name stand for a device or a pipe?
pub fn is_stream(path: &Path) -> bool {
    Target::of(path).is_ok_and(|target| target.is_stream())
}

/// Removes what killed commands left in a folder, and says where their results are.
pub fn clear_leftovers(folder: &Path) {
    let found = output::clear_leftovers(folder, |file| Profile::load(file).is_ok());
    for profile in found.profiles {
        complain(&format!(
            "an earlier run was killed; its profile is kept: {}",
            profile.display()
        ));
    }
    for old in found.outputs {
        complain(&format!(
            "an earlier command was killed as it replaced a folder; the old folder is kept: {}",
            old.display()
        ));
    }
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

/// Like [`write()`], piece by piece.
pub fn write_with(
    path: Option<&Path>,
    put: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    match path {
        None => {
            let mut out = io::stdout().lock();
            put(&mut out).and_then(|()| out.flush()).map_err(CliError::stream)
        }
        Some(path) if is_stream(path) => {
            let mut bytes = Vec::new();
            put(&mut bytes).map_err(|e| CliError::file(path, e))?;
            write_file(path, &bytes)
        }
        Some(path) => {
            let _limit = FileSizeLimit::respect();
            let mut draft = Draft::new(path, 0o666).map_err(CliError::failed)?;
            put(&mut draft).map_err(|e| CliError::file(path, e))?;
            write_files_with(vec![draft], &[])
        }
    }
}

/// Says something on standard error. Names in it come from class files, traces and command lines: none of
/// them may steer a terminal. A terminal that was closed hears nothing, and that is no reason to panic.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "trodden: {}", printable_lines(message));
}

/// Colour on this stream: on a terminal, unless `NO_COLOR` is set or the terminal is dumb.
pub fn colour(stream: &impl IsTerminal) -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    stream.is_terminal() && !refused && !dumb
}
