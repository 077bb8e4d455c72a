//! Taking out what is not wanted any more.

use crate::error::StoreError;
use crate::log::{Day, FileEntry, What, Windows};
use crate::store::{Committed, Draft, Store};

/// The files that are to go. Every condition that is given must hold for a file; tables without days go only
/// with their service or build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DropOptions {
    /// Days before this one.
    pub before: Option<Day>,
    /// Only files of this service.
    pub service: Option<String>,
    /// Only files of this build.
    pub build: Option<String>,
}

/// Counts of dropped files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Files.
    pub files: u64,
    /// Their rows.
    pub rows: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// How often it is tried, if a compaction replaces files meanwhile.
const TRIES: u32 = 20;

impl DropOptions {
    fn covers(&self, file: &FileEntry) -> bool {
        let of = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|wanted| wanted == found);
        let old = match (self.before, file.day) {
            (None, _) => true,
            (Some(before), Some(day)) => day < before,
            (Some(_), None) => false,
        };
        old && of(&self.service, &file.service) && of(&self.build, &file.build)
    }
}

impl Store {
    /// Takes files out of the store. They stay where they are until [`Store::vacuum`] deletes them. Windows
    /// that were in them do not come in again.
    ///
    /// # Errors
    /// If nothing says what is to go; if the log cannot be read or written.
    pub async fn drop_files(&self, options: &DropOptions) -> Result<Dropped, StoreError> {
        if *options == DropOptions::default() {
            return Err(StoreError::Usage("nothing says what is to be dropped".to_owned()));
        }
        let mut tries = 0;
        loop {
            let state = self.state().await?;
            let files: Vec<&FileEntry> = state.all_files().filter(|file| options.covers(file)).collect();
            let dropped = Dropped {
                files: files.len() as u64,
                rows: files.iter().map(|file| file.rows).sum(),
                bytes: files.iter().map(|file| file.bytes).sum(),
            };
            if files.is_empty() {
                return Ok(dropped);
            }
            let draft = Draft {
                what: What::Drop,
                added: Vec::new(),
                removed: files.iter().map(|file| file.path.clone()).collect(),
                windows: Windows::default(),
            };
            match self.commit(&draft).await {
                Ok(Committed::Done) => return Ok(dropped),
                // A compaction replaced some: now it is others.
                Err(StoreError::Gone { .. }) if tries < TRIES => tries += 1,
                Ok(Committed::Known(_)) => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }
}
