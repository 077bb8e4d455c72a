//! A store that the version before has written (`data/before/store`, with the answers that it gave): commit 34c047f5, before tables
//! were published and requests kept. It is read as it is, taken on, compacted and published.

mod fleet;
mod slow;
mod support;

use std::fs;
use std::path::{Path, PathBuf};

use fleet::Fleet;
use support::{Kept, published, python};
use trodden_store::log::Granularity;
use trodden_store::query::READY;
use trodden_store::{AddOptions, Adder, CompactOptions, Place, Store, VacuumOptions};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/before")
}

/// A copy of it.
async fn before() -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    support::copy(&data().join("store"), &place);
    let store = Store::open(&Place::parse(&place.to_string_lossy()).unwrap())
        .await
        .unwrap();
    Kept { store, folder }
}

async fn same_by_name(kept: &Kept, engines: &[(&str, Option<&Path>)]) {
    let ours = support::answers(&kept.store).await;
    for &(engine, python) in engines {
        let Some(python) = python else { continue };
        let place = kept.folder.path().join("fleet");
        let theirs = published::ask(engine, python, &place.to_string_lossy(), &[("to", "Shop.load")]);
        theirs.has_rows_of(&kept.store.state().await.unwrap());
        theirs.are(&ours);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn its_answers_stay() {
    let kept = before().await;
    let mut rows = 0;
    for (name, ours) in support::answers(&kept.store).await {
        // A question that is new has no answer of then.
        let Ok(theirs) = fs::read_to_string(data().join(format!("answers/{name}.csv"))) else {
            assert_eq!((name, ours.lines().count()), ("slow-requests", 1));
            continue;
        };
        assert_eq!(ours, theirs, "{name}");
        rows += ours.lines().count() - 1;
    }
    assert!(rows > READY.len(), "nothing to compare");
}

/// With what this version brings, in rows as they come, and in rows of days.
async fn taken_on(engines: &[(&str, Option<&Path>)]) {
    let kept = before().await;
    kept.store.publish().await.unwrap();
    same_by_name(&kept, engines).await;
    let fleet = Fleet {
        jvms: 2,
        days: 4,
        seed: 2,
        ..Fleet::default()
    };
    let mut windows = fleet.write(&kept.folder.path().join("spool")).unwrap();
    windows.extend(slow::write(kept.folder.path(), slow::PLANTED));
    let mut adder = Adder::new(&kept.store);
    let added = adder.add(&windows, &AddOptions::default()).await.unwrap();
    assert_eq!(added.windows, windows.len() as u64);
    let compacted = CompactOptions {
        to: Some(Granularity::Day),
        older_than_ms: 0,
        ..CompactOptions::default()
    };
    let with_new = support::answers(&kept.store).await;
    kept.store.compact(&compacted).await.unwrap();
    assert_eq!(support::answers(&kept.store).await, with_new);
    let found = kept.store.verify().await.unwrap();
    assert!(found.problems.is_empty(), "{found:?}");
    kept.store.publish().await.unwrap();
    let now = VacuumOptions {
        removed: std::time::Duration::ZERO,
        unknown: std::time::Duration::ZERO,
        ..VacuumOptions::default()
    };
    kept.store.vacuum(&now).await.unwrap();
    same_by_name(&kept, engines).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_taken_on() {
    let python = python::interpreter();
    taken_on(&[("duckdb", python), ("pyiceberg", python)]).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "brings 48 MB from Maven Central and a second Spark from PyPI, once"]
async fn it_is_taken_on_for_spark() {
    taken_on(&[("spark", python::with_iceberg())]).await;
}
