//! Unix: `stat`, `flock`, `O_NOFOLLOW`.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, fcntl_setfl, flock};
use rustix::io::Errno;

/// How long a pipe may wait for its reader.
const READER: Duration = Duration::from_secs(10);

/// This process's user.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The user that a file belongs to.
pub fn owner(data: &Metadata) -> u32 {
    data.uid()
}

/// Permissions, with the bits for the kind of file.
pub fn mode(data: &Metadata) -> u32 {
    data.mode()
}

/// True for files without a second name (hard link).
pub fn has_one_name(data: &Metadata) -> bool {
    data.nlink() == 1
}

/// Makes a file that is not there; a link in its place is not followed. `mode`: before the user's mask.
pub fn make(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
}

/// Opens a file or folder to read; follows no link, and waits for no pipe.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::NOFOLLOW | OFlags::NONBLOCK)
}

/// Opens a folder, to lock it.
pub fn open_folder(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::DIRECTORY)
}

fn open_with(path: &Path, flags: OFlags) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)
}

/// Locks an open file while it is open.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock) if another process has locked it; another one if its file system knows no locks.
pub fn lock(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?)
}

/// Locks an open file against [`lock`] only.
pub fn lock_shared(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::NonBlockingLockShared)?)
}

/// As [`lock_shared`], and waits for it.
pub fn await_lock(file: &File) -> io::Result<()> {
    loop {
        match flock(file, FlockOperation::LockShared) {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

/// Gives a new file the permissions, and if possible the owner, of the one that it replaces.
pub fn keep_permissions(file: &File, there: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (there.uid(), there.gid()) {
        // Only root may give files away.
        let _ = fchown(file, Some(there.uid()), Some(there.gid()));
    }
    file.set_permissions(Permissions::from_mode(there.mode() & 0o777))
}

/// Opens a device or pipe, to be written to. A pipe has some seconds for its reader to come: the writer must not hang.
pub fn add_to_stream(path: &Path) -> io::Result<File> {
    let start = Instant::now();
    let file = loop {
        // An open file of a process is added to, as `>> file` would.
        let opened = OpenOptions::new()
            .append(true)
            .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32)
            .open(path);
        match opened {
            Err(e) if e.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                if !std::fs::metadata(path)?.file_type().is_fifo() {
                    return Err(e);
                }
                if start.elapsed() > READER {
                    return Err(io::Error::other("no process reads from this pipe"));
                }
                thread::sleep(Duration::from_millis(20));
            }
            opened => break opened?,
        }
    };
    fcntl_setfl(&file, OFlags::APPEND)?;
    Ok(file)
}
