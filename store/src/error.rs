//! Errors of a store.

use std::num::ParseIntError;
use std::path::PathBuf;

use datafusion::arrow::error::ArrowError;
use datafusion::parquet::errors::ParquetError;
use object_store::path::Path;

use crate::log::Day;

/// Why something was not done with a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The name of a place says none.
    #[error("'{place}' is no place for a store: {reason}")]
    Place {
        /// As given.
        place: String,
        /// Description of the fault.
        reason: String,
    },
    /// There is no store.
    #[error("there is no store at {place} (`trodden store add --create` makes one)")]
    NoStore {
        /// Where it was looked for.
        place: String,
    },
    /// A file of the store cannot be read, or written.
    #[error("{place}: cannot {action} {path}: {source}")]
    Object {
        /// The store.
        place: String,
        /// The action: `read`, `write`, `list`, `delete`.
        action: &'static str,
        /// Which file.
        path: Path,
        /// The cause.
        source: Box<object_store::Error>,
    },
    /// A file of the store is not what it should be.
    #[error("{place}: {path} is damaged: {reason}")]
    Damaged {
        /// The store.
        place: String,
        /// Which file.
        path: Path,
        /// Description of the fault.
        reason: String,
    },
    /// A file of the store is of a version that this program does not know.
    #[error(
        "{place}: {path} has format version {found}; this program reads 1..={newest}: a newer one is needed"
    )]
    Newer {
        /// The store.
        place: String,
        /// Which file.
        path: Path,
        /// The version in the file.
        found: u64,
        /// The newest version that is read.
        newest: u64,
    },
    /// The answer to a commit was lost, and the log could not be asked: its files may be needed.
    #[error("it is not known whether the commit arrived, and the same may be given again: {0}")]
    Unsure(#[source] Box<StoreError>),
    /// Windows could not be shipped.
    #[error("{0}")]
    Ship(String),
    /// Others were faster, every time.
    #[error("{place}: {tries} others wrote at the same time, each a moment before; try again")]
    Busy {
        /// The store.
        place: String,
        /// How often it was tried.
        tries: u32,
    },
    /// Files that were to be replaced are not there any more.
    #[error("{place}: {path} was removed by another process at the same time")]
    Gone {
        /// The store.
        place: String,
        /// Which file.
        path: Path,
    },
    /// A profile cannot be used.
    #[error("{}: {reason}", .file.display())]
    Profile {
        /// The file.
        file: PathBuf,
        /// Description of the fault.
        reason: String,
    },
    /// Arrow, Parquet or DataFusion failed.
    #[error("cannot {action}: {reason}")]
    Tables {
        /// The action.
        action: String,
        /// The reason that they give.
        reason: String,
    },
    /// A check of the store's contents failed.
    #[error("{0}")]
    Broken(String),
    /// The arguments make no sense together.
    #[error("{0}")]
    Usage(String),
}

/// Why a Parquet file is not what its table and the log say.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unfit {
    /// It is no Parquet file, or a damaged one.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// Its columns cannot be read.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    #[error("it has no column '{0}'")]
    NoColumn(String),
    #[error("it has another column '{0}', or none than its table")]
    OtherColumn(String),
    #[error("it has more columns than its table")]
    MoreColumns,
    #[error("the column '{0}' has no numbers")]
    NoNumbers(String),
    #[error("the column '{column}' has the number {number}")]
    Negative { column: String, number: i64 },
    #[error("the sum of '{0}' does not fit into 63 bits")]
    Overflow(String),
    /// A key is no hexadecimal number.
    #[error(transparent)]
    Key(#[from] ParseIntError),
    #[error("it has rows of the {column} '{found}'; the log says '{expected}'")]
    OtherName {
        column: &'static str,
        found: String,
        expected: String,
    },
    #[error("it has rows of {found}; the log says {expected}")]
    OtherDay { found: Day, expected: Day },
    #[error("its number of rows is {found}; the log says {expected}")]
    OtherRows { found: u64, expected: u64 },
    #[error("its number of windows is {found}; the log says {expected}")]
    OtherWindows { found: i128, expected: u64 },
}

impl Unfit {
    pub fn no_column(name: &str) -> Unfit {
        Unfit::NoColumn(name.to_owned())
    }
}

impl StoreError {
    /// Returns true if the error is that a file is not there.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, StoreError::Object { source, .. } if matches!(**source, object_store::Error::NotFound { .. }))
    }

    /// Bytes of a file, by number and SHA-256, are others than the log says.
    pub(crate) fn other_bytes(place: &str, path: &Path, found: (u64, &str), expected: (u64, &str)) -> Self {
        StoreError::Damaged {
            place: place.to_owned(),
            path: path.clone(),
            reason: format!(
                "it has {} bytes with the SHA-256 {}; the log says {} bytes with {}",
                found.0, found.1, expected.0, expected.1
            ),
        }
    }

    /// From what Arrow, Parquet or DataFusion say.
    pub(crate) fn tables(action: impl Into<String>, reason: impl ToString) -> Self {
        StoreError::Tables {
            action: action.into(),
            reason: reason.to_string(),
        }
    }
}
