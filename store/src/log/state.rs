//! The state of a store after some commit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Commit, FileEntry, Windows};
use crate::tables::Table;

/// All commits up to one, added up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    version: u64,
    at_ms: u64,
    files: BTreeMap<Table, BTreeMap<String, FileEntry>>,
    windows: Windows,
    /// When files were removed, by path: until they are forgotten, they are known to be of this store.
    removed: BTreeMap<String, u64>,
}

/// Why a commit does not fit the state before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// A number is missing.
    #[error("commit {found} comes after commit {after}")]
    Number {
        /// The commit's own.
        found: u64,
        /// That of the commit before it.
        after: u64,
    },
    /// A file is removed that is not there.
    #[error("it removes {0}, which is not there")]
    NotThere(String),
    /// A file is added twice.
    #[error("it adds {0}, which is there already")]
    ThereAlready(String),
}

impl State {
    /// Number of the last commit; 0: there is none yet.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// When the last commit was made, in milliseconds since 1970-01-01.
    pub fn at_ms(&self) -> u64 {
        self.at_ms
    }

    /// The files of a table, by path.
    pub fn files(&self, table: Table) -> impl Iterator<Item = &FileEntry> {
        self.files.get(&table).into_iter().flat_map(BTreeMap::values)
    }

    /// The files of all tables.
    pub fn all_files(&self) -> impl Iterator<Item = &FileEntry> {
        self.files.values().flat_map(BTreeMap::values)
    }

    /// A file by its path.
    pub fn file(&self, path: &str) -> Option<&FileEntry> {
        self.files.values().find_map(|files| files.get(path))
    }

    /// The windows that came in, whatever became of their rows.
    pub fn windows(&self) -> &Windows {
        &self.windows
    }

    /// Files that were removed, with the time when they were.
    pub fn removed(&self) -> impl Iterator<Item = (&str, u64)> {
        self.removed.iter().map(|(path, &at)| (path.as_str(), at))
    }

    /// When a file was removed, if it was and is not forgotten.
    pub fn removed_at(&self, path: &str) -> Option<u64> {
        self.removed.get(path).copied()
    }

    /// Forgets files that were removed before this time.
    pub(crate) fn forget_removed_before(&mut self, at_ms: u64) {
        self.removed.retain(|_, at| *at >= at_ms);
    }

    /// The state after one more commit.
    ///
    /// # Errors
    /// If the commit does not fit.
    pub(crate) fn apply(&mut self, commit: &Commit) -> Result<(), Misfit> {
        if Some(commit.version) != self.version.checked_add(1) {
            return Err(Misfit::Number {
                found: commit.version,
                after: self.version,
            });
        }
        for path in &commit.removed {
            let found = self.files.values_mut().any(|files| files.remove(path).is_some());
            if !found {
                return Err(Misfit::NotThere(path.clone()));
            }
            self.removed.insert(path.clone(), commit.at_ms);
        }
        for file in &commit.added {
            let files = self.files.entry(file.table).or_default();
            if files.insert(file.path.clone(), file.clone()).is_some() {
                return Err(Misfit::ThereAlready(file.path.clone()));
            }
        }
        self.windows.add(&commit.windows);
        self.version = commit.version;
        self.at_ms = self.at_ms.max(commit.at_ms);
        Ok(())
    }
}
