//! Which files are asked.

use std::fmt::{self, Debug};
use std::sync::Arc;

use object_store::ObjectStore;

use super::day::Day;
use crate::tables::Table;

/// A Parquet file of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Whose rows it has.
    pub table: Table,
    /// Where it is, below the store's place.
    pub path: String,
    /// Its length in bytes.
    pub size: u64,
    /// The service of all of its rows.
    pub service: String,
    /// The build of all of its rows.
    pub build: String,
    /// The day of all of its rows; `None` for tables without days.
    pub day: Option<Day>,
}

/// The files of a store at one time, and where to read them.
#[derive(Clone)]
pub struct Files {
    /// Reads [`DataFile::path`].
    pub store: Arc<dyn ObjectStore>,
    /// All of them.
    pub files: Vec<DataFile>,
}

impl Files {
    /// The newest day of which there is anything.
    pub fn newest(&self) -> Option<Day> {
        self.files.iter().filter_map(|file| file.day).max()
    }

    /// Builds of all services, without their services, each once.
    pub fn builds(&self) -> Vec<&str> {
        distinct(self.files.iter().map(|file| file.build.as_str()))
    }

    /// Services, each once.
    pub fn services(&self) -> Vec<&str> {
        distinct(self.files.iter().map(|file| file.service.as_str()))
    }
}

impl Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").field("files", &self.files).finish_non_exhaustive()
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}
