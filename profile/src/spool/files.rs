//! The files of a spool folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::hmac::HMAC_END;
use super::name::WindowName;
use crate::output::{clear_leftovers, is_older, with_end};

/// A younger HMAC may be that of a window which is about to get its name.
const SETTLED: Duration = Duration::from_secs(60);

/// A window in a spool folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spooled {
    /// Which one.
    pub name: WindowName,
    /// Its file.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
}

impl Spooled {
    /// The file with its HMAC, whether it is there or not.
    pub fn hmac(&self) -> PathBuf {
        with_hmac(&self.path)
    }
}

/// Why a spool folder cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the spool folder {}: {source}", .folder.display())]
pub struct SpoolError {
    /// The folder.
    pub folder: PathBuf,
    /// What went wrong.
    pub source: io::Error,
}

/// All windows of a spool folder, by name: those of one recording are together, in order. Other files are passed over.
///
/// # Errors
/// If the folder cannot be read.
pub fn list(folder: &Path) -> Result<Vec<Spooled>, SpoolError> {
    let mut windows = Vec::new();
    each_file(folder, |path, data| {
        if let Some(name) = WindowName::of(&path) {
            let bytes = data.len();
            windows.push(Spooled { name, path, bytes });
        }
    })?;
    windows.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(windows)
}

/// The bytes of all files in a spool folder, temporary ones as well.
///
/// # Errors
/// If the folder cannot be read.
pub fn bytes_in(folder: &Path) -> Result<u64, SpoolError> {
    let mut sum = 0u64;
    each_file(folder, |_, data| sum = sum.saturating_add(data.len()))?;
    Ok(sum)
}

/// Removes what killed processes of this user left in a spool folder: temporary files, and HMACs that have stood without their
/// window for a minute. Returns how many files those were. What cannot be removed stays, without an error.
pub fn clear(folder: &Path) -> usize {
    let mut removed = clear_leftovers(folder, |_| false).removed;
    let mut alone = Vec::new();
    let _ = each_file(folder, |path, data| {
        let Some(window) = path.to_str().and_then(|path| path.strip_suffix(HMAC_END)) else {
            return;
        };
        if is_older(&data, SETTLED)
            && WindowName::of(Path::new(window)).is_some()
            && !Path::new(window).exists()
        {
            alone.push(path);
        }
    });
    for path in alone {
        removed += usize::from(fs::remove_file(path).is_ok());
    }
    removed
}

/// The file with a window's HMAC, whether it is there or not.
pub fn with_hmac(window: &Path) -> PathBuf {
    with_end(window, HMAC_END)
}

fn each_file(folder: &Path, mut each: impl FnMut(PathBuf, fs::Metadata)) -> Result<(), SpoolError> {
    let failed = |source| SpoolError {
        folder: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // A file that is gone by now was shipped.
        if let Ok(data) = entry.metadata()
            && data.is_file()
        {
            each(entry.path(), data);
        }
    }
    Ok(())
}
