//! Where a run's profile goes that no option names: one folder, which holds the latest of them and no more.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trodden_profile::options::FilePattern;

use crate::error::CliError;
use crate::memory;

/// Most profiles in the folder.
pub const MAX_KEPT: usize = 20;

/// The folder of recent runs.
pub struct RecentRuns {
    folder: PathBuf,
}

impl RecentRuns {
    /// `runs` in [the folder of what is kept](memory::folder); `None` if there is no place for it.
    pub fn find() -> Option<Self> {
        let here = env::current_dir().ok()?;
        let folder = memory::folder(&here, |name| env::var(name).ok())?.join("runs");
        fs::create_dir_all(&folder).ok()?;
        Some(RecentRuns { folder })
    }

    /// A file of this run: no other run's names match, though several may run at once.
    ///
    /// # Errors
    /// If the folder's name is not UTF-8.
    pub fn file(&self) -> Result<FilePattern, CliError> {
        let folder = self.folder.to_str();
        let folder = folder.ok_or_else(|| CliError::file(&self.folder, "the name is not UTF-8"))?;
        let name: FilePattern = "%t-%p".parse().map_err(CliError::failed)?;
        let name = name
            .expand(std::process::id(), SystemTime::now(), |_| None)
            .map_err(CliError::failed)?;
        let start = FilePattern::literal(&format!("{folder}/{name}"));
        format!("{start}-%p.trodden").parse().map_err(CliError::failed)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes all but the latest profiles.
    pub fn forget_the_oldest(&self) {
        memory::keep_latest(&self.folder, ".trodden", MAX_KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_runs_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let runs = RecentRuns {
            folder: folder.path().to_owned(),
        };
        let file = runs.file().unwrap();
        assert!(file.has_pid(), "{file}");
        for index in 0..MAX_KEPT + 3 {
            let name = folder.path().join(format!("{index}.trodden"));
            fs::write(&name, "").unwrap();
            let age = std::time::Duration::from_secs(1000 - index as u64);
            let file = fs::File::options().write(true).open(name).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        }
        fs::write(folder.path().join("mine"), "").unwrap();
        runs.forget_the_oldest();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MAX_KEPT + 1);
        assert!(!folder.path().join("2.trodden").exists() && folder.path().join("3.trodden").exists());
    }
}
