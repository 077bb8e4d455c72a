//! How fast, how small: numbers for the documentation. `cargo test --release --test measure -- --ignored --nocapture`; the number of
//! profiles is `PROFILES`, a profile to make them of may be named by `PROFILE`.

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::*;
use tempfile::TempDir;
use trodden_profile::Profile;

/// Runs `trodden-store`; seconds, and the most memory that it had, in MB.
fn measured(arguments: &[&str]) -> (f64, u64) {
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_trodden-store"))
        .args(arguments)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let code = loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(kb.unwrap_or(0));
        match child.try_wait().unwrap() {
            Some(code) => break code,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    assert!(code.success());
    (began.elapsed().as_secs_f64(), peak / 1024)
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
        let (time, memory) = measured(&["add", "--create", store, spool.to_str().unwrap()]);
        seconds += time;
        peak = peak.max(memory);
    }
    let size = || -> u64 {
        let output = Command::new(env!("CARGO_BIN_EXE_trodden-store"))
            .args(["ls", store, "--format", "json"])
            .output()
            .unwrap();
        let listing: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        listing["builds"]
            .as_array()
            .unwrap()
            .iter()
            .map(|build| build["bytes"].as_u64().unwrap())
            .sum()
    };
    println!(
        "add: {profiles} profiles of {} bytes: {:.0} a second, {peak} MB; {} bytes a profile",
        bytes / profiles,
        profiles as f64 / seconds,
        size() / profiles
    );
    let (seconds, peak) = measured(&["compact", store]);
    println!(
        "compact: {seconds:.1} s, {peak} MB; {} bytes a profile",
        size() / profiles
    );
    let (seconds, peak) = measured(&["compact", store, "--to", "hour"]);
    println!(
        "compact --to hour: {seconds:.1} s, {peak} MB; {} bytes a profile",
        size() / profiles
    );
    let (seconds, peak) = measured(&["verify", store]);
    println!("verify: {seconds:.1} s, {peak} MB");
}
