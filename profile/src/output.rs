//! Writing results: into files, whole or not at all; straight into devices and pipes.
//!
//! A file comes into being under a temporary name in its folder (`.trodden-PID-N.tmp`), is synced, and is
//! then renamed. Links are followed, and what they lead to is replaced with the permissions that it had.
//! Whatever is no regular file (a device, a pipe) is opened and written to; it is never replaced.
//! [`clear_leftovers`] removes what killed processes left behind.

mod lease;
mod leftovers;
mod links;
mod system;
#[cfg(all(test, unix))]
mod tests;

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use leftovers::is_older;

pub use lease::Lease;
pub use leftovers::{
    Leftovers, RUN_FOLDER, SESSION_FOLDER, STAGING_FOLDER, clear_leftovers, clear_sessions, hold,
};
pub use links::{ForeignLink, check_links};
pub use system::lock;

/// Sticky and writable for all, as `/tmp` is.
const STICKY: u32 = 0o1002;
/// Longer chains of links are circles.
const MAX_LINKS: usize = 40;

/// A file to be written.
pub struct NewFile {
    /// Its name.
    pub path: PathBuf,
    /// Its contents.
    pub bytes: Vec<u8>,
    /// Its permissions, before the user's mask. A file that is there already keeps its own.
    pub mode: u32,
}

/// Why an output could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot write: {source}", .file.display())]
pub struct OutputError {
    /// The name that was asked for.
    pub file: PathBuf,
    /// What went wrong.
    pub source: io::Error,
}

/// The meaning of a name as an output.
#[derive(Debug)]
pub enum Target {
    /// A regular file, or none yet: the name with all links followed, and what is there now.
    File(PathBuf, Option<Metadata>),
    /// A device, a pipe, or an open file of a process (`/dev/stdout`), which is written to and not replaced.
    Stream(PathBuf),
}

impl Target {
    /// Finds out the meaning of a name.
    ///
    /// # Errors
    /// If it is a folder, if its links lead in a circle, or if another user laid a link in a folder that all
    /// may write to.
    pub fn of(path: &Path) -> io::Result<Target> {
        let mut at = path.to_owned();
        for _ in 0..MAX_LINKS {
            let data = match std::fs::symlink_metadata(&at) {
                Ok(data) => data,
                Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Target::File(at, None)),
                Err(e) => return Err(e),
            };
            if data.is_file() {
                return Ok(Target::File(at, Some(data)));
            }
            if data.is_dir() {
                return Err(io::Error::new(ErrorKind::IsADirectory, "is a folder"));
            }
            if !data.is_symlink() {
                return Ok(Target::Stream(at));
            }
            let folder = folder_of(&at).canonicalize()?;
            // The links of /proc/PID/fd stand for open files and not for names.
            if folder.starts_with("/proc") {
                return Ok(Target::Stream(at));
            }
            let around = std::fs::metadata(&folder)?;
            let [owner, owner_around] = [&data, &around].map(system::owner);
            if !may_follow(owner, owner_around, system::mode(&around), system::user()) {
                return Err(io::Error::new(
                    ErrorKind::PermissionDenied,
                    format!("{} is a link of another user in a shared folder", at.display()),
                ));
            }
            at = folder.join(std::fs::read_link(&at)?);
        }
        Err(io::Error::other("its links lead in a circle"))
    }

    /// True for outputs that are written to and not replaced.
    pub fn is_stream(&self) -> bool {
        matches!(self, Target::Stream(_))
    }
}

/// The kernel's own rule (`fs.protected_symlinks`): in a sticky folder that all may write to, only the user's
/// and the folder owner's links are followed.
fn may_follow(link_owner: u32, folder_owner: u32, folder_mode: u32, user: u32) -> bool {
    folder_mode & STICKY != STICKY || link_owner == user || link_owner == folder_owner
}

/// The folder of a name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Writes one output.
///
/// # Errors
/// If it cannot be written; a file that was there is then unchanged.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    write_borrowed(Vec::new(), &[(path, bytes, 0o666)])
}

/// Writes outputs that belong together: no file is there before all are written and on the disk.
///
/// # Errors
/// As [`write()`], for the first that fails.
pub fn write_files(files: &[NewFile]) -> Result<(), OutputError> {
    write_files_with(Vec::new(), files)
}

/// Writes outputs that belong together, some of which were written piece by piece; see [`write_files`].
///
/// # Errors
/// As [`write()`], for the first that fails.
pub fn write_files_with(drafts: Vec<Draft>, files: &[NewFile]) -> Result<(), OutputError> {
    let borrowed: Vec<_> = files
        .iter()
        .map(|new| (new.path.as_path(), new.bytes.as_slice(), new.mode))
        .collect();
    write_borrowed(drafts, &borrowed)
}

fn failed(file: &Path, source: io::Error) -> OutputError {
    OutputError {
        file: file.to_owned(),
        source,
    }
}

fn write_borrowed(drafts: Vec<Draft>, files: &[(&Path, &[u8], u32)]) -> Result<(), OutputError> {
    let (mut staged, mut streams) = (Vec::new(), Vec::new());
    for &(path, bytes, mode) in files {
        match Target::of(path).map_err(|e| failed(path, e))? {
            Target::Stream(stream) => streams.push((path, stream, bytes)),
            Target::File(target, there) => {
                let mut file = Staged::new(target, there, mode).map_err(|e| failed(path, e))?;
                let written = file.file.write_all(bytes).and_then(|()| file.complete());
                written.map_err(|e| failed(path, e))?;
                staged.push((path, file));
            }
        }
    }
    for Draft { path, staged } in &drafts {
        staged.complete().map_err(|e| failed(path, e))?;
    }
    for (path, stream, bytes) in streams {
        let written = system::add_to_stream(&stream).and_then(|mut out| out.write_all(bytes));
        written.map_err(|e| failed(path, e))?;
    }
    for (path, file) in staged {
        file.place().map_err(|e| failed(path, e))?;
    }
    for Draft { path, staged } in drafts {
        staged.place().map_err(|e| failed(&path, e))?;
    }
    Ok(())
}

/// A file that is written piece by piece under its temporary name, and there when [`write_files_with`] gets
/// it. If it never does, nothing is left of it.
pub struct Draft {
    path: PathBuf,
    staged: Staged,
}

impl Draft {
    /// Begins a file. `mode`: its permissions, before the user's mask. A file that is there already keeps its
    /// own.
    ///
    /// # Errors
    /// As [`write()`], and if the name is of a device or a pipe: those take no drafts.
    pub fn new(path: &Path, mode: u32) -> Result<Draft, OutputError> {
        let begin = || match Target::of(path)? {
            Target::Stream(_) => Err(io::Error::other("is no regular file")),
            Target::File(target, there) => Staged::new(target, there, mode),
        };
        Ok(Draft {
            path: path.to_owned(),
            staged: begin().map_err(|e| failed(path, e))?,
        })
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.staged.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.staged.file.flush()
    }
}

/// A file under its temporary name, which is gone when this is dropped.
struct Staged {
    temporary: PathBuf,
    target: PathBuf,
    /// What the file replaces.
    there: Option<Metadata>,
    /// Keeps the lock that says that its writer lives.
    file: File,
}

impl Staged {
    fn new(target: PathBuf, there: Option<Metadata>, mode: u32) -> io::Result<Staged> {
        let (temporary, file) = create_temporary(folder_of(&target), mode)?;
        Ok(Staged {
            temporary,
            target,
            there,
            file,
        })
    }

    /// All of it is written.
    fn complete(&self) -> io::Result<()> {
        keep_permissions(&self.file, self.there.as_ref())?;
        self.file.sync_all()
    }

    fn place(mut self) -> io::Result<()> {
        std::fs::rename(&self.temporary, &self.target)?;
        self.temporary = PathBuf::new();
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            // Nothing more can be done about a file that cannot be removed.
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

/// Makes a file under a name that no other writer uses, and locks it while it is open.
fn create_temporary(folder: &Path, mode: u32) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let unique = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".trodden-{}-{unique}.tmp", std::process::id()));
        match create(&path, mode) {
            // Left by a process that had our id, or laid by somebody: not ours.
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            result => return result.map(|file| (path, file)),
        }
    }
}

/// Makes a file that is not there, and locks it. Never follows a link.
fn create(path: &Path, mode: u32) -> io::Result<File> {
    let file = system::make(path, mode)?;
    // A file system without locks has leftovers that are never cleared, nothing worse.
    let _ = lock(&file);
    Ok(file)
}

fn keep_permissions(file: &File, there: Option<&Metadata>) -> io::Result<()> {
    there.map_or(Ok(()), |there| system::keep_permissions(file, there))
}

/// An output that grows while the program runs: a file under `NAME.part` until it is complete, or a stream.
#[derive(Debug)]
pub struct Growing {
    target: Target,
    /// Where the bytes go now.
    part: PathBuf,
    /// Where the part of an earlier writer, which was killed, is now.
    earlier: Option<PathBuf>,
}

impl Growing {
    /// Opens an output. The part of an earlier writer that was killed is kept as `NAME.old.part`.
    ///
    /// # Errors
    /// As [`Target::of`], and if another process writes it, or the part is there and is no file of this
    /// user's.
    pub fn open(path: &Path) -> io::Result<(Growing, File)> {
        let target = Target::of(path)?;
        let mut earlier = None;
        let (part, file) = match &target {
            Target::Stream(stream) => (stream.clone(), system::add_to_stream(stream)?),
            Target::File(name, _) => {
                let part = with_end(name, ".part");
                let file = match create(&part, 0o666) {
                    Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                        let old = with_end(name, ".old.part");
                        let lock = leftovers::dead_file(&part).map_err(|problem| {
                            io::Error::new(ErrorKind::AlreadyExists, format!("{} {problem}", part.display()))
                        })?;
                        std::fs::rename(&part, &old)?;
                        drop(lock);
                        earlier = Some(old);
                        create(&part, 0o666)?
                    }
                    result => result?,
                };
                (part, file)
            }
        };
        let growing = Growing {
            target,
            part,
            earlier,
        };
        Ok((growing, file))
    }

    /// Where the bytes go until the output is complete.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Where the part of an earlier writer is now, if one was killed.
    pub fn earlier(&self) -> Option<&Path> {
        self.earlier.as_deref()
    }

    /// Gives the complete output its name.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub fn place(&self) -> io::Result<()> {
        match &self.target {
            Target::Stream(_) => Ok(()),
            Target::File(name, there) => {
                if there.is_some() {
                    keep_permissions(&File::open(&self.part)?, there.as_ref())?;
                }
                std::fs::rename(&self.part, name)
            }
        }
    }
}

/// A file name with something behind it.
pub(crate) fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
