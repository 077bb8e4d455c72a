//! Where results go: files, written whole or not at all, or standard output; and colour.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use trodden_profile::options::nearest;
use trodden_profile::output::{self, Draft, Target};
use trodden_profile::{Profile, printable_lines};

use crate::error::CliError;
pub use trodden_profile::output::NewFile;

/// While this is kept, a write beyond the limit of file sizes fails as on a full disk, and does not end us
/// with half a file left.
pub struct FileSizeLimit(#[cfg(unix)] Option<signal_hook::SigId>);

impl FileSizeLimit {
    /// There is no such limit.
    #[cfg(not(unix))]
    pub fn respect() -> Self {
        FileSizeLimit()
    }

    /// Takes the signal.
    #[cfg(unix)]
    pub fn respect() -> Self {
        let ignored: std::sync::Arc<std::sync::atomic::AtomicBool> = Default::default();
        FileSizeLimit(signal_hook::flag::register(rustix::process::Signal::XFSZ.as_raw(), ignored).ok())
    }
}

#[cfg(unix)]
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

/// The format that the ending of a file's name asks for; `None` if the name has no ending.
///
/// # Errors
/// If no format has that ending: a slip (`x.hmtl`) must not make a file of another format.
pub fn by_ending<T: Copy>(file: &str, endings: &[(&str, T)]) -> Result<Option<T>, CliError> {
    let name = file.rsplit('/').next().unwrap_or(file);
    if let Some((_, format)) = endings.iter().find(|(ending, _)| name.ends_with(ending)) {
        return Ok(Some(*format));
    }
    let given = name.rsplit_once('.').filter(|(stem, ending)| {
        !stem.is_empty() && !ending.is_empty() && ending.chars().all(|c| c.is_ascii_alphabetic())
    });
    let Some((_, given)) = given else {
        return Ok(None);
    };
    let given = format!(".{given}");
    let known = endings.iter().map(|(ending, _)| *ending);
    let near =
        nearest(&given, known.clone()).map_or_else(String::new, |near| format!("; did you mean {near}?"));
    Err(CliError::Usage(format!(
        "error: {file}: no format has the ending {given}{near} (known: {})",
        Vec::from_iter(known).join(", ")
    )))
}

/// The format that was given or, without one, that of the ending of the file's name.
pub fn format<T: Copy>(
    given: Option<T>,
    file: Option<&Path>,
    endings: &[(&str, T)],
) -> Result<Option<T>, CliError> {
    match (given, file) {
        (None, Some(file)) => by_ending(&file.to_string_lossy(), endings),
        _ => Ok(given),
    }
}

/// Writes a file; see [`write_files`].
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let _limit = FileSizeLimit::respect();
    output::write(path, bytes).map_err(CliError::failed)
}

/// Writes files that belong together: none of them is there before all are written and on the disk. Links are
/// followed; devices and pipes are written to directly.
pub fn write_files(files: &[NewFile]) -> Result<(), CliError> {
    let _limit = FileSizeLimit::respect();
    output::write_files(files).map_err(CliError::failed)
}

/// Like [`write_files`], but with files that were written piece by piece before.
pub fn write_files_with(drafts: Vec<Draft>, files: &[NewFile]) -> Result<(), CliError> {
    let _limit = FileSizeLimit::respect();
    output::write_files_with(drafts, files).map_err(CliError::failed)
}

/// True if this is the name of a device or a pipe.
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

/// Writes to a file, or to standard output if there is none. A reader of standard output that has seen enough
/// (`trodden report … | head`) changes nothing else that the command does, nor its exit code.
pub fn write(path: Option<&Path>, bytes: &[u8]) -> Result<(), CliError> {
    let Some(path) = path else {
        let mut out = io::stdout().lock();
        return to_standard_output(out.write_all(bytes).and_then(|()| out.flush()));
    };
    write_file(path, bytes)
}

fn to_standard_output(written: io::Result<()>) -> Result<(), CliError> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::Failed(format!("cannot write output: {error}")))
        }
        _ => Ok(()),
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
            let written = put(&mut out).and_then(|()| out.flush());
            to_standard_output(written)
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

/// Writes to standard error, unchanged. If that is closed or full, the text is lost, and nothing else:
/// everything that this program says there goes through here.
pub fn show(text: &[u8]) {
    let _ = io::stderr().write_all(text);
}

/// Writes a line to standard error. Names in it come from class files, traces and command lines: none of
/// them may steer a terminal.
pub fn say(message: &str) {
    show(format!("{}\n", printable_lines(message)).as_bytes());
}

/// Writes a message about what is wrong, or worth knowing, to standard error.
pub fn complain(message: &str) {
    say(&format!("trodden: {message}"));
}

/// Colour on this stream: on a terminal, unless `NO_COLOR` is set or the terminal is dumb.
pub fn colour(stream: &impl IsTerminal) -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    stream.is_terminal() && !refused && !dumb
}
