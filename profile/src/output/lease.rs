//! A file that one process locks for as long as it lives, and another one waits for. The kernel releases the
//! lock (`flock`) when the process ends, however it ends and whichever container it ran in.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// The file, seen from either side.
#[derive(Debug)]
pub struct Lease {
    file: File,
}

impl Lease {
    /// Makes the file, and locks it until the lease is dropped or the process ends.
    ///
    /// # Errors
    /// If it is there already, cannot be made, or the file system knows no locks.
    pub fn hold(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o644)
            .open(path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Lease { file })
    }

    /// Opens the file that another process locks.
    ///
    /// # Errors
    /// If it cannot be opened, or no process holds a lock on it.
    pub fn of_another(path: &Path) -> io::Result<Self> {
        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits() as i32)
            .open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Err(io::Error::other("nobody holds a lock on it")),
            Err(Errno::WOULDBLOCK) => Ok(Lease { file }),
            Err(error) => Err(error.into()),
        }
    }

    /// Has the process that holds the lock ended? Does not wait.
    pub fn is_over(&self) -> bool {
        flock(&self.file, FlockOperation::NonBlockingLockShared).is_ok()
    }

    /// Waits until the process that holds the lock has ended. Costs nothing meanwhile: the kernel wakes the thread up.
    ///
    /// # Errors
    /// If the kernel refuses to wait.
    pub fn await_end(&self) -> io::Result<()> {
        loop {
            match flock(&self.file, FlockOperation::LockShared) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
