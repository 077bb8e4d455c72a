//! The tables under their names, for other engines: metadata of Apache Iceberg (v2) over the same Parquet files.
//!
//! It is made of the log, as often as one likes, and only ever read by others: no answer and no commit depends on it.
//! `STORE/tables/TABLE/metadata` has the layout of a Hadoop catalog whose warehouse is the store and whose namespace is
//! `tables`. All tables have a snapshot with the number of the commit, so that several tables can be read as of one
//! commit. A snapshot's files stay until [`vacuum`](Store::vacuum) has taken it away.

mod manifest;
mod schema;
mod statistics;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::{FutureExt, StreamExt, TryStreamExt};
use object_store::ObjectMeta;
use serde_json::json;

use crate::error::StoreError;
use crate::file::Partition;
use crate::log::{self, FileEntry, ROOT_FILE, Root, State};
use crate::store::{ROOT_FORMAT, Store};
use crate::tables::Table;
use manifest::{Manifest, Snapshot};
use statistics::Columns;

/// The folder of the published tables, and their namespace.
pub const PUBLISHED: &str = "tables";
/// The file that says which metadata is the newest.
const HINT: &str = "version-hint.text";
/// Files and footers that are read or written at a time.
const AT_ONCE: usize = 16;
/// Most snapshots that metadata names: those of an hour, if it is published once a minute.
const MAX_SNAPSHOTS: usize = 60;

/// The outcome of a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The commit, which is the number of the snapshots too.
    pub commit: u64,
    /// Files of data that the tables name.
    pub files: u64,
    /// Manifests that were written; others were there already.
    pub manifests: u64,
}

/// The files in the folder of published tables, by names alone.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    /// Manifests, by the hash of what they name.
    manifests: BTreeMap<(Table, String), Manifest>,
    snapshots: BTreeMap<Table, BTreeMap<u64, Snapshot>>,
    /// When the newest metadata was named as such.
    hinted_ms: Option<i64>,
    /// Everything, with what it is.
    all: Vec<(Table, Item, ObjectMeta)>,
}

/// A file in the folder of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    /// `v12.metadata.json`, of commit 12.
    Metadata(u64),
    /// `snap-12-1790000000000.avro`: of commit 12, and when that was made.
    Snapshot(u64, u64),
    /// `HASH-m12.avro`: first needed for commit 12.
    Manifest(String, u64),
    /// The hint.
    Hint,
}

impl Item {
    fn of(name: &str) -> Option<Item> {
        if name == HINT {
            return Some(Item::Hint);
        }
        if let Some(name) = name.strip_suffix(".metadata.json") {
            return Some(Item::Metadata(name.strip_prefix('v')?.parse().ok()?));
        }
        let name = name.strip_suffix(".avro")?;
        if let Some(name) = name.strip_prefix("snap-") {
            let (commit, at) = name.split_once('-')?;
            return Some(Item::Snapshot(commit.parse().ok()?, at.parse().ok()?));
        }
        let (hash, commit) = name.split_once("-m")?;
        Some(Item::Manifest(hash.to_owned(), commit.parse().ok()?))
    }

    fn name(&self) -> String {
        match self {
            Item::Metadata(commit) => format!("v{commit}.metadata.json"),
            Item::Snapshot(commit, at) => format!("snap-{commit}-{at}.avro"),
            Item::Manifest(hash, commit) => format!("{hash}-m{commit}.avro"),
            Item::Hint => HINT.to_owned(),
        }
    }

    /// From the root of the store.
    fn path(&self, table: Table) -> String {
        format!("{PUBLISHED}/{table}/metadata/{}", self.name())
    }
}

impl Shelf {
    /// When the oldest published commit before this one was made: files that were removed since then are named by it.
    pub fn oldest_before(&self, commit: u64) -> Option<u64> {
        let all = self.snapshots.values().flat_map(BTreeMap::values);
        all.filter(|snapshot| snapshot.commit < commit)
            .map(|snapshot| snapshot.at_ms)
            .min()
    }
}

impl Store {
    /// Publishes the tables as the log has them now.
    ///
    /// # Errors
    /// If the log or the foot of a file cannot be read, or nothing can be written.
    pub async fn publish(&self) -> Result<Published, StoreError> {
        let shelf = self.shelf().await?;
        self.publish_beside(&shelf).await
    }

    /// Publishes the tables, and writes everything again: what is there may be damaged.
    ///
    /// # Errors
    /// As [`Store::publish`].
    pub async fn publish_again(&self) -> Result<Published, StoreError> {
        let mut shelf = self.shelf().await?;
        shelf.manifests.clear();
        self.publish_beside(&shelf).await
    }

    /// Publishes the tables, unless that was done less than `age` ago; many writers have one publication between them.
    ///
    /// # Errors
    /// As [`Store::publish`].
    pub async fn publish_if_older(&self, age: Duration) -> Result<Option<Published>, StoreError> {
        let shelf = self.shelf().await?;
        let now = i64::try_from(crate::store::now_ms()).unwrap_or(i64::MAX);
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        if shelf.hinted_ms.is_some_and(|at| now.saturating_sub(at) < age) {
            return Ok(None);
        }
        self.publish_beside(&shelf).await.map(Some)
    }

    async fn publish_beside(&self, shelf: &Shelf) -> Result<Published, StoreError> {
        if shelf.manifests.is_empty() {
            self.number_windows().await?;
        }
        let state = self.state().await?;
        self.publish_state(&state, shelf).await
    }

    /// Writes files of windows again whose columns have no numbers: by names alone readers do not agree where the parts of a map are.
    async fn number_windows(&self) -> Result<(), StoreError> {
        let state = self.state().await?;
        // Boxed, or the compiler cannot tell that threads may take this over.
        let mut numbered = Vec::new();
        for file in state.files(Table::Windows) {
            numbered.push(self.is_numbered(file).boxed());
        }
        let numbered = futures::stream::iter(numbered).buffered(AT_ONCE);
        let numbered: Vec<bool> = numbered.try_collect().await?;
        for (file, is_numbered) in state.files(Table::Windows).zip(numbered) {
            if !is_numbered {
                self.write_again(file.clone()).await?;
            }
        }
        Ok(())
    }

    /// Returns true if tables of this store were published.
    pub(crate) async fn is_published(&self) -> Result<bool, StoreError> {
        Ok(!self.shelf().await?.all.is_empty())
    }

    /// The folder of published tables as it is now.
    pub(crate) async fn shelf(&self) -> Result<Shelf, StoreError> {
        let mut shelf = Shelf::default();
        for meta in self.listed(PUBLISHED).await? {
            let path = self.within(&meta.location);
            let parts: Vec<_> = path.parts().collect();
            let [_, table, _, name] = &parts[..] else { continue };
            let (Ok(table), Some(item)) = (table.as_ref().parse(), Item::of(name.as_ref())) else {
                continue;
            };
            match &item {
                Item::Manifest(hash, commit) => {
                    let manifest = Manifest {
                        commit: *commit,
                        bytes: meta.size,
                    };
                    shelf.manifests.insert((table, hash.clone()), manifest);
                }
                Item::Snapshot(commit, at_ms) => {
                    let snapshot = Snapshot {
                        commit: *commit,
                        at_ms: *at_ms,
                    };
                    shelf
                        .snapshots
                        .entry(table)
                        .or_default()
                        .insert(*commit, snapshot);
                }
                Item::Hint => {
                    let at = meta.last_modified.timestamp_millis();
                    shelf.hinted_ms = Some(shelf.hinted_ms.map_or(at, |known| known.min(at)));
                }
                Item::Metadata(_) => {}
            }
            shelf.all.push((table, item, meta));
        }
        Ok(shelf)
    }

    async fn publish_state(&self, state: &State, shelf: &Shelf) -> Result<Published, StoreError> {
        let root: Root = self.read_as(ROOT_FILE, ROOT_FORMAT).await?;
        let mut published = Published {
            commit: state.version(),
            files: 0,
            manifests: 0,
        };
        for table in Table::ALL {
            self.publish_table(table, state, shelf, &root, &mut published)
                .await?;
        }
        // Last, and one after the other: readers of several tables find all of them at once, but for a moment.
        for table in Table::ALL {
            let hint = state.version().to_string().into_bytes();
            self.write(&Item::Hint.path(table), hint).await?;
        }
        Ok(published)
    }

    async fn publish_table(
        &self,
        table: Table,
        state: &State,
        shelf: &Shelf,
        root: &Root,
        published: &mut Published,
    ) -> Result<(), StoreError> {
        let mut partitions: BTreeMap<Partition, Vec<&FileEntry>> = BTreeMap::new();
        for file in state.files(table) {
            partitions.entry(Partition::of(file)).or_default().push(file);
        }
        let mut listed = Vec::new();
        let (mut rows, mut bytes, mut files) = (0, 0, 0);
        for (partition, of_it) in &partitions {
            rows += of_it.iter().map(|file| file.rows).sum::<u64>();
            bytes += of_it.iter().map(|file| file.bytes).sum::<u64>();
            files += of_it.len() as u64;
            // Paths are absolute in it: a store that was moved needs others.
            let names = of_it.iter().map(|file| self.uri(&file.path));
            let hash = log::sha256(names.collect::<Vec<String>>().join("\n").as_bytes());
            let hash = hash[..32].to_owned();
            let manifest = match shelf.manifests.get(&(table, hash.clone())) {
                Some(manifest) => *manifest,
                None => {
                    // Boxed, or the compiler cannot tell that threads may take this over.
                    let mut feet = Vec::new();
                    for &file in of_it {
                        feet.push(self.statistics(file).boxed());
                    }
                    let feet = futures::stream::iter(feet).buffered(AT_ONCE);
                    let feet: Vec<Columns> = feet.try_collect().await?;
                    let uris = of_it.iter().map(|file| self.uri(&file.path));
                    let entries = uris.zip(of_it.iter().copied()).zip(&feet);
                    let content = manifest::manifest(
                        table,
                        partition,
                        entries.map(|((uri, file), foot)| (uri, file, foot)),
                    )?;
                    let manifest = Manifest {
                        commit: state.version(),
                        bytes: content.len() as u64,
                    };
                    self.write(
                        &Item::Manifest(hash.clone(), manifest.commit).path(table),
                        content,
                    )
                    .await?;
                    published.manifests += 1;
                    manifest
                }
            };
            let path = self.uri(&Item::Manifest(hash, manifest.commit).path(table));
            let of_rows = of_it.iter().map(|file| file.rows).sum();
            listed.push(manifest::Listed {
                path,
                manifest,
                partition,
                files: of_it.len(),
                rows: of_rows,
            });
        }
        published.files += files;
        let newest = Snapshot {
            commit: state.version(),
            at_ms: state.at_ms(),
        };
        let list = Item::Snapshot(newest.commit, newest.at_ms);
        self.write(&list.path(table), manifest::list(table, newest, &listed)?)
            .await?;
        let mut snapshots = shelf.snapshots.get(&table).cloned().unwrap_or_default();
        snapshots.retain(|commit, _| *commit < newest.commit);
        while snapshots.len() >= MAX_SNAPSHOTS {
            snapshots.pop_first();
        }
        snapshots.insert(newest.commit, newest);
        let snapshots: Vec<serde_json::Value> = snapshots
            .values()
            .map(|snapshot| {
                let path = Item::Snapshot(snapshot.commit, snapshot.at_ms).path(table);
                let mut summary = json!({"operation": "overwrite"});
                if *snapshot == newest {
                    summary = json!({
                        "operation": "overwrite",
                        "total-records": rows.to_string(),
                        "total-data-files": files.to_string(),
                        "total-files-size": bytes.to_string(),
                    });
                }
                json!({
                    "snapshot-id": snapshot.commit,
                    "sequence-number": snapshot.commit,
                    "timestamp-ms": snapshot.at_ms,
                    "manifest-list": self.uri(&path),
                    "summary": summary,
                    "schema-id": 0,
                })
            })
            .collect();
        let location = self.uri(&format!("{PUBLISHED}/{table}"));
        let uuid = log::sha256(format!("{} {table}", root.created_ms).as_bytes());
        let uuid = uuid::Builder::from_custom_bytes(first_16(&uuid)).into_uuid();
        let text = schema::metadata(table, &location, uuid, newest, snapshots);
        self.write(&Item::Metadata(newest.commit).path(table), text.into_bytes())
            .await
    }

    /// A file's name for other programs.
    fn uri(&self, path: &str) -> String {
        match self.on_disk(path) {
            Some(file) => format!("file://{}", file.display()),
            None => match self.place().text().split_once("://") {
                Some((scheme, rest)) => {
                    let bucket = rest.split('/').next().unwrap_or_default();
                    format!("{scheme}://{bucket}/{}", self.path(path))
                }
                None => self.path(path).to_string(),
            },
        }
    }

    /// Publishes the tables, and takes away what of them is older than `keep`, but for the newest; and manifests that nothing
    /// names and that are of `unknown` age: a publication may be about to name them. The commit, and how many files went.
    pub(crate) async fn clear_shelf(
        &self,
        keep: Duration,
        unknown: Duration,
    ) -> Result<(u64, u64), StoreError> {
        let mut shelf = self.shelf().await?;
        let state = self.state().await?;
        let now = crate::store::now_ms();
        let is_over = |meta: &ObjectMeta, age: Duration| {
            let at = u64::try_from(meta.last_modified.timestamp_millis()).unwrap_or(0);
            u128::from(now.saturating_sub(at)) >= age.as_millis()
        };
        let mut gone = Vec::new();
        for (table, item, meta) in &shelf.all {
            let (Item::Metadata(commit) | Item::Snapshot(commit, _)) = item else {
                continue;
            };
            if *commit < state.version() && is_over(meta, keep) {
                gone.push(meta.location.clone());
                if let (Item::Snapshot(..), Some(of)) = (item, shelf.snapshots.get_mut(table)) {
                    of.remove(commit);
                }
            }
        }
        // First the metadata that does not name them: a writer that is killed in between leaves no name of a missing file.
        let commit = self.publish_state(&state, &shelf).await?.commit;
        let deleted = self.delete(gone).await?;
        // Only here is anything of it read: which manifests are still named.
        let shelf = self.shelf().await?;
        let mut named: BTreeSet<(Table, String)> = BTreeSet::new();
        for (table, item, meta) in &shelf.all {
            if let Item::Snapshot(..) = item {
                let bytes = self.read(&meta.location).await?;
                for path in manifest::named(&bytes)? {
                    named.insert((*table, path.rsplit('/').next().unwrap_or_default().to_owned()));
                }
            }
        }
        let unnamed = shelf.all.iter().filter(|(table, item, meta)| {
            matches!(item, Item::Manifest(..))
                && is_over(meta, unknown)
                && !named.contains(&(*table, item.name()))
        });
        let unnamed = unnamed.map(|(_, _, meta)| meta.location.clone()).collect();
        Ok((commit, deleted + self.delete(unnamed).await?))
    }
}

/// The first 16 bytes of a hash in hexadecimal digits.
fn first_16(hash: &str) -> [u8; 16] {
    let number = u128::from_str_radix(&hash[..32], 16).unwrap_or_default();
    number.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_file_is() {
        for item in [
            Item::Metadata(12),
            Item::Snapshot(12, 1_790_812_800_000),
            Item::Manifest("00ff".to_owned(), 7),
            Item::Hint,
        ] {
            assert_eq!(Item::of(&item.name()), Some(item));
        }
        assert_eq!(Item::of("v.metadata.json"), None);
        assert_eq!(Item::of("other.avro"), None);
    }
}
