//! The folders whose files may be read.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::CliError;

/// Folders with their links followed.
#[derive(Debug)]
pub struct Folders(Vec<PathBuf>);

/// A profile in one of them.
#[derive(Debug)]
pub struct FoundProfile {
    /// Its file.
    pub path: PathBuf,
    /// The file's length.
    pub bytes: u64,
    /// When it was written, if the file system tells.
    pub written: Option<SystemTime>,
}

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum NotRead {
    /// It is not there.
    #[error("{0}: {1} (the tool `profiles` lists profiles)")]
    Missing(String, std::io::Error),
    /// It is somewhere else.
    #[error("{0} is not below the folders that the program was started with: {1}")]
    Outside(String, String),
}

impl Folders {
    /// # Errors
    /// If one of them is not there.
    pub fn new(folders: &[PathBuf]) -> Result<Self, CliError> {
        let real = |folder: &PathBuf| folder.canonicalize().map_err(|e| CliError::file(folder, e));
        Ok(Folders(folders.iter().map(real).collect::<Result<_, _>>()?))
    }

    /// The folders.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(PathBuf::as_path)
    }

    /// True if a file, with its links followed, is below one of the folders.
    pub fn has(&self, file: &Path) -> bool {
        self.0.iter().any(|folder| file.starts_with(folder))
    }

    /// The profiles in the folders, newest first.
    pub fn profiles(&self) -> Vec<FoundProfile> {
        let mut found = Vec::new();
        for folder in &self.0 {
            let mut open = vec![folder.clone()];
            while let Some(folder) = open.pop() {
                for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                    let (Ok(kind), path) = (entry.file_type(), entry.path()) else {
                        continue;
                    };
                    let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                    if kind.is_dir() && !is_hidden {
                        open.push(path);
                    } else if kind.is_file()
                        && path.extension().is_some_and(|extension| extension == "trodden")
                        && let Ok(about) = entry.metadata()
                    {
                        found.push(FoundProfile {
                            path,
                            bytes: about.len(),
                            written: about.modified().ok(),
                        });
                    }
                }
            }
        }
        found.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.path.cmp(&b.path)));
        found
    }

    /// A file or folder by its path, or by its path below one of the folders.
    ///
    /// # Errors
    /// If it is not there, or outside.
    pub fn find(&self, path: &str) -> Result<PathBuf, NotRead> {
        let mut found = Err(std::io::ErrorKind::NotFound.into());
        for folder in &self.0 {
            found = folder.join(path).canonicalize();
            if found.is_ok() {
                break;
            }
        }
        let found = found.map_err(|e| NotRead::Missing(path.to_owned(), e))?;
        if self.has(&found) {
            return Ok(found);
        }
        let folders: Vec<String> = self.0.iter().map(|folder| folder.display().to_string()).collect();
        Err(NotRead::Outside(path.to_owned(), folders.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_are_not_read() {
        let all = tempfile::tempdir().unwrap();
        let (inside, outside) = (all.path().join("in"), all.path().join("out"));
        for folder in [&inside, &outside] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("a.trodden"), "").unwrap();
        }
        std::os::unix::fs::symlink(outside.join("a.trodden"), inside.join("link.trodden")).unwrap();
        let folders = Folders::new(std::slice::from_ref(&inside)).unwrap();
        let here = inside.canonicalize().unwrap().join("a.trodden");
        assert_eq!(folders.find("a.trodden").unwrap(), here);
        assert_eq!(folders.find(here.to_str().unwrap()).unwrap(), here);
        for path in [
            "../out/a.trodden",
            "link.trodden",
            outside.join("a.trodden").to_str().unwrap(),
        ] {
            assert!(matches!(folders.find(path), Err(NotRead::Outside(..))), "{path}");
        }
        assert!(matches!(folders.find("b.trodden"), Err(NotRead::Missing(..))));
    }
}
