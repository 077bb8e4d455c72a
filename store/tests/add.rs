//! The rows of a store are the contents of profiles.

mod common;

use std::collections::BTreeMap;

use common::*;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::Float64Type;
use tempfile::TempDir;
use trodden_store::tables::Table;
use trodden_store::{AddOptions, Adder, Defaults, Place, Store, StoreError};

async fn new_store(folder: &TempDir) -> Store {
    let place = Place::parse(folder.path().join("store").to_str().unwrap()).unwrap();
    Store::create(&place).await.unwrap()
}

#[tokio::test]
async fn sums_are_those_of_the_profiles() {
    let folder = TempDir::new().unwrap();
    let store = new_store(&folder).await;
    let of = fixture("counters");
    let mut windows = Vec::new();
    for jvm in 1..=4 {
        for window in 1..=5 {
            windows.push(Window::new(
                jvm,
                window,
                DAY + jvm as u64 * 1000 + window * 9 * HOUR,
            ));
        }
    }
    windows
        .iter_mut()
        .skip(10)
        .for_each(|window| window.build = "two");
    windows
        .iter_mut()
        .skip(15)
        .for_each(|window| window.service = "other / shop=é");
    let files: Vec<_> = windows
        .iter()
        .map(|window| window.save(&of, folder.path()))
        .collect();
    let mut adder = Adder::new(&store);
    let first = adder.add(&files[..7], &AddOptions::default()).await.unwrap();
    assert_eq!((first.windows, first.known), (7, 0));
    let second = adder.add(&files, &AddOptions::default()).await.unwrap();
    assert_eq!((second.windows, second.known), (13, 7));
    assert_eq!(store.state().await.unwrap().version(), 2);
    assert_holds(&store, &windows, &of).await;
    // Again: nothing is new, and there is no commit.
    let third = Adder::new(&store)
        .add(&files, &AddOptions::default())
        .await
        .unwrap();
    assert_eq!((third.windows, third.known, third.files), (0, 20, 0));
    assert_eq!(store.state().await.unwrap().version(), 2);
    // What there is is said once per service and build, although it came in twice.
    for table in [Table::Methods, Table::Branches, Table::PathTexts] {
        let state = store.state().await.unwrap();
        let mut seen = BTreeMap::new();
        for batch in rows(&store, &state, table).await {
            for row in 0..batch.num_rows() {
                let last = if table == Table::Methods {
                    "graph"
                } else if table == Table::Branches {
                    "edge"
                } else {
                    "path"
                };
                let key = ["service", "build", "class", "method", "descriptor", last]
                    .map(|name| text(&batch, name, row));
                assert_eq!(seen.insert(key.clone(), ()), None, "{table}: {key:?}");
            }
        }
        assert!(!seen.is_empty());
    }
}

#[tokio::test]
async fn words_are_those_of_the_report() {
    let folder = TempDir::new().unwrap();
    let store = new_store(&folder).await;
    let of = fixture("counters");
    let file = Window::new(1, 1, DAY).save(&of, folder.path());
    Adder::new(&store)
        .add(&[file], &AddOptions::default())
        .await
        .unwrap();
    let state = store.state().await.unwrap();
    let mut branches = Vec::new();
    for batch in rows(&store, &state, Table::Branches).await {
        for row in 0..batch.num_rows() {
            let condition = texts(&batch, "condition");
            let condition = condition.as_string::<i32>();
            let condition = if condition.is_null(row) {
                "-"
            } else {
                condition.value(row)
            };
            branches.push(format!(
                "{}: {condition} → {}",
                text(&batch, "method", row),
                text(&batch, "outcome", row)
            ));
        }
    }
    for expected in [
        "total: for (item : items) → again",
        "total: item.count() == 0 → yes",
        "order: i < number % 7 → done",
        // It did not run, so its decisions are not known as text.
        "neverCalled: - → taken",
    ] {
        assert!(
            branches.iter().any(|line| line == expected),
            "{expected} is not in {branches:#?}"
        );
    }
    let mut found = Vec::new();
    for batch in rows(&store, &state, Table::PathTexts).await {
        found.extend((0..batch.num_rows()).map(|row| text(&batch, "text", row)));
    }
    assert!(
        found.iter().any(|text| text.contains("item.count() == 0 → yes")),
        "{found:#?}"
    );
}

#[tokio::test]
async fn all_kinds_of_profiles() {
    let folder = TempDir::new().unwrap();
    for kind in ["counters", "contexts", "coverage", "auto", "cpu", "sampled"] {
        let place = Place::parse(folder.path().join(kind).to_str().unwrap()).unwrap();
        let store = Store::create(&place).await.unwrap();
        let of = fixture(kind);
        let window = Window {
            times: 1,
            ..Window::new(1, 1, DAY)
        };
        let file = window.save(&of, folder.path());
        Adder::new(&store)
            .add(&[file], &AddOptions::default())
            .await
            .unwrap();
        let windows = [window];
        assert_eq!(
            counts_in(&store, Table::Paths, "path").await,
            paths_of(&windows, &of),
            "{kind}"
        );
        assert_eq!(
            counts_in(&store, Table::PathDays, "path").await,
            paths_of(&windows, &of),
            "{kind}"
        );
        assert_eq!(
            counts_in(&store, Table::EdgeDays, "edge").await,
            edges_of(&windows, &of),
            "{kind}"
        );
        assert_eq!(
            store.verify().await.unwrap().problems,
            Vec::<String>::new(),
            "{kind}"
        );
        let state = store.state().await.unwrap();
        let count = |table: Table| state.files(table).map(|file| file.rows).sum::<u64>();
        match kind {
            "contexts" => {
                let contexts = of.contexts.as_ref().unwrap();
                assert_eq!(count(Table::ContextDays), contexts.tree.nodes().len() as u64);
                assert_eq!(
                    sum(&store, Table::ContextDays, "count").await,
                    contexts.calls as i64
                );
            }
            "coverage" => {
                let coverage = of.coverage.as_ref().unwrap();
                // With those that took time.
                assert!(count(Table::MethodDays) >= coverage.methods.len() as u64);
                assert_eq!(sum(&store, Table::MethodDays, "paths").await, 0);
                assert!(count(Table::EdgeDays) > 0);
                assert_eq!(count(Table::Paths), 0);
            }
            "cpu" => {
                let cpu = of.cpu.as_ref().unwrap();
                assert_eq!(
                    sum(&store, Table::MethodDays, "cpu_ns").await,
                    cpu.total().ns as i64
                );
                assert_eq!(
                    sum(&store, Table::MethodDays, "samples").await,
                    cpu.total().samples as i64
                );
            }
            _ => {}
        }
        for batch in rows(&store, &state, Table::Paths).await {
            let exact = batch.column_by_name("exact").unwrap().as_boolean();
            let errors = batch
                .column_by_name("error")
                .unwrap()
                .as_primitive::<Float64Type>();
            for row in 0..batch.num_rows() {
                assert_eq!(exact.value(row), kind != "sampled", "{kind}");
                match kind {
                    "sampled" => assert!(errors.value(row) > 0.0),
                    _ => assert_eq!(errors.value(row), 0.0, "{kind}"),
                }
            }
        }
    }
}

#[tokio::test]
async fn profiles_that_are_no_windows() {
    let folder = TempDir::new().unwrap();
    let store = new_store(&folder).await;
    let file = folder.path().join("one.trodden");
    fixture("counters").save(&file).unwrap();
    let options = AddOptions {
        defaults: Defaults {
            build: Some("b".to_owned()),
            labels: vec![("zone".to_owned(), "a".to_owned())],
            ..Defaults::default()
        },
        ..AddOptions::default()
    };
    Adder::new(&store)
        .add(std::slice::from_ref(&file), &options)
        .await
        .unwrap();
    let state = store.state().await.unwrap();
    let batch = rows(&store, &state, Table::Windows).await.remove(0);
    let of = ["service", "build", "host"].map(|name| text(&batch, name, 0));
    assert_eq!(of, ["Shop", "b", "unknown"]);
    let bytes = std::fs::read(&file).unwrap();
    let hash: String = <sha2::Sha256 as sha2::Digest>::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(text(&batch, "jvm", 0), hash[..32]);
}

#[tokio::test]
async fn damaged_profiles() {
    let folder = TempDir::new().unwrap();
    let store = new_store(&folder).await;
    let of = fixture("counters");
    let windows: Vec<Window> = (1..=3).map(|jvm| Window::new(jvm, 1, DAY)).collect();
    let mut files: Vec<_> = windows
        .iter()
        .map(|window| window.save(&of, folder.path()))
        .collect();
    let bad = folder.path().join("bad.trodden");
    std::fs::write(&bad, &std::fs::read(&files[0]).unwrap()[..100]).unwrap();
    files.insert(1, bad.clone());
    let mut adder = Adder::new(&store);
    let error = adder.add(&files, &AddOptions::default()).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Profile { file, .. } if *file == bad),
        "{error}"
    );
    assert!(error.to_string().contains("truncated"), "{error}");
    assert_eq!(store.state().await.unwrap().version(), 0);
    let options = AddOptions {
        keep_going: true,
        ..AddOptions::default()
    };
    let added = adder.add(&files, &options).await.unwrap();
    assert_eq!((added.windows, added.failed.len()), (3, 1));
    assert_holds(&store, &windows, &of).await;
}

/// Several at once, with windows that others bring too.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_at_the_same_time() {
    let folder = TempDir::new().unwrap();
    let store = new_store(&folder).await;
    let of = fixture("counters");
    let windows: Vec<Window> = (1..=24)
        .map(|window| Window::new(window as u128 % 3 + 1, window, DAY + window))
        .collect();
    let files: Vec<_> = windows
        .iter()
        .map(|window| window.save(&of, folder.path()))
        .collect();
    let mut tasks = Vec::new();
    for writer in 0..6 {
        // Opened again: what another one knows of the log is not known here.
        let store = Store::open(store.place()).await.unwrap();
        let files: Vec<_> = files.iter().cycle().skip(writer * 4).take(12).cloned().collect();
        tasks.push(tokio::spawn(async move {
            let mut adder = Adder::new(&store);
            let mut added = 0;
            for some in files.chunks(5) {
                added += adder.add(some, &AddOptions::default()).await.unwrap().windows;
            }
            added
        }));
    }
    let mut added = 0;
    for task in tasks {
        added += task.await.unwrap();
    }
    assert_eq!(added, 24);
    assert_holds(&Store::open(store.place()).await.unwrap(), &windows, &of).await;
}

/// More commits than a checkpoint sums up; read by a reader that knows nothing.
#[tokio::test]
async fn checkpoints() {
    let folder = TempDir::new().unwrap();
    let store = new_store(&folder).await;
    let of = fixture("counters");
    let windows: Vec<Window> = (1..=70).map(|window| Window::new(1, window, DAY)).collect();
    let mut adder = Adder::new(&store);
    for window in &windows {
        let file = window.save(&of, folder.path());
        adder.add(&[file], &AddOptions::default()).await.unwrap();
    }
    let log = folder.path().join("store/log");
    assert!(log.join("00000000000000000064.checkpoint.json").exists());
    // Commits before it are not needed any more; and the hint is one only.
    for version in 1..=64 {
        std::fs::remove_file(log.join(format!("{version:020}.json"))).unwrap();
    }
    let again = Store::open(store.place()).await.unwrap();
    assert_holds(&again, &windows, &of).await;
    std::fs::remove_file(log.join("checkpoint.json")).unwrap();
    let again = Store::open(store.place()).await.unwrap();
    assert_holds(&again, &windows, &of).await;
    // A gap is reported.
    std::fs::remove_file(log.join(format!("{:020}.json", 66))).unwrap();
    let error = Store::open(store.place())
        .await
        .unwrap()
        .state()
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("log/00000000000000000066.json is damaged: it is missing"),
        "{error}"
    );
}
