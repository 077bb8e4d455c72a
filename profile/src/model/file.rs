//! Reading and writing whole profiles.

use std::path::Path;

use crate::model::codec::{LoadError, ReadError, SaveError, WriteError, read, write};
use crate::model::profile::Profile;
use crate::output;

impl Profile {
    /// The profile as a `.trodden` file.
    ///
    /// # Errors
    /// [`WriteError::Invalid`] if the profile breaks a rule of the data model (see `docs/file-format.md`), so that
    /// nothing is written that cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>, WriteError> {
        write::to_bytes(self)
    }

    /// Reads the bytes of a `.trodden` file.
    ///
    /// # Errors
    /// If they are no such file, of a newer version, cut short, damaged or inconsistent.
    pub fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
        read::read(bytes)
    }

    /// Reads a `.trodden` file.
    ///
    /// # Errors
    /// As [`Profile::read`], or if the file cannot be read at all; the error names the file.
    pub fn load(path: impl AsRef<Path>) -> Result<Profile, LoadError> {
        let file = path.as_ref();
        let bytes = std::fs::read(file).map_err(|source| LoadError::Io {
            file: file.to_owned(),
            source,
        })?;
        Profile::read(&bytes).map_err(|source| LoadError::Read {
            file: file.to_owned(),
            source,
        })
    }

    /// Writes a `.trodden` file: whole or not at all, and straight into what is no regular file; see [`output`].
    ///
    /// # Errors
    /// As [`Profile::to_bytes`], or if the file cannot be written; the error names the file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let file = path.as_ref();
        let failed = |source| SaveError {
            file: file.to_owned(),
            source,
        };
        let bytes = self.to_bytes().map_err(failed)?;
        output::write(file, &bytes).map_err(|e| failed(e.source.into()))
    }
}
