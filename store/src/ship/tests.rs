//! Shipping into a sink that fails whenever it likes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::watch;
use trodden_profile::{Profile, facts};

use super::*;

/// Knows what arrived, by file name; fails as the test demands, before or after it has taken what it was
/// given.
struct Store {
    windows: BTreeSet<String>,
    /// Deliveries so far.
    calls: usize,
    fails: fn(usize) -> Option<Failure>,
}

#[derive(Clone, Copy)]
enum Failure {
    Before,
    After,
    Refused,
}

impl Store {
    fn failing(fails: fn(usize) -> Option<Failure>) -> Self {
        Store {
            windows: BTreeSet::new(),
            calls: 0,
            fails,
        }
    }
}

impl Sink for Store {
    async fn add(&mut self, windows: &[PathBuf]) -> Result<Arrived, SinkError> {
        let failure = (self.fails)(self.calls);
        self.calls += 1;
        match failure {
            Some(Failure::Before) => return Err(SinkError::Unreachable("no network".into())),
            Some(Failure::Refused) => {
                return Err(SinkError::Refused(Box::new(StoreError::Usage(
                    "no such store".into(),
                ))));
            }
            Some(Failure::After) | None => {}
        }
        let mut arrived = Arrived::default();
        for file in windows {
            let name = file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if self.windows.insert(name) {
                arrived.added += 1
            } else {
                arrived.known += 1
            }
        }
        match failure {
            Some(_) => Err(SinkError::Unreachable("the answer was lost".into())),
            None => Ok(arrived),
        }
    }
}

/// A spool folder with windows of some JVMs.
fn spool_of(jvms: u32, windows: u32) -> (tempfile::TempDir, BTreeSet<String>) {
    let folder = tempfile::tempdir().unwrap();
    let mut names = BTreeSet::new();
    for jvm in 0..jvms {
        for window in 1..=windows {
            let name = format!("{jvm:032x}-{window:08}.trodden");
            let mut profile = Profile::default();
            profile.run.facts.set(facts::JVM_ID, format!("{jvm:032x}"));
            profile.run.facts.set(facts::WINDOW, u64::from(window));
            profile.save(folder.path().join(&name)).unwrap();
            names.insert(name);
        }
    }
    (folder, names)
}

fn options(folder: &Path) -> ShipOptions {
    ShipOptions {
        once: true,
        batch: 7,
        pauses: (Duration::from_millis(1), Duration::from_millis(4)),
        ..ShipOptions::new(folder.to_owned())
    }
}

async fn shipped(options: &ShipOptions, store: &mut Store) -> (Result<Shipped, ShipError>, Vec<String>) {
    let (_stop, stopped) = watch::channel(false);
    let mut said = Vec::new();
    let result = ship(options, store, stopped, |line| said.push(line.to_owned())).await;
    (result, said)
}

fn left(folder: &Path) -> usize {
    let all = fs::read_dir(folder).unwrap().flatten();
    all.filter(|entry| entry.path().extension().is_some_and(|e| e == "trodden"))
        .count()
}

#[tokio::test]
async fn each_window_arrives_once_whatever_fails() {
    let (folder, names) = spool_of(3, 11);
    // Every other delivery fails, by turns before and after it has arrived.
    let mut store = Store::failing(|call| match call % 4 {
        1 => Some(Failure::Before),
        3 => Some(Failure::After),
        _ => None,
    });
    let (result, said) = shipped(&options(folder.path()), &mut store).await;
    let all = result.unwrap();
    assert_eq!(store.windows, names);
    assert_eq!(all.added + all.known, 33, "{said:?}");
    assert!(all.known > 0, "an answer was lost: {said:?}");
    assert_eq!(left(folder.path()), 0);
}

#[tokio::test]
async fn one_window_is_not_several() {
    let (folder, _) = spool_of(1, 1);
    let (_, said) = shipped(&options(folder.path()), &mut Store::failing(|_| None)).await;
    assert_eq!(said, ["1 window arrived"]);
}

#[tokio::test]
async fn a_store_that_is_away_for_good_leaves_all_windows() {
    let (folder, names) = spool_of(1, 3);
    let mut store = Store::failing(|_| Some(Failure::Before));
    let (result, _) = shipped(&options(folder.path()), &mut store).await;
    assert!(
        matches!(result, Err(ShipError::Unreachable { attempts: 5, .. })),
        "{result:?}"
    );
    assert_eq!(left(folder.path()), names.len());
    let mut store = Store::failing(|_| Some(Failure::Refused));
    let (result, _) = shipped(&options(folder.path()), &mut store).await;
    assert!(matches!(result, Err(ShipError::Store(_))), "{result:?}");
    assert_eq!((store.calls, left(folder.path())), (1, names.len()));
}

#[tokio::test]
async fn a_damaged_window_is_put_aside_with_the_reason_and_the_others_arrive() {
    let (folder, names) = spool_of(1, 9);
    let damaged = names.iter().nth(4).unwrap();
    let file = folder.path().join(damaged);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let mut store = Store::failing(|_| None);
    let (result, said) = shipped(&options(folder.path()), &mut store).await;
    let all = result.unwrap();
    assert_eq!((all.added, all.rejected), (8, 1), "{said:?}");
    assert_eq!(
        fs::read(folder.path().join("rejected").join(damaged)).unwrap(),
        bytes
    );
    let why = folder.path().join("rejected").join(damaged).with_extension("why");
    assert!(!fs::read_to_string(why).unwrap().trim().is_empty());
    assert_eq!(left(folder.path()), 0);
}

#[tokio::test]
async fn two_do_not_ship_from_one_folder() {
    let (folder, _) = spool_of(1, 1);
    let _first = lock(folder.path()).unwrap();
    let (result, _) = shipped(&options(folder.path()), &mut Store::failing(|_| None)).await;
    assert!(matches!(result, Err(ShipError::Busy(_))), "{result:?}");
    let (result, _) = shipped(
        &options(&folder.path().join("none")),
        &mut Store::failing(|_| None),
    )
    .await;
    assert!(matches!(result, Err(ShipError::Folder { .. })), "{result:?}");
}
