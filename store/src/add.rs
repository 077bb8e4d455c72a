//! Taking profiles into a store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt};
use indicatif::ProgressBar;
use rayon::prelude::*;
use tokio::sync::mpsc;
use trodden_profile::Profile;
use trodden_report::thousands;

use crate::error::StoreError;
use crate::file::NewFile;
use crate::log::{self, Day, FileEntry, State, What, Windows};
use crate::rows::{
    About, Batch, Build, Classes, Defaults, Dimensions, Extract, Known, dimension_files, fact_files,
};
use crate::store::{Committed, Draft, Store, now_ms};

/// Rows of a batch that are in memory, in bytes.
const BATCH: usize = 56 << 20;
/// Bytes of memory about classes and about the store's contents; then it is forgotten.
const REMEMBERED: usize = 200 << 20;
/// Profiles that were read and wait.
const WAITING: usize = 2;
/// Files that are written at a time.
const AT_ONCE: usize = 4;
/// Files that were not committed are deleted after a day: a delivery that took longer may have lost some.
const LONGEST: Duration = Duration::from_secs(12 * 3600);

/// How profiles are taken in.
#[derive(Clone, Debug, Default)]
pub struct AddOptions {
    /// For profiles that do not say what window they are.
    pub defaults: Defaults,
    /// Profiles that cannot be used are left out; else nothing comes in.
    pub keep_going: bool,
    /// Counts files that were read.
    pub progress: Option<ProgressBar>,
}

/// Counts of what came in.
#[derive(Debug, Default)]
pub struct Added {
    /// Windows that are new.
    pub windows: u64,
    /// Windows that were there already.
    pub known: u64,
    /// Rows of all tables.
    pub rows: u64,
    /// Files that were written.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Profiles that were left out, and why.
    pub failed: Vec<StoreError>,
    /// Windows that count on the day on which they came in, by host.
    pub misdated: BTreeMap<String, Misdated>,
}

/// Windows of a host whose clock was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misdated {
    /// How many.
    pub windows: u64,
    /// The day on which one of them began, by that clock.
    pub day: Day,
}

impl Misdated {
    /// For people.
    pub fn sentence(&self, host: &str) -> String {
        let outcome = match self.windows {
            1 => "1 window counts on the day on which it came in".to_owned(),
            more => format!(
                "{} windows count on the day on which they came in",
                thousands(more)
            ),
        };
        format!("host {host}: its clock said {}; {outcome}", self.day)
    }
}

/// Takes profiles in, and remembers classes from one time to the next.
pub struct Adder {
    store: Store,
    classes: Arc<Classes>,
    known: Known,
}

/// Files of a batch, and whose they are.
struct Written {
    sources: Vec<PathBuf>,
    windows: Windows,
    facts: Vec<FileEntry>,
    dimensions: Vec<FileEntry>,
}

/// A file that was read.
enum Read {
    New(Box<(Profile, Extract)>),
    /// Its window was there already.
    Known,
    Failed(StoreError),
}

impl Adder {
    /// For a store.
    pub fn new(store: &Store) -> Adder {
        Adder {
            store: store.clone(),
            classes: Arc::default(),
            known: Known::default(),
        }
    }

    /// The store.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Takes profiles in: all of them with one commit, or none.
    ///
    /// # Errors
    /// If a profile cannot be used and [`AddOptions::keep_going`] is not set; if the store cannot be read or
    /// written. Nothing has come in then.
    pub async fn add(&mut self, files: &[PathBuf], options: &AddOptions) -> Result<Added, StoreError> {
        let mut written = Vec::new();
        let result = self.try_add(files, options, &mut written).await;
        if result.is_err() {
            // What was to come in with it is not known either.
            self.known.clear();
        }
        if let Err(error) = &result
            && !matches!(error, StoreError::Unsure(_))
        {
            let files = written
                .iter()
                .flat_map(|batch: &Written| batch.facts.iter().chain(&batch.dimensions));
            let paths = files.map(|file| self.store.location(file)).collect();
            let _ = self.store.delete(paths).await;
        }
        result
    }

    async fn try_add(
        &mut self,
        files: &[PathBuf],
        options: &AddOptions,
        written: &mut Vec<Written>,
    ) -> Result<Added, StoreError> {
        let began = Instant::now();
        let mut added = Added::default();
        let state = self.store.state().await?;
        let mut seen = Windows::default();
        self.write_batches(
            files.to_vec(),
            options,
            &state,
            &mut seen,
            &mut added,
            written,
            true,
        )
        .await?;
        loop {
            let mut draft = Draft {
                what: What::Add,
                added: Vec::new(),
                removed: Vec::new(),
                windows: Windows::default(),
            };
            for batch in written.iter() {
                draft
                    .added
                    .extend(batch.facts.iter().chain(&batch.dimensions).cloned());
                draft.windows.add(&batch.windows);
            }
            added.windows = draft.windows.len();
            added.files = draft.added.len() as u64;
            added.rows = draft.added.iter().map(|file| file.rows).sum();
            added.bytes = draft.added.iter().map(|file| file.bytes).sum();
            if draft.windows.is_empty() {
                return Ok(added);
            }
            if began.elapsed() > LONGEST {
                return Err(StoreError::Broken(format!(
                    "{}: reading the profiles took over 12 hours, and files that were written first may be gone",
                    self.store.place().text()
                )));
            }
            let state = match self.store.commit(&draft).await? {
                Committed::Done => return Ok(added),
                Committed::Known(state) => state,
            };
            // Another writer brought some of these windows meanwhile: batches with such ones are written
            // again.
            let (again, good): (Vec<Written>, Vec<Written>) = std::mem::take(written)
                .into_iter()
                .partition(|batch| batch.windows.shared(state.windows()).is_some());
            *written = good;
            let mut seen = Windows::default();
            written.iter().for_each(|batch| seen.add(&batch.windows));
            for batch in again {
                let old = batch.facts.iter().map(|file| self.store.location(file)).collect();
                // What it says of methods stays: other batches may count on it.
                written.push(Written {
                    sources: Vec::new(),
                    windows: Windows::default(),
                    facts: Vec::new(),
                    dimensions: batch.dimensions,
                });
                let mut more = Added::default();
                self.write_batches(
                    batch.sources,
                    options,
                    &state,
                    &mut seen,
                    &mut more,
                    written,
                    false,
                )
                .await?;
                added.known += more.known;
                let _ = self.store.delete(old).await;
            }
        }
    }

    /// Reads profiles and writes the files of their rows. `dimensions`: those too that say what there is.
    #[allow(clippy::too_many_arguments)]
    async fn write_batches(
        &mut self,
        files: Vec<PathBuf>,
        options: &AddOptions,
        state: &Arc<State>,
        seen: &mut Windows,
        added: &mut Added,
        written: &mut Vec<Written>,
        dimensions: bool,
    ) -> Result<(), StoreError> {
        if self.classes.weight() + self.known.weight() > REMEMBERED {
            self.forget();
        }
        let mut reader = self.read(files, options, state);
        let mut batch = Batch::default();
        let mut sources = Vec::new();
        let mut new: BTreeMap<Build, Dimensions> = BTreeMap::new();
        let mut looked: Vec<Build> = Vec::new();
        let mut names = Vec::new();
        while let Some((file, read)) = reader.recv().await {
            if let Some(progress) = &options.progress {
                progress.inc(1);
            }
            let (profile, extract) = match read {
                Read::Known => {
                    added.known += 1;
                    continue;
                }
                Read::Failed(error) if options.keep_going => {
                    added.failed.push(error);
                    continue;
                }
                Read::Failed(error) => return Err(error),
                Read::New(new) => *new,
            };
            let about = &extract.window.about;
            if !seen.insert(&about.jvm, about.window) {
                added.known += 1;
                continue;
            }
            if let Some(claimed) = about.claimed_ms {
                let of_host = added.misdated.entry(about.host.clone()).or_insert(Misdated {
                    windows: 0,
                    day: Day::of_ms(claimed),
                });
                of_host.windows += 1;
            }
            if dimensions {
                let build = Build {
                    service: about.service.clone(),
                    build: about.build.clone(),
                };
                if !looked.contains(&build) {
                    self.known.look(&self.store, state, &build).await?;
                    looked.push(build.clone());
                }
                let new = new.entry(build).or_default();
                self.known
                    .add_new(&profile, &extract, &self.classes, new, &mut names);
            }
            drop(profile);
            batch.add(extract);
            sources.push(file);
            if batch.weight > BATCH {
                let full = self
                    .write(std::mem::take(&mut batch), std::mem::take(&mut new))
                    .await?;
                written.push(Written {
                    sources: std::mem::take(&mut sources),
                    ..full
                });
            }
        }
        if !batch.is_empty() {
            let last = self.write(batch, new).await?;
            written.push(Written { sources, ..last });
        }
        Ok(())
    }

    /// All at once, as numbers of classes and methods are in both.
    fn forget(&mut self) {
        self.classes = Arc::default();
        self.known.clear();
    }

    /// Reads profiles on all processors, a few ahead of their consumer.
    fn read(
        &self,
        files: Vec<PathBuf>,
        options: &AddOptions,
        state: &Arc<State>,
    ) -> mpsc::Receiver<(PathBuf, Read)> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let (classes, state) = (Arc::clone(&self.classes), Arc::clone(state));
        let defaults = options.defaults.clone();
        tokio::task::spawn_blocking(move || {
            // Threads of their own: those that wait for the taker must not be the ones that the taker waits
            // for.
            let Ok(pool) = rayon::ThreadPoolBuilder::new()
                .thread_name(|n| format!("read-{n}"))
                .build()
            else {
                return;
            };
            pool.install(|| {
                // A consumer that takes nothing any more has failed.
                let _: Option<()> = files.into_par_iter().try_for_each(|file| {
                    let read = read(&file, &defaults, &state, &classes);
                    sender.blocking_send((file, read)).ok()
                });
            });
        });
        receiver
    }

    async fn write(
        &mut self,
        mut batch: Batch,
        new: BTreeMap<Build, Dimensions>,
    ) -> Result<Written, StoreError> {
        let classes = Arc::clone(&self.classes);
        let windows = std::mem::take(&mut batch.windows);
        let made = tokio::task::spawn_blocking(move || {
            let facts = fact_files(&mut batch, &classes.signatures)?;
            drop(batch);
            let mut dimensions = Vec::new();
            for (build, new) in &new {
                for file in dimension_files(build, new, &classes.signatures)? {
                    dimensions.push((build.clone(), file));
                }
            }
            Ok::<_, StoreError>((facts, dimensions))
        });
        let made = made.await.map_err(|e| StoreError::tables("make rows", e))?;
        let (facts, dimensions) = made?;
        for (build, file) in &dimensions {
            self.known.wrote(build, &file.entry.path);
        }
        let dimensions = dimensions.into_iter().map(|(_, file)| file).collect();
        Ok(Written {
            sources: Vec::new(),
            windows,
            facts: write_all(&self.store, facts).await?,
            dimensions: write_all(&self.store, dimensions).await?,
        })
    }
}

/// Writes files; if one fails, none stays.
pub(crate) async fn write_all(store: &Store, files: Vec<NewFile>) -> Result<Vec<FileEntry>, StoreError> {
    let entries: Vec<FileEntry> = files.iter().map(|file| file.entry.clone()).collect();
    let writes = files
        .into_iter()
        .map(|file| async move { store.write(&file.entry.path, file.bytes).await });
    let written: Result<(), StoreError> = futures::stream::iter(writes)
        .buffer_unordered(AT_ONCE)
        .try_for_each(|()| async { Ok(()) })
        .await;
    if let Err(error) = written {
        let paths = entries.iter().map(|file| store.location(file)).collect();
        let _ = store.delete(paths).await;
        return Err(error);
    }
    Ok(entries)
}

fn read(file: &Path, defaults: &Defaults, state: &State, classes: &Classes) -> Read {
    let failed = |reason: String| {
        Read::Failed(StoreError::Profile {
            file: file.to_owned(),
            reason,
        })
    };
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) => return failed(error.to_string()),
    };
    let profile = match Profile::read(&bytes) {
        Ok(profile) => profile,
        Err(error) => return failed(error.to_string()),
    };
    let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    let about = match About::of(&profile, &log::sha256(&bytes), defaults, now) {
        Ok(about) => about,
        Err(senseless) => return failed(senseless.to_string()),
    };
    if state.windows().contains(&about.jvm, about.window) {
        return Read::Known;
    }
    let extract = Extract::of(&profile, about, classes);
    Read::New(Box::new((profile, extract)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::CompactOptions;

    /// Servers do these things in tasks of their own.
    #[test]
    fn work_may_change_threads() {
        fn is_send<T: Send>(_: &T) {}
        let objects = Arc::new(object_store::memory::InMemory::new());
        let place = crate::Place::of_objects(objects, object_store::path::Path::default(), "memory");
        let made = Store::create(&place);
        is_send(&made);
        let store = futures::executor::block_on(made).unwrap();
        is_send(&store.state());
        let compact = CompactOptions::default();
        is_send(&store.compact(&compact));
        is_send(&store.verify());
        is_send(&store.publish());
        is_send(&store.vacuum(&crate::VacuumOptions::default()));
        is_send(&store.drop_files(&crate::DropOptions::default()));
        is_send(&Adder::new(&store).add(&[], &AddOptions::default()));
    }
}
