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
    /// SHA-256 of its bytes, as 64 hexadecimal digits.
    pub sha256: String,
    /// The service of all of its rows.
    pub service: String,
    /// The build of all of its rows.
    pub build: String,
    /// The day of all of its rows; `None` for tables without days.
    pub day: Option<Day>,
}

/// Windows of a recording that did not come in, although a later one did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The recording.
    pub jvm: String,
    /// The first number.
    pub from_window: u64,
    /// The last number.
    pub to_window: u64,
}

/// The files of a store at one time, and where to read them.
#[derive(Clone)]
pub struct Files {
    /// Reads [`DataFile::path`].
    pub store: Arc<dyn ObjectStore>,
    /// The store's name, for messages.
    pub place: String,
    /// All of them.
    pub files: Vec<DataFile>,
    /// Windows that are missing, by the log.
    pub gaps: Vec<Gap>,
    /// The day of the last commit.
    pub committed: Day,
}

impl Files {
    /// The files that a store has in this state.
    pub fn of(store: &Store, state: &State) -> Files {
        let file = |file: &crate::log::FileEntry| DataFile {
            table: file.table,
            path: store.location(file),
            size: file.bytes,
            rows: file.rows,
            sha256: file.sha256.clone(),
            service: file.service.clone(),
            build: file.build.clone(),
            day: file.day,
        };
        let gaps = state.windows().iter().flat_map(|(jvm, windows)| {
            windows.gaps().map(|(from_window, to_window)| Gap {
                jvm: jvm.to_owned(),
                from_window,
                to_window,
            })
        });
        Files {
            store: store.objects(),
            place: store.place().text().to_owned(),
            files: state.all_files().map(file).collect(),
            gaps: gaps.collect(),
            committed: Day::of_ms(i64::try_from(state.at_ms()).unwrap_or(i64::MAX)),
        }
    }

    /// The newest day of which there is anything; days after the one that follows the last commit only if
    /// there is nothing else, as clocks that were wrong say so.
    pub fn newest(&self) -> Option<Day> {
        let days = || self.files.iter().filter_map(|file| file.day);
        let latest = self.committed.0.saturating_add(1);
        days()
            .filter(|day| day.0 <= latest)
            .max()
            .or_else(|| days().max())
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
