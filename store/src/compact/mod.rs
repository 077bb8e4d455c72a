//! Compaction: many small files of a partition become few, rows that only differ in their delivery become
//! one, and of old days the windows of a JVM are combined.
//!
//! Each partition is one commit, in all tables. Readers continue with the files that they know, which stay
//! for a while ([`vacuum`](crate::Store::vacuum)); of two compactions of the same files the second gives up,
//! for its inputs are gone.

mod buckets;
mod merge;

use std::collections::BTreeMap;

use crate::error::StoreError;
use crate::file::Partition;
use crate::log::{Day, FileEntry, Granularity, What, Windows};
use crate::store::{Committed, Draft, Store, now_ms};
use crate::tables::Table;

use buckets::Buckets;
use merge::Merge;

/// Files of this size, in bytes, are large enough.
pub const TARGET: u64 = 64 << 20;

/// Number of rows that are sorted at a time, and about the maximum of a file: that number fits into memory.
const ROWS: u64 = 1 << 20;

/// Options of a compaction.
#[derive(Clone, Debug)]
pub struct CompactOptions {
    /// Put windows of one JVM together, into what.
    pub to: Option<Granularity>,
    /// Only days that were over this number of milliseconds ago.
    pub older_than_ms: u64,
    /// Files of that size are not touched, and none becomes much larger.
    pub target: u64,
}

impl Default for CompactOptions {
    fn default() -> Self {
        CompactOptions {
            to: None,
            older_than_ms: 86_400_000,
            target: TARGET,
        }
    }
}

/// Counts of what was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Partitions that were rewritten: service, build and day.
    pub partitions: u64,
    /// Partitions that another writer changed meanwhile: they stay unchanged.
    pub left: u64,
    /// Files, their rows and bytes before.
    pub before: Extent,
    /// And after.
    pub after: Extent,
}

/// How much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Files.
    pub files: u64,
    /// Rows.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Extent {
    fn add(&mut self, file: &FileEntry) {
        self.files += 1;
        self.rows += file.rows;
        self.bytes += file.bytes;
    }
}

type Unit = (String, String, Option<Day>);

impl Store {
    /// Compacts the store.
    ///
    /// # Errors
    /// If it cannot be read or written, or a file is damaged. What was done before stays.
    pub async fn compact(&self, options: &CompactOptions) -> Result<Compacted, StoreError> {
        let mut done = Compacted::default();
        let state = self.state().await?;
        let mut units: BTreeMap<Unit, Vec<FileEntry>> = BTreeMap::new();
        for file in state.all_files() {
            let unit = (file.service.clone(), file.build.clone(), file.day);
            units.entry(unit).or_default().push(file.clone());
        }
        drop(state);
        for ((_, _, day), files) in units {
            let grain = options
                .to
                .filter(|_| day.is_some_and(|day| is_older(day, options.older_than_ms)));
            let jobs = jobs(&files, grain, options.target);
            if jobs.is_empty() {
                continue;
            }
            self.compact_unit(jobs, grain, options, &mut done).await?;
        }
        Ok(done)
    }

    /// Writes a file again as this version has it, unless another writer has replaced it.
    pub(crate) async fn write_again(&self, file: FileEntry) -> Result<(), StoreError> {
        let (options, mut done) = (CompactOptions::default(), Compacted::default());
        self.compact_unit(vec![vec![file]], None, &options, &mut done)
            .await
    }

    async fn compact_unit(
        &self,
        jobs: Vec<Vec<FileEntry>>,
        grain: Option<Granularity>,
        options: &CompactOptions,
        done: &mut Compacted,
    ) -> Result<(), StoreError> {
        let mut added: Vec<FileEntry> = Vec::new();
        let result = self.rewrite(&jobs, grain, options, &mut added).await;
        let committed = match result {
            Err(error) => Err(error),
            Ok(()) => {
                let draft = Draft {
                    what: What::Compact,
                    added: added.clone(),
                    removed: jobs.iter().flatten().map(|file| file.path.clone()).collect(),
                    windows: Windows::default(),
                };
                self.commit(&draft).await
            }
        };
        match committed {
            Ok(Committed::Done) => {
                done.partitions += 1;
                jobs.iter().flatten().for_each(|file| done.before.add(file));
                added.iter().for_each(|file| done.after.add(file));
                Ok(())
            }
            // Files that are never committed are deleted some day.
            Err(error @ StoreError::Unsure(_)) => Err(error),
            other => {
                let paths = added.iter().map(|file| self.location(file)).collect();
                let _ = self.delete(paths).await;
                match other {
                    Err(StoreError::Gone { .. }) | Ok(_) => {
                        done.left += 1;
                        Ok(())
                    }
                    // A vacuum took what another compaction replaced.
                    Err(error) if self.were_replaced(&jobs).await => {
                        let _ = error;
                        done.left += 1;
                        Ok(())
                    }
                    Err(error) => Err(error),
                }
            }
        }
    }

    async fn were_replaced(&self, jobs: &[Vec<FileEntry>]) -> bool {
        let Ok(state) = self.state().await else {
            return false;
        };
        jobs.iter().flatten().any(|file| state.file(&file.path).is_none())
    }

    async fn rewrite(
        &self,
        jobs: &[Vec<FileEntry>],
        grain: Option<Granularity>,
        options: &CompactOptions,
        added: &mut Vec<FileEntry>,
    ) -> Result<(), StoreError> {
        let of = |table: Table| {
            jobs.iter()
                .find(|files| files.first().is_some_and(|file| file.table == table))
        };
        let windows = of(Table::Windows).filter(|_| grain.is_some());
        let buckets = match (windows, grain) {
            (Some(windows), Some(grain)) => Some(Buckets::of(self, windows, grain).await?),
            _ => None,
        };
        for files in jobs {
            let Some(first) = files.first() else {
                continue;
            };
            let merge = Merge {
                store: self,
                partition: Partition::of(first),
                files,
                // Windows that were combined before stay combined.
                grain: grain.or(files.iter().filter_map(|file| file.grain).min()),
                buckets: buckets
                    .clone()
                    .filter(|_| matches!(first.table, Table::Windows | Table::Paths)),
                target: options.target,
            };
            merge.run(added).await?;
        }
        Ok(())
    }
}

fn is_older(day: Day, older_than_ms: u64) -> bool {
    let over = Day(day.0 + 1).start_ms();
    let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    over.saturating_add(i64::try_from(older_than_ms).unwrap_or(i64::MAX)) <= now
}

/// Per table, the files of a unit that become fewer.
fn jobs(files: &[FileEntry], grain: Option<Granularity>, target: u64) -> Vec<Vec<FileEntry>> {
    let of = |table: Table| files.iter().filter(move |file| file.table == table);
    let has_windows = |file: &&FileEntry| matches!(file.table, Table::Windows | Table::Paths);
    // Rows of both speak of the same windows: they are combined in both, or in none.
    let coarser = files.iter().filter(has_windows).any(|file| file.grain < grain);
    let mut jobs = Vec::new();
    for table in Table::ALL {
        let has_windows = matches!(table, Table::Windows | Table::Paths);
        let chosen: Vec<FileEntry> = if has_windows && coarser {
            of(table).cloned().collect()
        } else {
            let small = of(table).filter(|file| file.bytes < target / 2 && file.rows < ROWS / 2);
            // Files of different grains stay apart.
            let mut by_grain: BTreeMap<Option<Granularity>, Vec<FileEntry>> = BTreeMap::new();
            small.for_each(|file| by_grain.entry(file.grain).or_default().push(file.clone()));
            by_grain
                .into_values()
                .max_by_key(Vec::len)
                .filter(|files| files.len() > 1)
                .unwrap_or_default()
        };
        // The windows of a day are few rows, and all of them are looked at.
        if table == Table::Windows && coarser {
            jobs.extend((!chosen.is_empty()).then_some(chosen));
            continue;
        }
        jobs.extend(
            packed(chosen)
                .into_iter()
                .filter(|files| files.len() > 1 || coarser && has_windows),
        );
    }
    jobs
}

/// Files by time, in parts that fit into memory.
fn packed(mut files: Vec<FileEntry>) -> Vec<Vec<FileEntry>> {
    files.sort_by_key(|file| file.from_ms);
    let mut parts: Vec<Vec<FileEntry>> = Vec::new();
    let mut rows = 0;
    for file in files {
        match parts.last_mut().filter(|_| rows + file.rows <= ROWS) {
            Some(part) => {
                rows += file.rows;
                part.push(file);
            }
            None => {
                rows = file.rows;
                parts.push(vec![file]);
            }
        }
    }
    parts
}
