//! A store: its objects, and its log.

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, WriteMultipart};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::durable;
use crate::error::StoreError;
use crate::log::{
    self, CHECKPOINT_EVERY, Commit, FileEntry, HINT, Hint, LOG, LogFile, ROOT_FILE, Root, State, Unreadable,
    What, Windows, checkpoint_name, commit_name,
};
use crate::place::Place;

pub(crate) const ROOT_FORMAT: &str = "trodden-store";
const COMMIT_FORMAT: &str = "trodden-store-commit";
const CHECKPOINT_FORMAT: &str = "trodden-store-checkpoint";
const HINT_FORMAT: &str = "trodden-store-hint";

/// How often a commit is tried.
const TRIES: u32 = 200;
/// A state that is older is read again: commits after it may have been deleted, of which only their sum is
/// left.
const FRESH: Duration = Duration::from_secs(3600);
/// Larger files go into an object store in parts: each has the time of a request.
const IN_PARTS: usize = 16 << 20;
/// Files of the log that are read at a time.
const AT_ONCE: usize = 16;

/// A store. Cheap to clone; clones share what they know of the log.
#[derive(Clone, Debug)]
pub struct Store {
    place: Place,
    known: Arc<Mutex<Option<Known>>>,
}

#[derive(Clone, Debug)]
struct Known {
    state: Arc<State>,
    at: SystemTime,
}

/// The changes that are to be committed.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub what: What,
    pub added: Vec<FileEntry>,
    pub removed: Vec<String>,
    pub windows: Windows,
}

/// The outcome of a commit.
#[derive(Debug)]
pub(crate) enum Committed {
    /// It is in the log.
    Done,
    /// Nothing was written: another writer brought some of the same windows meanwhile.
    Known(Arc<State>),
}

impl Store {
    /// Opens the store at a place.
    ///
    /// # Errors
    /// If there is none, or its root file cannot be read, or is of a newer version.
    pub async fn open(place: &Place) -> Result<Store, StoreError> {
        let store = Store::at(place);
        match store.read_as::<Root>(ROOT_FILE, ROOT_FORMAT).await {
            Ok(_) => Ok(store),
            Err(error) if error.is_not_found() => Err(StoreError::NoStore {
                place: place.text.clone(),
            }),
            Err(error) => Err(error),
        }
    }

    /// Makes a store at a place, or opens the one that is there.
    ///
    /// # Errors
    /// If it cannot be written; if a folder has other files in it already; and as [`Store::open`].
    pub async fn create(place: &Place) -> Result<Store, StoreError> {
        match Store::open(place).await {
            Err(StoreError::NoStore { .. }) => {}
            other => return other,
        }
        let store = Store::at(place);
        let first = place.objects.list(store.prefix()).next().await;
        if let Some(Ok(other)) = first.filter(|_| place.folder.is_some()) {
            return Err(StoreError::Place {
                place: place.text.clone(),
                reason: format!("it is no store and has other files in it ({})", other.location),
            });
        }
        let root = Root { created_ms: now_ms() };
        // A second writer finds it there, which is as good.
        store.write_new(ROOT_FILE, text(ROOT_FORMAT, &root)?).await?;
        Store::open(place).await
    }

    fn at(place: &Place) -> Store {
        Store {
            place: place.clone(),
            known: Arc::default(),
        }
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The objects among which its files are.
    pub fn objects(&self) -> Arc<dyn ObjectStore> {
        Arc::clone(&self.place.objects)
    }

    /// Where a file is among the [objects](Self::objects).
    pub fn location(&self, file: &FileEntry) -> Path {
        self.path(&file.path)
    }

    /// A path from the root of the store.
    pub(crate) fn path(&self, path: &str) -> Path {
        let parts = path.split('/').filter_map(|part| Path::parse(part).ok());
        let parts: Vec<Path> = parts.collect();
        let inner = parts.iter().flat_map(Path::parts);
        Path::from_iter(self.place.prefix.parts().chain(inner))
    }

    /// A path among the objects, from the root of the store.
    pub(crate) fn within(&self, path: &Path) -> Path {
        match path.prefix_match(&self.place.prefix) {
            Some(parts) => Path::from_iter(parts),
            None => path.clone(),
        }
    }

    fn prefix(&self) -> Option<&Path> {
        Some(&self.place.prefix)
    }

    /// The state of the store now.
    ///
    /// # Errors
    /// If the log cannot be read, or is damaged.
    pub async fn state(&self) -> Result<Arc<State>, StoreError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let fresh = known.filter(|known| known.at.elapsed().is_ok_and(|age| age < FRESH));
        let state = match fresh {
            Some(known) => self.catch_up(known.state).await?,
            None => Arc::new(self.load().await?),
        };
        self.remember(&state);
        Ok(state)
    }

    fn remember(&self, state: &Arc<State>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known
            .as_ref()
            .is_none_or(|known| known.state.version() <= state.version())
        {
            *known = Some(Known {
                state: Arc::clone(state),
                at: SystemTime::now(),
            });
        }
    }

    /// Commits after a state, one after the other, until there is none.
    async fn catch_up(&self, mut state: Arc<State>) -> Result<Arc<State>, StoreError> {
        while let Some(commit) = self.commit_of(state.version() + 1).await? {
            self.apply(Arc::make_mut(&mut state), &commit)?;
        }
        Ok(state)
    }

    fn apply(&self, state: &mut State, commit: &Commit) -> Result<(), StoreError> {
        let version = state.version() + 1;
        state
            .apply(commit)
            .map_err(|reason| self.damaged(self.path(&commit_name(version)), reason))
    }

    /// The commit with a number, if there is one.
    async fn commit_of(&self, version: u64) -> Result<Option<Commit>, StoreError> {
        match self.read_as(&commit_name(version), COMMIT_FORMAT).await {
            Ok(commit) => Ok(Some(commit)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn load(&self) -> Result<State, StoreError> {
        // A hint that is not there, or damaged, only costs time.
        let hint: Option<Hint> = self.read_as(HINT, HINT_FORMAT).await.ok();
        let after = hint.map(|hint| hint.version).filter(|&version| version > 0);
        let mut files = self.log_files(after).await?;
        if after.is_some()
            && !files
                .iter()
                .any(|(file, _)| matches!(file, LogFile::Checkpoint(_)))
        {
            files = self.log_files(None).await?;
        }
        let checkpoints = files.iter().filter_map(|(file, _)| match file {
            LogFile::Checkpoint(version) => Some(*version),
            LogFile::Commit(_) => None,
        });
        let newest = checkpoints.max();
        let mut state = match newest {
            Some(version) => {
                let name = checkpoint_name(version);
                let state: State = self.read_as(&name, CHECKPOINT_FORMAT).await?;
                if state.version() == version {
                    state
                } else {
                    let reason = format!("it is of commit {}", state.version());
                    return Err(self.damaged(self.path(&name), reason));
                }
            }
            None => State::default(),
        };
        let mut versions: Vec<u64> = files
            .iter()
            .filter_map(|(file, _)| match file {
                LogFile::Commit(version) if *version > state.version() => Some(*version),
                _ => None,
            })
            .collect();
        versions.sort_unstable();
        for (expected, &found) in (state.version() + 1..).zip(&versions) {
            if expected != found {
                let reason = format!("it is missing, and commit {found} is there");
                return Err(self.damaged(self.path(&commit_name(expected)), reason));
            }
        }
        let commits = versions.into_iter().map(|version| self.commit_named(version));
        let mut commits = futures::stream::iter(commits).buffered(AT_ONCE);
        while let Some(commit) = commits.try_next().await? {
            self.apply(&mut state, &commit)?;
        }
        Ok(state)
    }

    async fn commit_named(&self, version: u64) -> Result<Commit, StoreError> {
        self.read_as(&commit_name(version), COMMIT_FORMAT).await
    }

    /// All files below a folder of the store.
    pub(crate) async fn listed(&self, folder: &str) -> Result<Vec<object_store::ObjectMeta>, StoreError> {
        let folder = self.path(folder);
        let listed = self.place.objects.list(Some(&folder)).try_collect().await;
        listed.map_err(|source| self.trouble("list", folder, source))
    }

    /// Files of the log from a version on, with what they are and when they were written.
    pub(crate) async fn log_files(
        &self,
        from: Option<u64>,
    ) -> Result<Vec<(LogFile, object_store::ObjectMeta)>, StoreError> {
        let folder = self.path(LOG);
        let objects = &self.place.objects;
        let listed = match from {
            Some(from) => objects.list_with_offset(Some(&folder), &self.path(&commit_name(from - 1))),
            None => objects.list(Some(&folder)),
        };
        let found = listed
            .try_filter_map(|meta| async move { Ok(LogFile::of(&meta.location).map(|file| (file, meta))) });
        found
            .try_collect()
            .await
            .map_err(|source| self.trouble("list", folder, source))
    }

    /// Puts a commit into the log, after everything that others put there meanwhile.
    pub(crate) async fn commit(&self, draft: &Draft) -> Result<Committed, StoreError> {
        let id = uuid::Uuid::new_v4().simple().to_string();
        let mut state = self.state().await?;
        for attempt in 0..TRIES {
            if state.windows().shared(&draft.windows).is_some() {
                return Ok(Committed::Known(state));
            }
            if let Some(gone) = draft.removed.iter().find(|path| state.file(path).is_none()) {
                return Err(StoreError::Gone {
                    place: self.place.text.clone(),
                    path: Path::from(gone.as_str()),
                });
            }
            let commit = Commit {
                version: state.version() + 1,
                at_ms: now_ms().max(state.at_ms()),
                id: id.clone(),
                what: draft.what,
                added: draft.added.clone(),
                removed: draft.removed.clone(),
                windows: draft.windows.clone(),
            };
            let name = commit_name(commit.version);
            let written = self.write_new(&name, text(COMMIT_FORMAT, &commit)?).await;
            let ours = match written {
                Ok(true) => true,
                // A request whose answer was lost may have been tried again and found its own file. So it may
                // be ours.
                Ok(false) => match self.is_ours(commit.version, &id).await {
                    Ok(ours) => ours,
                    Err(error) => return Err(StoreError::Unsure(Box::new(error))),
                },
                // It may have arrived, or arrive yet: that it is not in the log now proves nothing.
                Err(error) => match self.is_ours(commit.version, &id).await {
                    Ok(true) => true,
                    _ => return Err(StoreError::Unsure(Box::new(error))),
                },
            };
            if ours {
                let mut after = state;
                self.apply(Arc::make_mut(&mut after), &commit)?;
                self.remember(&after);
                if after.version().is_multiple_of(CHECKPOINT_EVERY) {
                    self.checkpoint(&after).await;
                }
                return Ok(Committed::Done);
            }
            tokio::time::sleep(pause(attempt)).await;
            state = self.state().await?;
        }
        Err(StoreError::Busy {
            place: self.place.text.clone(),
            tries: TRIES,
        })
    }

    async fn is_ours(&self, version: u64, id: &str) -> Result<bool, StoreError> {
        Ok(self
            .commit_of(version)
            .await?
            .is_some_and(|commit| commit.id == id))
    }

    /// Writes the sum of all commits. That it fails is no harm: the commit is there, and readers read some
    /// more files.
    async fn checkpoint(&self, state: &State) {
        let version = state.version();
        let mut state = state.clone();
        state.forget_removed_before(state.at_ms().saturating_sub(FORGOTTEN.as_millis() as u64));
        let Ok(checkpoint) = text(CHECKPOINT_FORMAT, &state) else {
            return;
        };
        if self
            .write_new(&checkpoint_name(version), checkpoint)
            .await
            .is_ok()
            && let Ok(hint) = text(HINT_FORMAT, &Hint { version })
        {
            let _ = self.write(HINT, hint).await;
        }
    }

    pub(crate) async fn read_as<T: DeserializeOwned>(
        &self,
        name: &str,
        format: &str,
    ) -> Result<T, StoreError> {
        let path = self.path(name);
        let bytes = self.read(&path).await?;
        log::of_text(format, &bytes).map_err(|unreadable| match unreadable {
            Unreadable::Damaged(reason) => self.damaged(path, reason),
            Unreadable::Newer(found) => StoreError::Newer {
                place: self.place.text.clone(),
                path: self.within(&path),
                found,
                newest: log::FORMAT_VERSION,
            },
        })
    }

    /// All of a file.
    pub(crate) async fn read(&self, path: &Path) -> Result<Bytes, StoreError> {
        let read = async { self.place.objects.get(path).await?.bytes().await };
        read.await
            .map_err(|source| self.trouble("read", path.clone(), source))
    }

    /// All of a Parquet file, after a look whether it is what was written.
    pub(crate) async fn read_file(&self, file: &FileEntry) -> Result<Bytes, StoreError> {
        let path = self.location(file);
        let bytes = self.read(&path).await?;
        let found = log::sha256(&bytes);
        if bytes.len() as u64 == file.bytes && found == file.sha256 {
            Ok(bytes)
        } else {
            Err(StoreError::other_bytes(
                &self.place.text,
                &self.within(&path),
                (bytes.len() as u64, &found),
                (file.bytes, &file.sha256),
            ))
        }
    }

    /// Writes a file with a name that no other writer has.
    pub(crate) async fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        let path = self.path(name);
        if let Some(target) = self.on_disk(name) {
            return self.write_durably(path, target, bytes, false).await.map(|_| ());
        }
        let objects = &self.place.objects;
        let put = async {
            if bytes.len() <= IN_PARTS {
                return objects.put(&path, bytes.into()).await.map(|_| ());
            }
            let upload = objects.put_multipart(&path).await?;
            let mut upload = WriteMultipart::new_with_chunk_size(upload, 8 << 20);
            for part in bytes.chunks(8 << 20) {
                upload.wait_for_capacity(2).await?;
                upload.write(part);
            }
            upload.finish().await.map(|_| ())
        };
        put.await.map_err(|source| self.trouble("write", path, source))
    }

    /// Writes a file if there is none of that name; returns true if there was none.
    async fn write_new(&self, name: &str, bytes: Vec<u8>) -> Result<bool, StoreError> {
        let path = self.path(name);
        if let Some(target) = self.on_disk(name) {
            return self.write_durably(path, target, bytes, true).await;
        }
        let options = PutOptions::from(PutMode::Create);
        match self.place.objects.put_opts(&path, bytes.into(), options).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(source) => Err(self.trouble("write", path, source)),
        }
    }

    async fn write_durably(
        &self,
        path: Path,
        to: std::path::PathBuf,
        bytes: Vec<u8>,
        new: bool,
    ) -> Result<bool, StoreError> {
        let written = tokio::task::spawn_blocking(move || durable::write(&to, &bytes, new)).await;
        let generic = |source: Box<dyn std::error::Error + Send + Sync>| object_store::Error::Generic {
            store: "folder",
            source,
        };
        match written {
            Ok(Ok(())) => Ok(true),
            Ok(Err(error)) if new && error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
            Ok(Err(error)) => Err(self.trouble("write", path, generic(error.into()))),
            Err(error) => Err(self.trouble("write", path, generic(error.into()))),
        }
    }

    /// The name of a file in the file system, if the store is a folder.
    pub(crate) fn on_disk(&self, name: &str) -> Option<std::path::PathBuf> {
        Some(self.place.folder.as_ref()?.join(name))
    }

    /// Deletes files; those that are not there any more are no trouble.
    pub(crate) async fn delete(&self, paths: Vec<Path>) -> Result<u64, StoreError> {
        let mut deleted = 0;
        for path in paths {
            match self.place.objects.delete(&path).await {
                Ok(()) => deleted += 1,
                Err(object_store::Error::NotFound { .. }) => {}
                Err(source) => return Err(self.trouble("delete", path, source)),
            }
        }
        Ok(deleted)
    }

    pub(crate) fn trouble(
        &self,
        action: &'static str,
        path: Path,
        source: object_store::Error,
    ) -> StoreError {
        StoreError::Object {
            place: self.place.text.clone(),
            action,
            path: self.within(&path),
            source: Box::new(source),
        }
    }

    pub(crate) fn damaged(&self, path: Path, reason: impl Display) -> StoreError {
        StoreError::Damaged {
            place: self.place.text.clone(),
            path: self.within(&path),
            reason: reason.to_string(),
        }
    }
}

/// How long it is remembered of a removed file that it was one of the store's. Later it is deleted as an
/// unknown one.
const FORGOTTEN: Duration = Duration::from_secs(3 * 86_400);

fn text<T: Serialize>(format: &str, body: &T) -> Result<Vec<u8>, StoreError> {
    log::to_text(format, body).map_err(|e| StoreError::tables("write JSON", e))
}

/// Milliseconds since 1970-01-01.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

/// A random time, longer the more often it was tried.
fn pause(attempt: u32) -> Duration {
    let most = 10u64 << attempt.min(6);
    let random = uuid::Uuid::new_v4().as_u128() as u64;
    Duration::from_millis(random % most + 1)
}
