//! Errors of a store.

use std::path::PathBuf;

use object_store::path::Path;

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

impl StoreError {
    /// Returns true if the error is that a file is not there.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, StoreError::Object { source, .. } if matches!(**source, object_store::Error::NotFound { .. }))
    }

    /// From what Arrow, Parquet or DataFusion say.
    pub(crate) fn tables(action: impl Into<String>, reason: impl ToString) -> Self {
        StoreError::Tables {
            action: action.into(),
            reason: reason.to_string(),
        }
    }
}
