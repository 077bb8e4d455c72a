//! Which files are asked.

use std::fmt::{self, Debug};
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;

use crate::log::{Day, State};
use crate::store::Store;
use crate::tables::Table;

/// A Parquet file of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Whose rows it has.
    pub table: Table,
    /// Where it is among the objects of [`Files::store`].
    pub path: Path,
    /// Its length in bytes.
    pub size: u64,
    /// How many rows it has.
    pub rows: u64,
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
    /// The files that a store has in this state.
    pub fn of(store: &Store, state: &State) -> Files {
        let file = |file: &crate::log::FileEntry| DataFile {
            table: file.table,
            path: store.location(file),
            size: file.bytes,
            rows: file.rows,
            service: file.service.clone(),
            build: file.build.clone(),
            day: file.day,
        };
        Files {
            store: store.objects(),
            files: state.all_files().map(file).collect(),
        }
    }

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
        f.debug_struct("Files")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}
