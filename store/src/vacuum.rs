//! Deleting files that do not count any more.

use std::time::Duration;

use object_store::ObjectMeta;
use object_store::path::Path;

use crate::error::StoreError;
use crate::log::{DATA, LogFile};
use crate::store::{Store, now_ms};

/// How long files stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VacuumOptions {
    /// Time after they were removed: a reader that knows them may need this long.
    pub removed: Duration,
    /// Time if no commit names them: a writer may need this long before it commits them.
    pub unknown: Duration,
    /// Time for commits that a checkpoint has summed up: a writer may be behind this long.
    pub log: Duration,
}

impl Default for VacuumOptions {
    fn default() -> Self {
        VacuumOptions {
            removed: Duration::from_secs(3600),
            unknown: Duration::from_secs(86_400),
            log: Duration::from_secs(7 * 86_400),
        }
    }
}

/// Counts of deleted files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vacuumed {
    /// Data files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files of the log.
    pub log_files: u64,
    /// Files of published tables: metadata, snapshots, manifests.
    pub published: u64,
    /// Half-written files of writers that were killed.
    pub drafts: u64,
    /// Folders that nothing was left in.
    pub folders: u64,
}

impl Store {
    /// Deletes files that no state has any more. Safe with concurrent writers and readers, provided that
    /// these need no longer than files stay.
    ///
    /// # Errors
    /// If the store cannot be listed, or a file cannot be deleted.
    pub async fn vacuum(&self, options: &VacuumOptions) -> Result<Vacuumed, StoreError> {
        let mut done = Vacuumed::default();
        // Files are listed first: whatever is committed then is in the state already, or too young.
        let listed = self.listed(DATA).await?;
        // The newest published snapshot names none of what goes; older ones stay as long as readers may need them.
        let mut state = self.state().await?;
        let mut named_since = None;
        if self.is_published().await? {
            let commit;
            (commit, done.published) = self.clear_shelf(options.removed, options.unknown).await?;
            named_since = self.shelf().await?.oldest_before(commit);
            state = self.state().await?;
        }
        let now = now_ms();
        let is_over =
            |at_ms: u64, length: Duration| u128::from(now.saturating_sub(at_ms)) >= length.as_millis();
        let age = |meta: &ObjectMeta| u64::try_from(meta.last_modified.timestamp_millis()).unwrap_or(0);
        for meta in listed {
            let path = self.within(&meta.location);
            if state.file(path.as_ref()).is_some() {
                continue;
            }
            let goes = match state.removed_at(path.as_ref()) {
                Some(at) => is_over(at, options.removed) && named_since.is_none_or(|since| at < since),
                None => is_over(age(&meta), options.unknown),
            };
            if goes {
                done.files += self.delete(vec![meta.location]).await?;
                done.bytes += meta.size;
            }
        }
        let log = self.log_files(None).await?;
        let newest = log.iter().filter_map(|(file, _)| match file {
            LogFile::Checkpoint(version) => Some(*version),
            LogFile::Commit(_) => None,
        });
        if let Some(newest) = newest.max() {
            let old = log.iter().filter(|(file, meta)| {
                let before = match file {
                    LogFile::Commit(version) => *version <= newest,
                    LogFile::Checkpoint(version) => *version < newest,
                };
                before && is_over(age(meta), options.log)
            });
            let mut old: Vec<&Path> = old.map(|(_, meta)| &meta.location).collect();
            // The oldest first: if this ends half-way, what is left has no gap.
            old.sort_unstable();
            done.log_files = self.delete(old.into_iter().cloned().collect()).await?;
        }
        if let Some(folder) = self.place().as_folder() {
            let (folder, unknown) = (folder.to_owned(), options.unknown);
            let cleared = tokio::task::spawn_blocking(move || {
                let mut cleared = Cleared::default();
                cleared.clear(&folder, &folder.join(DATA), unknown);
                cleared
            });
            let cleared = cleared.await.unwrap_or_default();
            (done.drafts, done.folders) = (cleared.drafts, cleared.folders);
        }
        Ok(done)
    }
}

/// Counts of deleted files other than those that commits name.
#[derive(Default)]
struct Cleared {
    drafts: u64,
    folders: u64,
}

impl Cleared {
    /// Deletes files of at least this age that killed writers left half-written; and empty folders in `data`,
    /// the innermost first: a writer of a file makes its folders again. Links are not followed.
    fn clear(&mut self, folder: &std::path::Path, data: &std::path::Path, age: Duration) {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        for entry in entries.flatten() {
            let Ok(about) = entry.metadata() else {
                continue;
            };
            if about.is_dir() {
                self.clear(&entry.path(), data, age);
                // It fails where there is something.
                let gone = folder.starts_with(data) && std::fs::remove_dir(entry.path()).is_ok();
                self.folders += u64::from(gone);
            } else if is_draft(&entry.file_name()) {
                let old = about
                    .modified()
                    .is_ok_and(|at| at.elapsed().is_ok_and(|since| since >= age));
                self.drafts += u64::from(old && std::fs::remove_file(entry.path()).is_ok());
            }
        }
    }
}

fn is_draft(name: &std::ffi::OsStr) -> bool {
    let digits = |name: &str| Some(name.rsplit_once('#')?.1.to_owned());
    let digits = name.to_str().and_then(digits);
    digits.is_some_and(|digits| digits.len() > 20 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}
