//! Files with every kind of profile, as the code of 2026-11-22 wrote them before kinds became plug-ins: the same bytes are
//! read and written today. `TRODDEN_WRITE_GOLDEN=1 cargo test -p trodden-profile --test suite golden` writes them anew, for a new
//! version of the format.

use std::num::NonZeroU32;
use std::path::Path;

use crate::common::*;
use trodden_numbering::{EdgeWeights, SimpleGraph};
use trodden_profile::options::ContextWeight;
use trodden_profile::structural::{GraphCounts, MethodStructure, Structural};
use trodden_profile::{
    ContextNode, ContextTree, Contexts, CpuFailure, CpuFrame, CpuFrameKind, CpuRow, CpuSamples, CpuTime,
    MethodMap, Observation, PathForest, Profile, RunInfo, Skipped, Subpath, SubpathRun, Subpaths, merge,
};

/// A loop with two ways inside: 0 → 1, 1 → 2 | 5, 2 → 3 | 4, 3 → 1, 4 → 1.
fn loops(name: &str) -> MethodMap {
    let graph = SimpleGraph::new(6, &[(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 1), (4, 1)]);
    let weights = EdgeWeights::uniform(&graph);
    method_over(name, graph, &weights, 1000).unwrap()
}

fn run(start: u64) -> RunInfo {
    let facts = [
        ("cpus", "2"),
        ("events", "1700"),
        ("os", "Linux"),
        ("pid", if start == 7 { "41" } else { "42" }),
        ("threads", "3"),
    ];
    RunInfo {
        jvm: "OpenJDK 17".to_owned(),
        command: "Golden --all".to_owned(),
        started_ms: start,
        seconds: 1.25,
        probe: "events".to_owned(),
        schedule: Some("sag:64:17".to_owned()),
        interval_ns: Some(20_000_000),
        exact: true,
        options: "profile=kpaths+contexts".to_owned(),
        version: "0.1.0".to_owned(),
        facts: facts
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into_iter()
            .collect(),
    }
}

fn contexts() -> Contexts {
    let node = |depth, method, site, prefix, calls| ContextNode {
        depth,
        class: 0,
        method,
        site,
        prefix,
        calls,
    };
    let nodes = vec![
        node(1, 0, None, None, Some((5, 5))),
        node(2, 0, Some(17), Some(1), Some((3, 4))),
        node(2, 1, Some(7), None, None),
        node(3, 0, Some(27), Some(0), Some((2, 3))),
    ];
    Contexts {
        algorithm: "lss".to_owned(),
        thresholds: Some((0.01, 0.002)),
        weight: ContextWeight::Time,
        bursts: Some("static:100ms:10ms".to_owned()),
        calls: 12,
        absent: 1,
        peak_nodes: 9,
        peak_bytes: 512,
        dropped: 1,
        orphans: 2,
        tree: ContextTree::from_preorder(nodes).unwrap(),
        groups: None,
    }
}

fn subpaths() -> Subpaths {
    let run = |path, from, blocks, times| SubpathRun {
        class: 0,
        method: 1,
        path,
        from,
        blocks,
        times,
    };
    let subpath = |runs: Vec<SubpathRun>, missing, estimate| Subpath {
        length: runs.iter().map(|r| r.blocks * r.times).sum::<u32>() + missing,
        sampled: 3,
        estimate,
        low: estimate - 10,
        high: estimate + 20,
        runs,
        missing,
    };
    Subpaths {
        lengths: "pow2:16".to_owned(),
        order: "path-ends".to_owned(),
        identity: "rotation".to_owned(),
        starts: "prefer:4".to_owned(),
        footprint: 4096,
        half_life: Some(1_000_000),
        sliding_window: None,
        bursts: None,
        threads: 2,
        blocks: 1000,
        places: 900,
        drawn: 40,
        drawn_blocks: 160,
        distance: (16, 20),
        peak_bytes: 2048,
        working_bytes: 333,
        subpaths: vec![
            subpath(vec![run(0, 0, 2, 3), run(1, 1, 1, 1)], 0, 300),
            subpath(vec![], 4, 100),
        ],
    }
}

fn structural() -> Structural {
    let graph = |by_rate, local: &[(u64, u64)], global: &[(u64, u64)]| GraphCounts {
        windows: 3,
        by_rate,
        local: local.iter().copied().collect(),
        global: global.iter().copied().collect(),
    };
    let method = MethodStructure {
        graphs: vec![
            graph(false, &[(0, 4)], &[(0, 40)]),
            graph(true, &[(0, 9), (2, 1)], &[(0, 90), (1, 7), (2, 10)]),
        ],
    };
    Structural {
        window: NonZeroU32::new(100),
        methods: [((0, 1), method)].into(),
    }
}

/// One of every kind.
fn every_kind(start: u64) -> Profile {
    let forest = PathForest::from_preorder([(1, 0, 5), (2, 1, 3), (2, 2, 1), (1, 2, 9)]).unwrap();
    let mut forests = kpaths(3, [((0, 1), forest.with_missing(vec![1, 2]))]);
    forests.budget = Some(1000);
    forests.bursts = Some("adaptive:1s:10ms:0.1".to_owned());
    (
        forests.slab_nodes,
        forests.slab_bytes,
        forests.orphans,
        forests.dropped,
    ) = (7, 448, 1, 2);
    let observation = Observation {
        class: 0,
        method: 0,
        counted: 12,
        seconds: 0.5,
        until: 0.25,
        windows: 2,
        reason: "known".to_owned(),
    };
    let methods = vec![
        (two_ifs("a", None), paths(&[(0, 300), (3, 7)])),
        (loops("b"), paths(&[(0, 5), (2, 9)])),
    ];
    Profile {
        run: run(start),
        classes: vec![
            class("a/A", 1, methods),
            class("b/B", 2, vec![(loops("c"), paths(&[]))]),
        ],
        skipped: vec![Skipped {
            class: "z/Old".to_owned(),
            method: Some("m()V".to_owned()),
            reason: "jsr".to_owned(),
        }],
        kpaths: Some(forests),
        contexts: Some(contexts()),
        subpaths: Some(subpaths()),
        observations: vec![observation],
        structural: Some(structural()),
        ..Profile::default()
    }
}

fn golden(name: &str, profile: &Profile) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    let bytes = profile.to_bytes().unwrap();
    if std::env::var_os("TRODDEN_WRITE_GOLDEN").is_some() {
        std::fs::write(&file, &bytes).unwrap();
    }
    let stored = std::fs::read(&file).unwrap();
    assert_eq!(
        &Profile::read(&stored).unwrap(),
        profile,
        "{name} is read as before"
    );
    assert!(bytes == stored, "{name} is written as before, to the byte");
}

#[test]
fn a_file_with_every_kind_keeps_its_bytes() {
    golden("every-kind-v1.trodden", &every_kind(7));
}

/// Every field of CPU samples has a value of its own.
#[test]
fn cpu_samples_keep_their_bytes() {
    let time = |samples, ns| CpuTime { samples, ns };
    let frame = |class: &str, name: &str, kind| CpuFrame {
        class: class.to_owned(),
        name: name.to_owned(),
        descriptor: "(I)V".to_owned(),
        kind,
    };
    let frames = vec![
        frame("a/A", "run", CpuFrameKind::Java),
        frame("java/util/zip/CRC32", "update", CpuFrameKind::Native),
        CpuFrame::other("[GC]"),
    ];
    let row = |parent, frame, bci, own| CpuRow {
        parent,
        frame,
        bci,
        own,
    };
    let rows = [
        row(None, 0, Some(7), time(3, 12_000_000)),
        row(Some(0), 0, Some(300), time(0, 0)),
        row(Some(1), 1, None, time(5, 20_000_001)),
        row(None, 2, None, time(2, 8_000_000)),
    ];
    let mut cpu = CpuSamples {
        reader: "async".to_owned(),
        interval_ns: 1_000_000,
        process_ns: Some(50_000_000),
        lost: time(1, 4_000_000),
        shortened: time(2, 7_000_000),
        cut: time(1, 1_000_000),
        failed: vec![CpuFailure {
            reason: "gc-active".to_owned(),
            time: time(2, 8_000_000),
        }],
        ..CpuSamples::default()
    };
    cpu.set_stacks(frames, &rows);
    let profile = Profile {
        run: run(7),
        cpu: Some(cpu),
        ..Profile::default()
    };
    golden("cpu-v1.trodden", &profile);
}

#[test]
fn two_of_them_merge_into_the_same_bytes() {
    let merged = merge([&every_kind(7), &every_kind(9)]).unwrap();
    golden("every-kind-merged-v1.trodden", &merged);
}
