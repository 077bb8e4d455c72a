//! Writers that are killed at any moment, in stores with published tables: what is published names files that are there, and after the
//! next run it has the rows that the log has; questions have the answers of before or after.

mod fleet;
mod slow;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use apache_avro::Reader;
use apache_avro::types::Value;
use fleet::{Fleet, Random};
use support::{published, python};

use trodden_store::tables::Table;
use trodden_store::{Place, Store};

const PROGRAM: &str = env!("CARGO_BIN_EXE_trodden-store");

fn run(arguments: &[&str]) -> Duration {
    let began = Instant::now();
    let output = Command::new(PROGRAM).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    began.elapsed()
}

/// Returns true if it was killed before its end.
fn run_and_kill(arguments: &[&str], after: Duration) -> bool {
    let mut child = Command::new(PROGRAM)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    // SIGKILL: nothing is tidied up.
    let _ = child.kill();
    child.wait().unwrap().code().is_none()
}

/// The records of an Avro file.
fn records(path: &Path) -> Vec<Value> {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let reader = Reader::new(&bytes[..]).unwrap();
    reader.map(Result::unwrap).collect()
}

/// A field of a record, however deep.
fn field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Union(_, inner) => field(inner, name),
        Value::Record(fields) => fields.iter().find_map(|(known, value)| {
            if known == name {
                Some(value)
            } else {
                field(value, name)
            }
        }),
        _ => None,
    }
}

fn path(value: &Value, name: &str) -> PathBuf {
    let Some(Value::String(uri)) = field(value, name) else {
        panic!("no {name} in {value:?}")
    };
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    PathBuf::from(
        percent_encoding::percent_decode_str(path)
            .decode_utf8_lossy()
            .into_owned(),
    )
}

/// Snapshot and rows of a published table, of which every file is there; `None` if it has not been published.
fn newest(store: &Path, table: Table) -> Option<(u64, u64)> {
    let folder = store.join(format!("tables/{table}/metadata"));
    let version = fs::read_to_string(folder.join("version-hint.text")).ok()?;
    let metadata = fs::read(folder.join(format!("v{version}.metadata.json"))).unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata).unwrap();
    let mut newest = None;
    for snapshot in metadata["snapshots"].as_array().unwrap() {
        let list = snapshot["manifest-list"].as_str().unwrap();
        let mut rows = 0;
        for manifest in records(Path::new(list.strip_prefix("file://").unwrap_or(list))) {
            for entry in records(&path(&manifest, "manifest_path")) {
                let file = path(&entry, "file_path");
                // Names of folders are encoded, and the URI encodes these names again.
                assert!(file.is_file(), "{table} {version}: {} is gone", file.display());
                let Some(Value::Long(count)) = field(&entry, "record_count") else {
                    panic!("{entry:?}")
                };
                rows += *count as u64;
            }
        }
        if snapshot["snapshot-id"] == metadata["current-snapshot-id"] {
            newest = Some((snapshot["snapshot-id"].as_u64().unwrap(), rows));
        }
    }
    newest
}

/// `others`: after how many turns other engines are asked.
fn kill(times: u64, others: Option<u64>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (store, kept) = (folder.path().join("store"), folder.path().join("kept"));
    let place = store.to_str().unwrap();
    let fleet = Fleet {
        jvms: 3,
        days: 4,
        ..Fleet::default()
    };
    let mut windows = fleet.write(&folder.path().join("made")).unwrap();
    windows.extend(slow::write(folder.path(), slow::PLANTED));
    // Some in deliveries of their own, the rest in one that is to be killed.
    let more = folder.path().join("more");
    fs::create_dir(&more).unwrap();
    for (at, window) in windows.iter().enumerate() {
        match at % 2 {
            0 => drop(run(&["add", "--create", place, window.to_str().unwrap()])),
            _ => drop(fs::copy(window, more.join(format!("{at}.trodden"))).unwrap()),
        }
    }
    fs::rename(&store, &kept).unwrap();
    let commands: [&[&str]; 3] = [
        &["add", place, more.to_str().unwrap()],
        &[
            "compact",
            place,
            "--to",
            "day",
            "--older-than",
            "0s",
            "--vacuum",
            "--keep",
            "0s",
        ],
        &["publish", place],
    ];
    let again = || {
        let _ = fs::remove_dir_all(&store);
        // Paths in published tables are absolute: each copy is where the first store was.
        support::copy(&kept, &store);
    };
    let open = || {
        runtime
            .block_on(Store::open(&Place::parse(place).unwrap()))
            .unwrap()
    };
    let mut known = Vec::new();
    for command in commands {
        again();
        let before = runtime.block_on(support::answers(&open()));
        let whole = run(command);
        let after = runtime.block_on(support::answers(&open()));
        known.push((whole, before, after));
    }
    assert_ne!(known[0].1, known[0].2);
    assert_eq!(known[1].1, known[1].2, "compaction changes no answer");
    let seed = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut random = Random(seed);
    let mut killed = [0; 3];
    for turn in 0..times {
        let which = (turn % 3) as usize;
        let (whole, before, after) = &known[which];
        again();
        // Anywhere in its own part of the time.
        let part = ((turn / 3) as f64 + random.below(1_000) as f64 / 1_000.0) / times.div_ceil(3) as f64;
        killed[which] += u32::from(run_and_kill(commands[which], whole.mul_f64(part)));
        let answered = runtime.block_on(support::answers(&open()));
        assert!(
            answered == *before || answered == *after,
            "{:?} {part}",
            commands[which]
        );
        // Whatever is published is whole, and not newer than the log.
        let version = runtime.block_on(open().state()).unwrap().version();
        for table in Table::ALL {
            assert!(newest(&store, table).is_none_or(|(commit, _)| commit <= version));
        }
        run(commands[which]);
        run(&["publish", place]);
        let state = runtime.block_on(open().state()).unwrap();
        for table in Table::ALL {
            let rows: u64 = state.files(table).map(|file| file.rows).sum();
            assert_eq!(newest(&store, table), Some((state.version(), rows)), "{table}");
        }
        assert_eq!(&runtime.block_on(support::answers(&open())), after);
        if others.is_some_and(|each| turn % each == 0) {
            for (engine, python) in [
                ("duckdb", python::interpreter()),
                ("pyiceberg", python::interpreter()),
                ("spark", python::with_iceberg()),
            ] {
                if let Some(python) = python {
                    published::ask(engine, python, place, &[("to", "Shop.load")]).are(after);
                }
            }
        }
    }
    println!("killed before its end: {killed:?} of {times}");
    assert!(killed.iter().all(|&killed| killed > 0), "{killed:?}");
}

#[test]
fn killed_writers_of_published_tables() {
    kill(6, None);
}

/// Takes some minutes.
#[test]
#[ignore = "long"]
fn killed_writers_of_published_tables_often() {
    kill(200, Some(20));
}
