//! `trodden slow`: limits, formats, and profiles that have no requests.

use assert_cmd::Command;
use predicates::str::contains;
use tempfile::TempDir;
use trodden_profile::{Profile, RequestName, Requests};

struct Room(TempDir);

impl Room {
    fn with(requests: Option<Requests>) -> Self {
        let room = Room(TempDir::with_prefix("trodden-slow-").unwrap());
        let profile = Profile {
            requests,
            ..Profile::default()
        };
        profile.save(room.0.path().join("server.trodden")).unwrap();
        room
    }

    fn slow(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trodden"));
        command.current_dir(self.0.path());
        command.args(["slow", "server.trodden"]).args(arguments);
        command
    }
}

/// A hundred requests of 1 to 100 ms, of which no paths were read.
fn hundred() -> Option<Requests> {
    Some(Requests {
        names: vec![RequestName {
            name: "shop.Server#handle".to_owned(),
            latencies: (1..=100).map(|ms| (ms * 1_000_000, 1)).collect(),
            ..RequestName::default()
        }],
        ..Requests::default()
    })
}

#[test]
fn a_profile_without_requests_says_how_to_record_them() {
    let room = Room::with(None);
    for format in ["text", "json", "html", "csv"] {
        let ran = room.slow(&["--format", format]).assert().code(1);
        ran.stderr(contains("server.trodden: the profile has no requests"))
            .stderr(contains("--requests"));
    }
}

#[test]
fn limits_are_latencies_and_percentiles() {
    let room = Room::with(hundred());
    for (limit, over, slow) in [
        ("p99", 99.0, 1),
        ("p95", 95.0, 5),
        ("p99.9", 100.0, 0),
        ("20ms", 20.0, 80),
        ("1s", 1_000.0, 0),
    ] {
        let ran = room
            .slow(&["--slow", limit, "--format", "json"])
            .assert()
            .success();
        let json: serde_json::Value = serde_json::from_slice(&ran.get_output().stdout).unwrap();
        let found = &json["requests"][0]["slow"];
        assert_eq!(
            (found["over_ms"].as_f64(), found["count"].as_u64()),
            (Some(over), Some(slow)),
            "{limit}"
        );
    }
    for wrong in ["p100", "p", "fast", "99", "p-1"] {
        room.slow(&["--slow", wrong])
            .assert()
            .code(2)
            .stderr(contains("--slow"));
    }
}

#[test]
fn the_ending_chooses_the_format() {
    let room = Room::with(hundred());
    for (file, begin) in [
        ("slow.txt", "shop.Server#handle: 100 requests"),
        ("slow.json", "{"),
        ("slow.html", "<!DOCTYPE html>"),
        ("slow.csv", "name,latency_ms"),
    ] {
        room.slow(&["-o", file]).assert().success();
        let text = std::fs::read_to_string(room.0.path().join(file)).unwrap();
        assert!(text.starts_with(begin), "{file}: {text}");
    }
    room.slow(&["-o", "slow.pdf"]).assert().code(2);
}
