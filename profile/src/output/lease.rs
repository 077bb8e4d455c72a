//! A file that one process locks for as long as it lives, and another one waits for. The kernel releases the
//! lock (`flock`) when the process ends, however it ends and whichever container it ran in.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::system;

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
        let file = system::make(path, 0o644)?;
        system::lock(&file)?;
        Ok(Lease { file })
    }

    /// Opens the file that another process locks.
    ///
    /// # Errors
    /// If it cannot be opened, or no process holds a lock on it.
    pub fn of_another(path: &Path) -> io::Result<Self> {
        let file = system::open(path)?;
        match system::lock_shared(&file) {
            Ok(()) => Err(io::Error::other("nobody holds a lock on it")),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Lease { file }),
            Err(error) => Err(error),
        }
    }

    /// Has the process that holds the lock ended? Does not wait.
    pub fn is_over(&self) -> bool {
        system::lock_shared(&self.file).is_ok()
    }

    /// Waits until the process that holds the lock has ended. Costs nothing meanwhile: the kernel wakes the thread up.
    ///
    /// # Errors
    /// If the kernel refuses to wait.
    pub fn await_end(&self) -> io::Result<()> {
        system::await_lock(&self.file)
    }
}
