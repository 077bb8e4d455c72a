//! The output of `trodden-store`, and its exit codes.

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

#[test]
fn questions_and_their_answers() {
    let folder = TempDir::new().unwrap();
    let of = fixture("counters");
    for window in 1..=2 {
        Window::new(1, window, DAY).save(&of, folder.path());
    }
    run(&folder, &["add", "--create", "store", "."]);

    let (code, out, errors) = run(&folder, &["query", "store", "hot-methods", "--verbose"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("Shop.order"), "{out}");
    assert!(errors.contains("nothing was spilled to disk"), "{errors}");
    let (code, out, _) = run(&folder, &["query", "store", "hot-methods", "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, answer["query"].as_str()), (Some(0), Some("hot-methods")));
    let rows = answer["rows"].as_array().unwrap().len();
    let (_, out, _) = run(&folder, &["query", "store", "hot-methods", "--format", "csv"]);
    assert_eq!(out.lines().count(), rows + 1, "{out}");
    assert!(out.contains("\r\n"), "{out:?}");
    let (_, out, _) = run(
        &folder,
        &[
            "query",
            "store",
            "hot-methods",
            "--format",
            "markdown",
            "--top",
            "1",
        ],
    );
    assert_eq!(
        out.lines().filter(|line| line.starts_with("| shop |")).count(),
        1,
        "{out}"
    );
    // Into a file: nothing on standard output, and the same text.
    let sql = "SELECT count(*) AS windows, sum(path_ends) AS ends FROM windows";
    let (_, out, _) = run(&folder, &["query", "store", "--sql", sql, "--format", "csv"]);
    let (code, none, _) = run(
        &folder,
        &[
            "query",
            "store",
            "--sql",
            sql,
            "--format",
            "csv",
            "-o",
            "answer.csv",
        ],
    );
    assert_eq!((code, none.as_str()), (Some(0), ""));
    assert_eq!(
        std::fs::read_to_string(folder.path().join("answer.csv")).unwrap(),
        out
    );
    assert!(out.starts_with("windows,ends\r\n2,"), "{out}");
    std::fs::write(folder.path().join("mine.sql"), sql).unwrap();
    let (_, from_file, _) = run(
        &folder,
        &["query", "store", "--file", "mine.sql", "--format", "csv"],
    );
    assert_eq!(from_file, out);
    let (code, out, _) = run(&folder, &["query", "--list"]);
    assert_eq!(code, Some(0));
    for (name, _) in trodden_store::query::READY {
        assert!(out.lines().any(|line| line.starts_with(name)), "{name}: {out}");
    }

    let (code, _, errors) = run(&folder, &["report", "store", "-o", "fleet.html"]);
    assert_eq!(code, Some(0), "{errors}");
    let (code, _, errors) = run(&folder, &["report", "store", "-o", "all.html", "--top", "0"]);
    assert_eq!(code, Some(0), "{errors}");
    // Programs that read the answer see nothing but it.
    let later = [
        "query",
        "store",
        "hot-methods",
        "--since",
        "2031-01-01",
        "--format",
        "csv",
    ];
    let (code, out, errors) = run(&folder, &later);
    assert_eq!((code, out.lines().count()), (Some(0), 1), "{out}");
    assert!(errors.contains("no window is there since 2031-01-01"), "{errors}");
    let page = std::fs::read_to_string(folder.path().join("fleet.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Shop.order"));
}

#[test]
fn questions_that_have_no_answer() {
    let folder = TempDir::new().unwrap();
    Window::new(1, 1, DAY).save(&fixture("counters"), folder.path());
    run(&folder, &["add", "--create", "store", "."]);
    for (arguments, expected, said) in [
        (&["query", "store", "hot-method"][..], 2, "hot-methods"),
        (&["query", "store"], 2, "nothing was asked"),
        (
            &["query", "store", "never-taken", "--since", "yesterday"],
            2,
            "yesterday",
        ),
        (
            &["query", "store", "odd-hosts", "--since", "30d"],
            2,
            "no parameter 'since'",
        ),
        (&["query", "store", "contexts-to"], 2, "--param to="),
        (
            &["query", "store", "hot-methods", "--param", "service"],
            2,
            "NAME=VALUE",
        ),
        (
            &["query", "store", "hot-methods", "--service", "shpo"],
            2,
            "did you mean 'shop'?",
        ),
        (
            &["query", "store", "--sql", "SELECT colour FROM windows"],
            2,
            "colour",
        ),
        (
            &["query", "store", "--sql", "DROP TABLE windows"],
            2,
            "one SELECT",
        ),
        (&["query", "store", "--file", "missing.sql"], 1, "missing.sql"),
        (
            &["query", "elsewhere", "hot-methods"],
            1,
            "there is no store at elsewhere",
        ),
        (&["query", "store", "hot-methods", "--memory", "1"], 2, "--memory"),
        (
            &["query", "store", "hot-methods", "-o", "no/folder/x"],
            1,
            "no/folder/x",
        ),
        (
            &["report", "elsewhere", "-o", "page.html"],
            1,
            "there is no store at elsewhere",
        ),
        (&["report", "store"], 2, "--output"),
    ] {
        let (code, out, errors) = run(&folder, arguments);
        assert_eq!(code, Some(expected), "{arguments:?}: {out}{errors}");
        assert!(errors.contains(said), "{arguments:?}: {errors}");
        assert_eq!(out, "", "{arguments:?}");
    }
    assert!(!folder.path().join("page.html").exists());
    // A store that a later version made.
    let about = folder.path().join("store/trodden-store.json");
    let text = std::fs::read_to_string(&about).unwrap();
    let later = text.replace("\"format_version\":1", "\"format_version\":9");
    assert_ne!(text, later);
    std::fs::write(&about, later).unwrap();
    let (code, _, errors) = run(&folder, &["query", "store", "hot-methods"]);
    assert_eq!(code, Some(1));
    assert!(
        errors.contains("trodden-store.json") && errors.contains('9'),
        "{errors}"
    );
}
