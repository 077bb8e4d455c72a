//! How fast, how small: numbers for the documentation. `cargo test --release --test measure -- --ignored --nocapture`; the number of
//! profiles is `PROFILES`, of hosts `HOSTS`, a profile to make them of may be named by `PROFILE`; a folder with the windows of a real JVM by `WINDOWS`.

mod common;
mod fleet;
mod measured;
mod slow;

use std::path::Path;

use common::*;
use tempfile::TempDir;
use trodden_profile::Profile;

const PROGRAM: &str = env!("CARGO_BIN_EXE_trodden-store");

/// Runs `trodden-store`; seconds, and the most memory that it had, in MB.
fn took(arguments: &[&str]) -> (f64, u64) {
    let took = measured::took(Path::new(PROGRAM), arguments).unwrap();
    (took.seconds, took.peak_mb)
}

fn size(store: &str) -> u64 {
    measured::size(Path::new(PROGRAM), store).unwrap()
}

/// A day of `JVMS` JVMs that write a window each minute, delivered once an hour: the first one of each is the first one
/// of the folder, those after it are the others of the folder in turn.
#[test]
#[ignore = "a measurement"]
fn a_day_of_real_windows() {
    let Some(folder) = std::env::var_os("WINDOWS") else {
        panic!("WINDOWS names a folder with the windows of a JVM")
    };
    let jvms: u64 = std::env::var("JVMS").map_or(1, |text| text.parse().unwrap());
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let real: Vec<Profile> = files.iter().map(|file| Profile::load(file).unwrap()).collect();
    let (first, later) = real.split_first().unwrap();
    assert!(!later.is_empty(), "the folder has a single window");
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("store");
    let store = store.to_str().unwrap();
    let day = 20_000 * 24 * HOUR;
    let (mut seconds, mut peak, mut bytes) = (0.0, 0, 0);
    for hour in 0..24 {
        let spool = folder.path().join(format!("spool{hour}"));
        std::fs::create_dir(&spool).unwrap();
        for (minute, jvm) in
            (hour * 60..hour * 60 + 60).flat_map(|minute| (0..jvms).map(move |jvm| (minute, jvm)))
        {
            let of = match minute {
                0 => first,
                _ => &later[(minute + jvm) as usize % later.len()],
            };
            let window = Window::new(u128::from(jvm), minute + 1, day + minute * 60_000);
            bytes += window.save(of, &spool).metadata().unwrap().len();
        }
        let (time, memory) = took(&["add", "--create", store, spool.to_str().unwrap()]);
        seconds += time;
        peak = peak.max(memory);
        std::fs::remove_dir_all(spool).unwrap();
    }
    let windows = jvms * 24 * 60;
    println!(
        "add: {windows} windows of {} bytes: {:.0} a second, {peak} MB; {} bytes a JVM and day",
        bytes / windows,
        windows as f64 / seconds,
        size(store) / jvms
    );
    for grain in [&[][..], &["--to", "hour"], &["--to", "day"]] {
        let mut arguments = vec!["compact", store];
        arguments.extend(grain);
        let (seconds, peak) = took(&arguments);
        println!(
            "{}: {seconds:.1} s, {peak} MB; {} bytes a JVM and day",
            arguments.join(" ").replacen(&format!(" {store}"), "", 1),
            size(store) / jvms
        );
    }
}

#[test]
#[ignore = "a measurement"]
fn ingestion_and_compaction() {
    let profiles: u64 = std::env::var("PROFILES").map_or(2_000, |text| text.parse().unwrap());
    let of = match std::env::var_os("PROFILE") {
        Some(file) => Profile::load(file).unwrap(),
        None => fixture("counters"),
    };
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("store");
    let store = store.to_str().unwrap();
    let start = 20_000 * 24 * HOUR;
    let mut bytes = 0;
    // Windows of a minute of a hundred JVMs, in ten deliveries.
    for delivery in 0..10 {
        let spool = folder.path().join(format!("spool{delivery}"));
        std::fs::create_dir(&spool).unwrap();
        for one in 0..profiles / 10 {
            let window = delivery * (profiles / 1000).max(1) + one / 100;
            let file =
                Window::new(u128::from(one % 100), window + 1, start + window * 60_000).save(&of, &spool);
            bytes += file.metadata().unwrap().len();
        }
    }
    let (mut seconds, mut peak) = (0.0, 0);
    for delivery in 0..10 {
        let spool = folder.path().join(format!("spool{delivery}"));
        let (time, memory) = took(&["add", "--create", store, spool.to_str().unwrap()]);
        seconds += time;
        peak = peak.max(memory);
    }
    println!(
        "add: {profiles} profiles of {} bytes: {:.0} a second, {peak} MB; {} bytes a profile",
        bytes / profiles,
        profiles as f64 / seconds,
        size(store) / profiles
    );
    let (seconds, peak) = took(&["compact", store]);
    println!(
        "compact: {seconds:.1} s, {peak} MB; {} bytes a profile",
        size(store) / profiles
    );
    let (seconds, peak) = took(&["compact", store, "--to", "hour"]);
    println!(
        "compact --to hour: {seconds:.1} s, {peak} MB; {} bytes a profile",
        size(store) / profiles
    );
    let (seconds, peak) = took(&["verify", store]);
    println!("verify: {seconds:.1} s, {peak} MB");
}

/// Time and memory of `slow-requests` if each host has a recording.
#[test]
#[ignore = "a measurement"]
fn slow_requests_of_many_hosts() {
    let hosts: u32 = std::env::var("HOSTS").map_or(1_000, |text| text.parse().unwrap());
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("store");
    let store = store.to_str().unwrap();
    let plan = slow::Plan {
        requests: 400,
        ..slow::PLANTED
    };
    let all: Vec<u32> = (0..hosts).collect();
    for some in all.chunks(500) {
        let spool = folder.path().join("spool");
        std::fs::create_dir(&spool).unwrap();
        for &host in some {
            let bytes = slow::recording(host, plan).to_bytes().unwrap();
            std::fs::write(spool.join(format!("{host}.trodden")), bytes).unwrap();
        }
        took(&["add", "--create", store, spool.to_str().unwrap()]);
        std::fs::remove_dir_all(spool).unwrap();
    }
    for when in ["as delivered", "compacted"] {
        let (seconds, peak) = took(&["query", store, "slow-requests"]);
        println!(
            "slow-requests of {hosts} hosts, {when}: {seconds:.2} s, {peak} MB; {} bytes",
            size(store)
        );
        took(&["compact", store]);
    }
}
