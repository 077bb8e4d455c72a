//! Can a file be written where an option says? To be asked before the program runs, not after.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::output::folder_of;

/// Why a file cannot be written to its place.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Its folder is not there.
    #[error("{}: the folder {} does not exist; create it, or choose another place", .file.display(), .folder.display())]
    NoFolder {
        /// The file.
        file: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
    /// What is taken for its folder is a file.
    #[error("{}: {} is not a folder", .file.display(), .folder.display())]
    NotAFolder {
        /// The file.
        file: PathBuf,
        /// What is not a folder.
        folder: PathBuf,
    },
    /// There is a folder of that name.
    #[error("{}: is a folder; name a file in it", .0.display())]
    IsAFolder(PathBuf),
    /// Files cannot be made in its folder.
    #[error("{}: no file can be written to the folder {}: {reason}; choose another place", .file.display(), .folder.display())]
    NotWritable {
        /// The file.
        file: PathBuf,
        /// Its folder.
        folder: PathBuf,
        /// What the system says.
        reason: std::io::Error,
    },
}

/// Checks that a file can be made, or replaced, at this place. A file is made in its folder for a moment:
/// only that shows it for every kind of file system.
///
/// What is there and no regular file (a device, a pipe) is left for the writer to judge.
///
/// # Errors
/// Says what is in the way.
pub fn check_place(file: &Path) -> Result<(), PlaceError> {
    // A link leads to where the file is.
    let real = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    match fs::metadata(&real) {
        Ok(data) if data.is_dir() => return Err(PlaceError::IsAFolder(file.to_owned())),
        Ok(data) if !data.is_file() => return Ok(()),
        _ => {}
    }
    let folder = folder_of(&real).to_owned();
    let file = file.to_owned();
    match fs::metadata(&folder) {
        Ok(data) if !data.is_dir() => return Err(PlaceError::NotAFolder { file, folder }),
        Err(e) if e.kind() == ErrorKind::NotFound => return Err(PlaceError::NoFolder { file, folder }),
        Err(e) if e.kind() == ErrorKind::NotADirectory => {
            return Err(PlaceError::NotAFolder { file, folder });
        }
        Err(reason) => return Err(PlaceError::NotWritable { file, folder, reason }),
        Ok(_) => {}
    }
    let probe = folder.join(format!(".trodden-{}.check", std::process::id()));
    match OpenOptions::new().write(true).create_new(true).open(&probe) {
        Ok(_) => {
            let _ = fs::remove_file(&probe);
            Ok(())
        }
        // Another thread of this process is just doing the same.
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(reason) => Err(PlaceError::NotWritable { file, folder, reason }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "").unwrap();
        assert!(check_place(&path("new")).is_ok() && check_place(&path("file")).is_ok());
        for (name, expected) in [
            ("no/such/x.trodden", "no/such does not exist; create it"),
            ("file/x.trodden", "file is not a folder"),
            ("", "is a folder; name a file in it"),
        ] {
            let error = check_place(&path(name)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        // No user, root included, makes files there.
        if Path::new("/proc/self").exists() {
            let error = check_place(Path::new("/proc/self/x.trodden"))
                .unwrap_err()
                .to_string();
            assert!(error.contains("no file can be written to the folder"), "{error}");
        }
        assert!(check_place(Path::new("/dev/null")).is_ok());
        // Nothing is left behind.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
