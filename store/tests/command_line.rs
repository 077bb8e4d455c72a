//! What `trodden-store` says, and its exit codes.

mod common;

use std::process::{Command, Output};

use common::*;
use tempfile::TempDir;

fn run(folder: &TempDir, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_trodden-store"))
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn from_profiles_to_nothing() {
    let folder = TempDir::new().unwrap();
    let of = fixture("counters");
    for window in 1..=3 {
        Window::new(1, window, DAY).save(&of, folder.path());
    }
    let (code, _, errors) = run(&folder, &["add", "store", "."]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("there is no store at store"), "{errors}");
    let (code, out, _) = run(&folder, &["add", "--create", "store", "."]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("store: 3 windows came in ("), "{out}");
    let (code, out, _) = run(&folder, &["add", "store", "."]);
    assert_eq!(code, Some(0));
    assert!(out.ends_with("; 3 windows were there already\n"), "{out}");
    let (code, out, _) = run(&folder, &["ls", "store"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("store: 3 windows in "), "{out}");
    assert!(
        out.lines()
            .any(|line| line.starts_with("shop") && line.contains("2026-11-25")),
        "{out}"
    );
    let (code, out, _) = run(&folder, &["ls", "store", "--format", "json"]);
    let listing: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, listing["builds"][0]["windows"].as_u64()),
        (Some(0), Some(3))
    );
    let (_, out, _) = run(&folder, &["ls", "store", "--files", "paths"]);
    assert!(
        folder.path().join("store").join(out.trim_end()).is_file(),
        "{out}"
    );
    let (code, out, _) = run(&folder, &["verify", "store"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("all is well"), "{out}");
    let (code, out, _) = run(&folder, &["compact", "store", "--vacuum", "--keep", "0s"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("0 files became 0"), "{out}");
    let (code, out, _) = run(&folder, &["drop", "store", "--before", "2026-11-26"]);
    assert_eq!(code, Some(0));
    assert!(out.contains(" went ("), "{out}");
    let file = folder.path().join("bad.trodden");
    std::fs::write(&file, "no profile").unwrap();
    let (code, _, errors) = run(&folder, &["add", "store", "bad.trodden"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("bad.trodden: not a Trodden file"), "{errors}");
}

#[test]
fn a_damaged_store_breaks_the_check() {
    let folder = TempDir::new().unwrap();
    Window::new(1, 1, DAY).save(&fixture("counters"), folder.path());
    run(&folder, &["add", "--create", "store", "."]);
    let (_, out, _) = run(&folder, &["ls", "store", "--files", "edge_days"]);
    let file = folder.path().join("store").join(out.trim_end());
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let (code, out, errors) = run(&folder, &["verify", "store"]);
    assert_eq!(code, Some(3));
    assert!(out.contains("1 problem"), "{out}");
    assert!(errors.contains("data/edge_days/service=shop"), "{errors}");
}

#[test]
fn wrong_usage() {
    let folder = TempDir::new().unwrap();
    for arguments in [
        &["drop", "store"][..],
        &["drop", "store", "--before", "yesterday"],
        &["add", "store"],
        &["ls", "gs://x/y"],
        &["ls", "s3://"],
        &["compact", "store", "--older-than", "1w", "--to", "hour"],
        &["add", "store", "x", "--label", "zone"],
        &["nothing"],
    ] {
        let (code, _, errors) = run(&folder, arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {errors}");
    }
}
