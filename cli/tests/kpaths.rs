//! `report`, `compare` and `merge` over profiles with k-iteration path forests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use trodden_numbering::{EdgeWeights, NumberingOptions, PathDag, SimpleGraph};
use trodden_profile::{
    BlockExit, BlockInfo, ClassMap, ClassProfile, EdgeLabel, KPaths, LineEntry, MethodCounts, MethodMap,
    PathForest, Profile,
};

fn trodden() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trodden"));
    command.env("NO_COLOR", "1");
    command
}

/// A loop with two ways through.
pub fn walk() -> MethodMap {
    let graph = SimpleGraph::new(5, &[(0, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 4)]);
    let dag = PathDag::build(
        &graph,
        &EdgeWeights::uniform(&graph),
        &NumberingOptions::default(),
    )
    .unwrap();
    let both = vec![EdgeLabel::Taken, EdgeLabel::NotTaken];
    let block = |index: u32, exit, labels: Vec<EdgeLabel>| BlockInfo {
        start: index * 4,
        end: index * 4 + 4,
        last: index * 4 + 3,
        exit,
        labels: labels.into(),
    };
    let fall = || vec![EdgeLabel::FallThrough];
    MethodMap {
        name: "walk".to_owned(),
        descriptor: "()V".to_owned(),
        code_length: 20,
        blocks: vec![
            block(0, BlockExit::FallThrough, fall()),
            block(1, BlockExit::Branch, both.clone()),
            block(2, BlockExit::Goto, vec![EdgeLabel::Goto]),
            block(3, BlockExit::Branch, both),
            block(4, BlockExit::Return, vec![]),
        ],
        graph,
        dag,
        lines: (0..5)
            .map(|i| LineEntry {
                bci: i * 4,
                line: 10 + i,
            })
            .collect(),
        unobserved: vec![],
        inlined: Vec::new(),
        shape: None,
    }
}

pub fn saved(directory: &Path, name: &str, k: u32, rows: &[(u32, u64, u64)]) -> PathBuf {
    let class = ClassMap {
        name: "a/B".to_owned(),
        sha256: [1; 32],
        source_file: None,
        methods: vec![walk()],
    };
    let mut profile = Profile {
        classes: vec![ClassProfile {
            map: Arc::new(class),
            counts: vec![MethodCounts::default()],
        }],
        kpaths: Some(KPaths {
            k,
            methods: [((0, 0), PathForest::from_preorder(rows.iter().copied()).unwrap())].into(),
            ..KPaths::default()
        }),
        ..Profile::default()
    };
    profile.run.exact = true;
    let file = directory.join(name);
    profile.save(&file).unwrap();
    file
}

/// <1> 100 times, then 1 again 90 times and 2 in 9.
pub const ROWS: &[(u32, u64, u64)] = &[(1, 1, 100), (2, 1, 90), (3, 1, 85), (2, 2, 9), (1, 2, 9)];

#[test]
fn the_tree_is_reported_and_pruned_as_asked() {
    let room = tempfile::tempdir().unwrap();
    let file = saved(room.path(), "a.trodden", 3, ROWS);
    let report = |options: &[&str]| trodden().arg("report").arg(&file).args(options).assert();
    report(&[])
        .success()
        .stdout(contains("85.0 % (85.0 %)  1 ×2").and(contains("9.0 % (9.0 %)  2")));
    report(&["--min-root", "10"])
        .success()
        .stdout(contains("  2\n").not());
    report(&["--min-parent", "9.5%"])
        .success()
        .stdout(contains("  2\n").not());
    report(&["--unfold"])
        .success()
        .stdout(contains("90.0 % (90.0 %)  1\n").and(contains("94.4 % (85.0 %)  1\n")));
    report(&["--format", "dot"])
        .success()
        .stdout(contains(r#"[label="9.0 % (9.0 %)"]"#));
    report(&["--format", "html"])
        .success()
        .stdout(contains("What came next"));
    report(&["--min-root", "101"])
        .code(2)
        .stderr(contains("not from 0 to 100"));
    report(&["--min-parent", "x"])
        .code(2)
        .stderr(contains("not a number"));
    let output = report(&["--format", "json"]).success();
    let document: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!(document["kpaths"]["k"], 3);
    assert_eq!(document["kpaths"]["methods"][0]["trees"][0][1]["of_parent"], 0.9);
}

#[test]
fn forests_add_up_unless_k_differs() {
    let room = tempfile::tempdir().unwrap();
    let (a, b) = (
        saved(room.path(), "a.trodden", 3, ROWS),
        saved(room.path(), "b.trodden", 4, ROWS),
    );
    let out = room.path().join("out.trodden");
    trodden()
        .arg("merge")
        .args([&a, &a])
        .arg("-o")
        .arg(&out)
        .assert()
        .success();
    let merged = Profile::load(&out).unwrap().kpaths.unwrap();
    assert_eq!(merged.methods[&(0, 0)].count(&[1, 1]), 180);
    let what = contains("k of the k-iteration path forest is 3 in ");
    let names = what
        .and(contains("a.trodden, but 4 in "))
        .and(contains("b.trodden"));
    trodden()
        .arg("merge")
        .args([&a, &a, &b])
        .arg("-o")
        .arg(&out)
        .assert()
        .code(1)
        .stderr(names);
}

#[test]
fn forests_are_compared() {
    let room = tempfile::tempdir().unwrap();
    let a = saved(room.path(), "a.trodden", 3, ROWS);
    let b = saved(room.path(), "b.trodden", 2, &[(1, 1, 10), (2, 1, 5), (2, 2, 5)]);
    let plain = room.path().join("plain.trodden");
    Profile::default().save(&plain).unwrap();
    let compare = |x: &PathBuf, y: &PathBuf, json: bool| {
        let mut command = trodden();
        command.arg("compare").args([x, y]);
        command
            .args(json.then_some(["--format", "json"]).into_iter().flatten())
            .assert()
            .success()
    };
    let output = compare(&a, &b, true);
    let document: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    let kpaths = &document["kpaths"];
    assert_eq!(kpaths["k"], serde_json::json!([3, 2]));
    // <1,1> has 90 of 99 and 5 of 10, <1,2> 9 of 99 and 5 of 10.
    let overlap = kpaths["levels"][1]["overlap"].as_f64().unwrap();
    assert!((overlap - (0.5 + 9.0 / 99.0)).abs() < 1e-9);
    assert_eq!(kpaths["levels"].as_array().unwrap().len(), 2);
    assert_eq!(kpaths["methods"][0]["name"], "walk");
    compare(&a, &a, false)
        .stdout(contains("k-iteration paths").and(contains("100.00 %           2           2           2")));
    compare(&a, &plain, false)
        .stdout(contains("k-iteration").not())
        .stderr(contains("plain.trodden has no k-iteration paths to compare"));
}
