//! Published tables: made of the log alone, and with all files that they name. Engines that read them are in
//! `other_engines.rs`.

mod fleet;
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use trodden_store::log::Granularity;
use trodden_store::tables::Table;
use trodden_store::{CompactOptions, VacuumOptions};

/// All files of the published tables, by name, with their texts if they have some.
fn published(folder: &Path) -> BTreeMap<PathBuf, Option<String>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.join("tables")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                // Avro files have a random mark between their parts.
                let text = fs::read_to_string(&path)
                    .ok()
                    .filter(|_| path.extension().unwrap() != "avro");
                found.insert(path, text);
            }
        }
    }
    found
}

fn metadata(folder: &Path, table: Table) -> Value {
    let folder = folder.join(format!("tables/{table}/metadata"));
    let version = fs::read_to_string(folder.join("version-hint.text")).unwrap();
    let text = fs::read_to_string(folder.join(format!("v{version}.metadata.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_gives_the_same_tables_again() {
    let (_, kept) = support::small().await;
    let folder = kept.folder.path().join("fleet");
    let first = kept.store.publish().await.unwrap();
    let before = published(&folder);
    fs::remove_dir_all(folder.join("tables")).unwrap();
    assert_eq!(kept.store.publish().await.unwrap(), first);
    assert_eq!(published(&folder), before);
    // What is there already is not written again.
    let again = kept.store.publish().await.unwrap();
    assert_eq!((again.files, again.manifests), (first.files, 0));
    let all = kept.store.publish_again().await.unwrap();
    assert_eq!(all, first);
    let state = kept.store.state().await.unwrap();
    for table in Table::ALL {
        let metadata = metadata(&folder, table);
        assert_eq!(metadata["current-snapshot-id"], state.version());
        let rows: u64 = state.files(table).map(|file| file.rows).sum();
        assert_eq!(
            metadata["snapshots"][0]["summary"]["total-records"],
            rows.to_string(),
            "{table}"
        );
    }
}

/// A file that was replaced stays while a snapshot names it, also if that was published late.
#[tokio::test(flavor = "multi_thread")]
async fn files_stay_while_a_snapshot_names_them() {
    let (_, kept) = support::small().await;
    let folder = kept.folder.path().join("fleet");
    kept.store.publish().await.unwrap();
    let old: Vec<PathBuf> = kept
        .store
        .state()
        .await
        .unwrap()
        .all_files()
        .map(|file| folder.join(&file.path))
        .collect();
    let days = CompactOptions {
        to: Some(Granularity::Day),
        older_than_ms: 0,
        ..CompactOptions::default()
    };
    kept.store.compact(&days).await.unwrap();
    let state = kept.store.state().await.unwrap();
    let gone: Vec<&PathBuf> = old
        .iter()
        .filter(|path| state.all_files().all(|file| folder.join(&file.path) != **path))
        .collect();
    assert!(!gone.is_empty());
    let now = VacuumOptions {
        removed: Duration::from_millis(20),
        unknown: Duration::ZERO,
        ..VacuumOptions::default()
    };
    let set = |at: SystemTime| {
        for path in published(&folder).into_keys() {
            fs::File::options()
                .write(true)
                .open(path)
                .unwrap()
                .set_modified(at)
                .unwrap();
        }
    };
    set(SystemTime::now() + Duration::from_secs(3600));
    tokio::time::sleep(Duration::from_millis(50)).await;
    kept.store.vacuum(&now).await.unwrap();
    assert!(gone.iter().all(|path| path.is_file()), "a snapshot names it");
    let metadata = metadata(&folder, Table::Paths);
    assert_eq!(metadata["snapshots"].as_array().unwrap().len(), 2);
    assert_eq!(metadata["current-snapshot-id"], state.version());
    set(SystemTime::now() - Duration::from_secs(3600));
    let done = kept.store.vacuum(&now).await.unwrap();
    assert_eq!(done.files, gone.len() as u64);
    assert!(gone.iter().all(|path| !path.exists()));
}

/// The metadata that a vacuum leaves names no snapshot that it took away.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_vacuum_leaves_is_whole() {
    let (_, kept) = support::small().await;
    let folder = kept.folder.path().join("fleet");
    kept.store.publish().await.unwrap();
    let days = CompactOptions {
        to: Some(Granularity::Day),
        older_than_ms: 0,
        ..CompactOptions::default()
    };
    kept.store.compact(&days).await.unwrap();
    kept.store.publish().await.unwrap();
    let snapshots = |table: Table| metadata(&folder, table)["snapshots"].as_array().unwrap().clone();
    assert_eq!(snapshots(Table::Paths).len(), 2);
    let now = VacuumOptions {
        removed: Duration::ZERO,
        ..VacuumOptions::default()
    };
    assert!(kept.store.vacuum(&now).await.unwrap().published > 0);
    for table in Table::ALL {
        let left = snapshots(table);
        assert_eq!(left.len(), 1, "{table}");
        let list = left[0]["manifest-list"].as_str().unwrap();
        assert!(Path::new(list.trim_start_matches("file://")).is_file(), "{list}");
    }
}

/// Writers that ship have one publication a minute between them.
#[tokio::test(flavor = "multi_thread")]
async fn a_publication_is_not_repeated_at_once() {
    let (_, kept) = support::small().await;
    let minute = Duration::from_secs(60);
    assert!(kept.store.publish_if_older(minute).await.unwrap().is_some());
    assert!(kept.store.publish_if_older(minute).await.unwrap().is_none());
    assert!(
        kept.store
            .publish_if_older(Duration::ZERO)
            .await
            .unwrap()
            .is_some()
    );
}
