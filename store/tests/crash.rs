//! A writer that is killed at any moment leaves a store that is what it was before, or what it was to become.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::*;
use tempfile::TempDir;
use trodden_store::tables::Table;
use trodden_store::{Place, Store, VacuumOptions};

/// Runs `trodden-store`, and kills it after a while; returns true if it was killed.
fn run_and_kill(arguments: &[&str], after: Duration) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trodden-store"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    // SIGKILL: nothing is tidied up.
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => false,
        Some(code) => panic!("exit code {code}: {text}"),
        None => true,
    }
}

/// How long a whole run takes, about.
fn time_of(arguments: &[&str]) -> Duration {
    let began = std::time::Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_trodden-store"))
        .args(arguments)
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    began.elapsed()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()))
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Kills adding and compacting `times` times each.
fn kill(times: u32) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = TempDir::new().unwrap();
    let of = fixture("counters");
    let start = 20_000 * 24 * HOUR;
    let (store, profiles) = (folder.path().join("store"), folder.path().join("profiles"));
    std::fs::create_dir(&profiles).unwrap();
    let windows: Vec<Window> = (1..=16)
        .map(|window| Window::new(1, window, start + window * 600_000))
        .collect();
    let (before, more) = windows.split_at(8);
    for window in before {
        let file = window.save(&of, folder.path());
        time_of(&["add", "--create", store.to_str().unwrap(), file.to_str().unwrap()]);
    }
    more.iter().for_each(|window| drop(window.save(&of, &profiles)));
    let open = |at: &Path| {
        let place = Place::parse(at.to_str().unwrap()).unwrap();
        runtime.block_on(Store::open(&place)).unwrap()
    };
    // A copy each time, so that each kill hits the same work.
    let work = folder.path().join("work");
    let again = || {
        let _ = std::fs::remove_dir_all(&work);
        copy(&store, &work);
    };
    let add = ["add", work.to_str().unwrap(), profiles.to_str().unwrap()];
    let compact = ["compact", "--to", "hour", work.to_str().unwrap()];
    for arguments in [&add[..], &compact] {
        again();
        let whole = time_of(arguments);
        let (mut killed, mut done) = (0, 0);
        for turn in 0..times {
            again();
            // From nothing to a bit more than all of it, in an order that is not regular.
            let part = f64::from(turn * 7919 % times) / f64::from(times) * 1.1;
            killed += u32::from(run_and_kill(arguments, whole.mul_f64(part)));
            let store = open(&work);
            runtime.block_on(async {
                let came_in = store.state().await.unwrap().windows().len() > before.len() as u64;
                done += u32::from(came_in);
                let expected = if came_in { &windows[..] } else { before };
                assert_holds(&store, expected, &of).await;
            });
            // The next run finishes it; and what was left behind goes.
            assert!(
                Command::new(env!("CARGO_BIN_EXE_trodden-store"))
                    .args(arguments)
                    .stdout(Stdio::null())
                    .status()
                    .unwrap()
                    .success()
            );
            let store = open(&work);
            runtime.block_on(async {
                let expected = if arguments[0] == "add" {
                    &windows[..]
                } else {
                    before
                };
                assert_holds(&store, expected, &of).await;
                let all = VacuumOptions {
                    removed: Duration::ZERO,
                    unknown: Duration::ZERO,
                    log: Duration::from_secs(86_400),
                };
                store.vacuum(&all).await.unwrap();
                let state = store.state().await.unwrap();
                assert_eq!(files_below(&work.join("data")), state.all_files().count());
                assert!(state.files(Table::Paths).count() > 0);
            });
        }
        assert!(killed > 0, "nothing was killed in {whole:?}");
    }
}

/// Also those that no object store lists.
fn files_below(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .map(|path| if path.is_dir() { files_below(&path) } else { 1 })
        .sum()
}

#[test]
fn killed_writers() {
    kill(12);
}

/// Takes some minutes.
#[test]
#[ignore = "long"]
fn killed_writers_often() {
    kill(120);
}
