//! Compaction keeps what a store says.

mod common;

use std::time::Duration;

use common::*;
use proptest::prelude::*;
use tempfile::TempDir;
use trodden_profile::Profile;
use trodden_store::log::Granularity;
use trodden_store::tables::Table;
use trodden_store::{AddOptions, Adder, CompactOptions, DropOptions, Place, Store, VacuumOptions};

async fn new_store(folder: &TempDir) -> Store {
    let place = Place::parse(folder.path().join("store").to_str().unwrap()).unwrap();
    Store::create(&place).await.unwrap()
}

async fn add_each(store: &Store, windows: &[Window], of: &Profile, at_a_time: usize, folder: &TempDir) {
    let mut adder = Adder::new(store);
    for some in windows.chunks(at_a_time) {
        let files: Vec<_> = some.iter().map(|window| window.save(of, folder.path())).collect();
        adder.add(&files, &AddOptions::default()).await.unwrap();
    }
}

fn all_now() -> VacuumOptions {
    VacuumOptions {
        removed: Duration::ZERO,
        unknown: Duration::ZERO,
        log: Duration::ZERO,
    }
}

async fn count_files(store: &Store) -> (usize, u64) {
    let state = store.state().await.unwrap();
    (
        state.all_files().count(),
        state.files(Table::Paths).map(|file| file.rows).sum(),
    )
}

#[tokio::test]
async fn many_files_become_few() {
    let folder = TempDir::new().unwrap();
    let store = new_store(&folder).await;
    let of = fixture("counters");
    // Two JVMs, windows of ten minutes, past midnight.
    let start = 20_000 * 24 * HOUR;
    let mut windows = Vec::new();
    for jvm in [7, 8] {
        for window in 1..=20 {
            windows.push(Window::new(jvm, window, start + 22 * HOUR + window * 600_000));
        }
    }
    add_each(&store, &windows, &of, 3, &folder).await;
    let before = count_files(&store).await;
    let done = store.compact(&CompactOptions::default()).await.unwrap();
    let after = count_files(&store).await;
    assert!(after.0 < before.0 / 3, "{before:?} {after:?}");
    assert_eq!(after.1, before.1, "windows were combined without being asked for");
    assert_eq!(done.before.files - done.after.files, (before.0 - after.0) as u64);
    assert_holds(&store, &windows, &of).await;
    assert_eq!(
        store
            .compact(&CompactOptions::default())
            .await
            .unwrap()
            .partitions,
        0
    );
    // From 22:10 to 1:20: four hours of two JVMs, on two days.
    for (grain, rows) in [(Granularity::Hour, 8), (Granularity::Day, 4)] {
        let options = CompactOptions {
            to: Some(grain),
            ..CompactOptions::default()
        };
        store.compact(&options).await.unwrap();
        let state = store.state().await.unwrap();
        let left: u64 = state.files(Table::Windows).map(|file| file.rows).sum();
        assert_eq!(left, rows, "{grain:?}");
        assert_holds(&store, &windows, &of).await;
    }
    let gone = store.vacuum(&all_now()).await.unwrap();
    assert!(gone.files > 0);
    assert_holds(&store, &windows, &of).await;
    assert_eq!(store.vacuum(&all_now()).await.unwrap().files, 0);
}

/// Late windows of an hour that was combined already join it.
#[tokio::test]
async fn late_windows() {
    let folder = TempDir::new().unwrap();
    let store = new_store(&folder).await;
    let of = fixture("counters");
    let start = 20_000 * 24 * HOUR;
    let windows: Vec<Window> = (1..=9)
        .map(|window| Window::new(1, window, start + window * 60_000))
        .collect();
    let options = CompactOptions {
        to: Some(Granularity::Hour),
        ..CompactOptions::default()
    };
    let [early, late] = [0, 1].map(|odd| {
        windows
            .iter()
            .filter(|window| window.window % 2 == odd)
            .cloned()
            .collect::<Vec<_>>()
    });
    for some in [early, late] {
        add_each(&store, &some, &of, 2, &folder).await;
        store.compact(&options).await.unwrap();
        let state = store.state().await.unwrap();
        assert_eq!(state.files(Table::Windows).map(|file| file.rows).sum::<u64>(), 1);
    }
    let state = store.state().await.unwrap();
    let batch = rows(&store, &state, Table::Windows).await.remove(0);
    assert_eq!(
        (
            numbers(&batch, "window").value(0),
            numbers(&batch, "merged").value(0)
        ),
        (1, 9)
    );
    let batch = rows(&store, &state, Table::Paths).await.remove(0);
    assert!(numbers(&batch, "window").iter().all(|window| window == Some(1)));
    assert_holds(&store, &windows, &of).await;
    // They do not come in again.
    let added = Adder::new(&store)
        .add(&[windows[3].save(&of, folder.path())], &AddOptions::default())
        .await
        .unwrap();
    assert_eq!((added.windows, added.known), (0, 1));
}

#[tokio::test]
async fn dropping_days() {
    let folder = TempDir::new().unwrap();
    let store = new_store(&folder).await;
    let of = fixture("counters");
    let windows: Vec<Window> = (1..=6)
        .map(|window| Window::new(1, window, DAY + window * 12 * HOUR))
        .collect();
    add_each(&store, &windows, &of, 2, &folder).await;
    let options = DropOptions {
        before: Some("2026-11-27".parse().unwrap()),
        ..DropOptions::default()
    };
    let dropped = store.drop_files(&options).await.unwrap();
    assert!(dropped.files > 0 && dropped.rows > 0);
    let kept: Vec<Window> = windows
        .iter()
        .filter(|window| window.started_ms >= DAY + 48 * HOUR)
        .cloned()
        .collect();
    assert_eq!(
        counts_in(&store, Table::Paths, "path").await,
        paths_of(&kept, &of)
    );
    assert!(store.verify().await.unwrap().problems.is_empty());
    // Their windows stay known.
    let added = Adder::new(&store)
        .add(&[windows[0].save(&of, folder.path())], &AddOptions::default())
        .await
        .unwrap();
    assert_eq!((added.windows, added.known), (0, 1));
    let options = DropOptions {
        service: Some("shop".to_owned()),
        ..DropOptions::default()
    };
    store.drop_files(&options).await.unwrap();
    assert_eq!(store.state().await.unwrap().all_files().count(), 0);
    // Neither files nor the folders that they were in are left.
    let gone = store.vacuum(&all_now()).await.unwrap();
    assert!(gone.files > 0 && gone.folders > 0, "{gone:?}");
    let data = folder.path().join("store/data");
    assert_eq!(std::fs::read_dir(data).unwrap().count(), 0);
    // Everything is described again when something comes in.
    let window = Window::new(2, 1, DAY);
    add_each(&store, &[window], &of, 1, &folder).await;
    assert!(store.state().await.unwrap().files(Table::Methods).count() == 1);
}

/// Adding, compacting, deleting and reading, all at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn beside_writers_and_readers() {
    let folder = TempDir::new().unwrap();
    let store = new_store(&folder).await;
    let of = fixture("counters");
    let start = 20_000 * 24 * HOUR;
    let windows: Vec<Window> = (1..=30)
        .map(|window| Window::new(window as u128 % 4, window, start + window * 500_000))
        .collect();
    let files: Vec<_> = windows
        .iter()
        .map(|window| window.save(&of, folder.path()))
        .collect();
    let place = store.place().clone();
    let mut tasks = Vec::new();
    for half in files.chunks(15).map(<[_]>::to_vec) {
        let store = Store::open(&place).await.unwrap();
        tasks.push(tokio::spawn(async move {
            let mut adder = Adder::new(&store);
            for file in half {
                adder.add(&[file], &AddOptions::default()).await.unwrap();
            }
        }));
    }
    for to in [Some(Granularity::Hour), None] {
        let store = Store::open(&place).await.unwrap();
        tasks.push(tokio::spawn(async move {
            for _ in 0..6 {
                let options = CompactOptions {
                    to,
                    ..CompactOptions::default()
                };
                store.compact(&options).await.unwrap();
                // Unknown files are those of writers here.
                let options = VacuumOptions {
                    removed: Duration::from_secs(3600),
                    ..VacuumOptions::default()
                };
                store.vacuum(&options).await.unwrap();
            }
        }));
    }
    for _ in 0..10 {
        let found = Store::open(&place).await.unwrap().verify().await.unwrap();
        assert_eq!(found.problems, Vec::<String>::new());
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_holds(&Store::open(&place).await.unwrap(), &windows, &of).await;
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]
    /// Whatever comes in, in whatever order it is compacted: sums and windows are kept.
    #[test]
    fn compaction_keeps_all(
        places in prop::collection::btree_map((0u128..4, 1u64..40), 0u64..3, 1..25),
        steps in prop::collection::vec((1usize..6, prop::option::of(prop::bool::ANY)), 1..4),
        kind in prop::sample::select(vec!["counters", "cpu", "sampled"]),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let folder = TempDir::new().unwrap();
            let store = new_store(&folder).await;
            let of = fixture(kind);
            let start = 20_000 * 24 * HOUR;
            let windows: Vec<Window> = places
                .iter()
                .map(|(&(jvm, window), &day)| Window::new(jvm, window, start + day * 24 * HOUR + window * 1_700_000))
                .collect();
            let share = windows.len().div_ceil(steps.len());
            let mut before = Vec::new();
            for (some, (at_a_time, to)) in windows.chunks(share).zip(&steps) {
                add_each(&store, some, &of, *at_a_time, &folder).await;
                before.extend_from_slice(some);
                let options = CompactOptions {
                    to: to.map(|day| if day { Granularity::Day } else { Granularity::Hour }),
                    target: 4096,
                    ..CompactOptions::default()
                };
                store.compact(&options).await.unwrap();
                assert_holds(&store, &before, &of).await;
            }
        });
    }
}
