//! Systems that are not Unix.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// All users are one.
pub fn user() -> u32 {
    0
}

/// All files are this user's.
pub fn owner(_: &Metadata) -> u32 {
    0
}

/// None are looked at.
pub fn mode(_: &Metadata) -> u32 {
    0
}

/// It is not known.
pub fn has_one_name(_: &Metadata) -> bool {
    false
}

/// Makes a file that is not there.
pub fn make(path: &Path, _: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Opens a file to read.
pub fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a folder, which not all systems do.
pub fn open_folder(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// There are no locks.
pub fn lock(_: &File) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// There are no locks.
pub fn lock_shared(_: &File) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// There are no locks.
pub fn await_lock(_: &File) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// A new file may be written to; no more is known of the one that it replaces.
pub fn keep_permissions(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Opens a device, to be written to.
pub fn add_to_stream(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}
