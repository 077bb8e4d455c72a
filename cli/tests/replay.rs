//! `trodden replay` over traces written here.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use tempfile::TempDir;
use trodden_numbering::{EdgeWeights, NumberingOptions, PathDag, SimpleGraph};
use trodden_profile::events::{EventKinds, ThreadInfo, Word};
use trodden_profile::trace::TraceWriter;
use trodden_profile::{
    BlockExit, BlockInfo, ClassMap, CompilerMade, Condition, ConditionKind, EdgeLabel, MethodConditions,
    MethodMap, Outcome, Profile, RunInfo,
};

fn trodden() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trodden"));
    command.env("NO_COLOR", "1");
    command
}

/// One method with a loop of two paths through its body: 0..5 exist.
fn class() -> ClassMap {
    let edges = [(0, 1), (1, 2), (1, 3), (2, 1), (3, 1), (1, 4)];
    let graph = SimpleGraph::new(5, &edges);
    let dag = PathDag::build(
        &graph,
        &EdgeWeights::uniform(&graph),
        &NumberingOptions::default(),
    )
    .unwrap();
    let block = |index: usize| {
        let (exit, labels) = match index {
            1 => {
                let label = |i: i32| EdgeLabel::Switch {
                    keys: vec![i],
                    default: i == 2,
                };
                (BlockExit::Switch, (0..3).map(label).collect())
            }
            4 => (BlockExit::Return, vec![]),
            _ => (BlockExit::Goto, vec![EdgeLabel::Goto]),
        };
        let start = index as u32 * 10;
        BlockInfo {
            start,
            end: start + 10,
            last: start + 7,
            exit,
            labels: labels.into_iter().collect(),
        }
    };
    let method = MethodMap {
        name: "run".to_owned(),
        descriptor: "()V".to_owned(),
        code_length: 50,
        blocks: (0..5).map(block).collect(),
        graph,
        dag,
        lines: Vec::new(),
        unobserved: Vec::new(),
        inlined: Vec::new(),
        shape: None,
    };
    ClassMap {
        name: "a/B".to_owned(),
        sha256: [1; 32],
        source_file: None,
        methods: vec![method],
    }
}

/// Two threads that alternate between two paths, the second one much longer.
fn write_trace(file: &Path, kinds: EventKinds) -> Vec<u8> {
    let run = RunInfo {
        command: "Alternate".to_owned(),
        probe: "events".to_owned(),
        exact: true,
        ..RunInfo::default()
    };
    let mut trace = TraceWriter::new(Vec::new(), kinds, &run).unwrap();
    trace.define_class(3, &class()).unwrap();
    for id in 0..2 {
        trace
            .thread_start(&ThreadInfo {
                id,
                ..ThreadInfo::default()
            })
            .unwrap();
    }
    for (id, turns) in [(0, 10), (1, 1000)] {
        let mut words = vec![Word::enter(3, None).0];
        words.extend((0..turns).flat_map(|_| [Word::path_end(3, 1).0, Word::path_end(3, 2).0]));
        words.push(Word::last_path(3, 3).0);
        trace.chunk(id, &words).unwrap();
        trace.thread_end(id).unwrap();
    }
    let bytes = trace.finish(&RunInfo { seconds: 1.5, ..run }).unwrap();
    fs::write(file, &bytes).unwrap();
    bytes
}

#[test]
fn any_analysis_of_a_trace() {
    let room = TempDir::new().unwrap();
    let path = |name: &str| room.path().join(name);
    write_trace(&path("a.trace"), EventKinds::ACTIVATION_PATHS);
    let replay = |args: &[&str], output: &str| {
        let mut command = trodden();
        command
            .current_dir(room.path())
            .args(["replay", "a.trace", "-o", output])
            .args(args);
        command.assert().success().stdout(is_empty()).stderr(is_empty());
    };
    replay(&[], "paths.trodden");
    let paths = Profile::load(path("paths.trodden")).unwrap();
    assert_eq!(
        (paths.run.seconds, paths.run.command.as_str(), paths.run.exact),
        (1.5, "Alternate", true)
    );
    assert_eq!(paths.run.facts.text("events").as_deref(), Some("2024"));
    assert_eq!(paths.run.facts.text("threads").as_deref(), Some("2"));
    let counts: Vec<_> = paths.classes[0].counts[0].paths.clone().into_iter().collect();
    assert_eq!(counts, [(1, 1010), (2, 1010), (3, 2)]);
    assert_eq!(paths.kpaths, None);

    replay(&["--profile", "kpaths", "--k", "3"], "k.trodden");
    let profile = Profile::load(path("k.trodden")).unwrap();
    assert_eq!(profile.classes, paths.classes);
    assert_eq!(
        profile.run.facts.text("replay").as_deref(),
        Some("profile=kpaths,k=3")
    );
    let kpaths = profile.kpaths.unwrap();
    let forest = &kpaths.methods[&(0, 0)];
    assert_eq!(kpaths.k, 3);
    assert_eq!(forest.count(&[1, 2, 1]), 1008);
    assert_eq!(forest.count(&[1, 2, 3]), 2);
    assert_eq!(forest.count(&[2, 2]), 0);

    // Sampled activations are fewer, and no truth about counts.
    replay(&["--profile", "kpaths", "--burst", "static:2:1"], "burst.trodden");
    let profile = Profile::load(path("burst.trodden")).unwrap();
    assert!(!profile.run.exact);
    assert_eq!(profile.kpaths.unwrap().bursts.as_deref(), Some("static:2:1"));

    replay(&["--profile", "kpaths"], "k.json");
    let json: serde_json::Value = serde_json::from_slice(&fs::read(path("k.json")).unwrap()).unwrap();
    assert_eq!(json["methods"][0]["name"], "run");
}

/// Subpaths need only path ends.
#[test]
fn subpaths_of_a_trace() {
    let room = TempDir::new().unwrap();
    let path = |name: &str| room.path().join(name);
    write_trace(&path("a.trace"), EventKinds::PATHS);
    let replay = |args: &[&str], output: &str| {
        let mut command = trodden();
        command
            .current_dir(room.path())
            .args(["replay", "a.trace", "--profile", "subpaths", "-o", output])
            .args(args);
        command.assert().success().stdout(is_empty()).stderr(is_empty());
        fs::read(path(output)).unwrap()
    };
    let bytes = replay(&[], "one.trodden");
    assert_eq!(
        replay(&[], "two.trodden"),
        bytes,
        "the same seed, the same profile"
    );
    assert_ne!(replay(&["--seed", "5"], "three.trodden"), bytes);
    let profile = Profile::read(&bytes).unwrap();
    assert_eq!(
        profile.run.facts.text("replay").as_deref(),
        Some("profile=subpaths")
    );
    assert_eq!(profile.run.facts.text("subpaths_unknown").as_deref(), Some("0"));
    assert!(!profile.run.exact);
    let map = &profile.classes[0].map.methods[0];
    let blocks = |path| {
        map.dag
            .regenerate(&map.graph, path)
            .unwrap()
            .blocks(&map.graph)
            .len() as u64
    };
    let subpaths = profile.subpaths.as_ref().unwrap();
    assert_eq!(subpaths.blocks, 1010 * (blocks(1) + blocks(2)) + 2 * blocks(3));
    assert_eq!((subpaths.threads, subpaths.lengths.as_str()), (2, "pow2:1024"));
    // The two ways of the loop, one after the other: wherever a multiple of their length begins.
    let period = (blocks(1) + blocks(2)) as u32;
    let both = subpaths.subpaths.iter().find(|s| s.length == period).unwrap();
    assert!(subpaths.share(both) > 0.5 && both.low <= subpaths.blocks && both.sampled > 10);

    let short = Profile::read(&replay(
        &["--lengths", "any:3", "--footprint", "2k"],
        "short.trodden",
    ))
    .unwrap();
    let short = short.subpaths.unwrap();
    assert!(short.subpaths.iter().all(|s| (2..=3).contains(&s.length)) && short.peak_bytes <= 2048);

    // Together with exact counts.
    let both = Profile::read(&replay(&["--profile", "paths"], "both.trodden")).unwrap();
    assert!(both.run.exact && both.subpaths.is_some() && both.classes[0].counts[0].total() == 2022);

    let json: serde_json::Value = serde_json::from_slice(&replay(&[], "s.json")).unwrap();
    assert_eq!(json["subpaths"]["subpaths"][0]["rank"], 1);
    trodden()
        .current_dir(room.path())
        .args(["report", "one.trodden"])
        .assert()
        .success()
        .stdout(contains("Hot subpaths").and(contains(" × [B.run@")));
    trodden()
        .current_dir(room.path())
        .args(["merge", "one.trodden", "three.trodden", "-o", "sum.trodden"])
        .assert()
        .success();
    let sum = Profile::load(path("sum.trodden")).unwrap().subpaths.unwrap();
    assert_eq!(sum.blocks, 2 * subpaths.blocks);
    assert!(sum.sampled().0 > subpaths.sampled().0);
}

/// The sample against all of it, and what a report leaves out.
#[test]
fn subpaths_are_counted_compared_and_cut() {
    let room = TempDir::new().unwrap();
    let path = |name: &str| room.path().join(name);
    write_trace(&path("a.trace"), EventKinds::PATHS);
    let run = |args: &[&str]| {
        let mut command = trodden();
        let output = command.current_dir(room.path()).args(args).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let replay = |args: &str, output: &str| {
        let mut all = vec!["replay", "a.trace", "--profile", "subpaths", "-o", output];
        all.extend(args.split(' '));
        run(&all);
        Profile::load(path(output)).unwrap()
    };
    let exact = replay("--counts exact --lengths pow2:8", "exact.trodden");
    assert!(exact.run.exact && exact.subpaths.as_ref().unwrap().is_exact());
    assert_eq!(
        exact.run.facts.text("replay").as_deref(),
        Some("profile=subpaths,lengths=pow2:8,counts=exact")
    );
    // Every block begins a sample of two blocks: nothing can be wrong.
    replay("--lengths pow2:2 --distance 1:1 --footprint 1M", "all.trodden");
    let text = run(&["compare", "exact.trodden", "all.trodden"]);
    assert!(
        text.contains("among the ten that really are the most frequent"),
        "{text}"
    );
    let json = run(&["compare", "exact.trodden", "all.trodden", "--format", "json"]);
    let all: serde_json::Value = serde_json::from_str(&json).unwrap();
    let all = &all["subpaths"];
    let rows = all["hottest"].as_array().unwrap();
    // Of those that came once in each thread there is no count.
    let counted = rows.iter().filter(|row| !row["exact_rank"].is_null());
    assert!(counted.clone().count() >= 2, "{json}");
    for row in counted {
        assert_eq!(row["error"], 0.0, "{json}");
        assert_eq!(row["estimate"], row["exact"]);
        assert_eq!(row["length"], 2);
    }
    assert!(all["often_sampled"].as_u64().unwrap() >= 2);
    assert_eq!(all["often_sampled"], all["intervals_that_hold"]);
    // A sample says what it says.
    replay(
        "--starts prefer:3 --identity rotation --half-life none --distance 5:9 --seed 3",
        "some.trodden",
    );
    let json = run(&["compare", "exact.trodden", "some.trodden", "--format", "json"]);
    let some: serde_json::Value = serde_json::from_str(&json).unwrap();
    let first = &some["subpaths"]["hottest"][0];
    assert!(
        first["exact_rank"].as_u64().unwrap() <= 10 && first["error"].as_f64().unwrap() < 0.5,
        "{json}"
    );

    let whole = run(&["report", "some.trodden", "--top", "1000"]);
    let lines = |text: &str| text.lines().filter(|line| line.contains(" times (±")).count();
    for threshold in ["top:4", "samples:20", "share:0.7"] {
        let text = run(&[
            "report",
            "some.trodden",
            "--top",
            "1000",
            "--threshold",
            threshold,
        ]);
        assert!((1..lines(&whole)).contains(&lines(&text)), "{threshold}: {text}");
        assert!(
            text.split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains("were left out"),
            "{text}"
        );
    }
    let at_once = replay(
        "--starts prefer:3 --distance 5:9 --seed 3 --threshold top:4",
        "top.trodden",
    );
    assert_eq!(at_once.subpaths.as_ref().unwrap().subpaths.len(), 4);
    assert!(at_once.subpaths_left_out().0 > 0);
    for wrong in [
        ["--starts", "prefer:0"],
        ["--threshold", "5"],
        ["--distance", "9:5"],
        ["--half-life", "0"],
    ] {
        let mut command = trodden();
        let args = [
            "replay",
            "a.trace",
            "--profile",
            "subpaths",
            "-o",
            "x.trodden",
            wrong[0],
            wrong[1],
        ];
        command
            .current_dir(room.path())
            .args(args)
            .assert()
            .code(2)
            .stderr(contains(&wrong[0][2..]));
    }
}

#[test]
fn a_trace_that_was_cut_off_is_replayed_with_a_warning() {
    let room = TempDir::new().unwrap();
    let trace = room.path().join("a.trace");
    let bytes = write_trace(&trace, EventKinds::ACTIVATION_PATHS);
    fs::write(&trace, &bytes[..bytes.len() - 30]).unwrap();
    let output = room.path().join("out.trodden");
    trodden()
        .arg("replay")
        .arg(&trace)
        .arg("-o")
        .arg(&output)
        .assert()
        .success()
        .stderr(contains("a.trace: the trace was never finished").and(contains("up to offset")));
    let profile = Profile::load(&output).unwrap();
    assert_eq!(profile.run.facts.text("truncated").as_deref(), Some("true"));
    assert_eq!(profile.classes[0].counts[0].total(), 2022);
}

#[test]
fn what_cannot_be_replayed_is_1_and_leaves_no_file() {
    let room = TempDir::new().unwrap();
    let path = |name: &str| room.path().join(name);
    let bytes = write_trace(&path("good.trace"), EventKinds::PATHS);
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 0x10;
    fs::write(path("damaged.trace"), damaged).unwrap();
    fs::write(path("text.trace"), "no trace at all").unwrap();
    Profile::default().save(path("profile.trodden")).unwrap();
    for (name, args, message) in [
        ("missing.trace", &[][..], "cannot read"),
        ("text.trace", &[], "not a Trodden trace"),
        ("profile.trodden", &[], "this is a profile, not a trace"),
        ("damaged.trace", &[], "at offset"),
        (
            "good.trace",
            &["--profile", "kpaths"],
            "the trace has no activations",
        ),
    ] {
        trodden()
            .current_dir(room.path())
            .args(["replay", name, "-o", "out.trodden"])
            .args(args)
            .assert()
            .code(1)
            .stdout(is_empty())
            .stderr(contains(name).and(contains(message)));
        assert!(!path("out.trodden").exists(), "{name}");
    }
    trodden()
        .current_dir(room.path())
        .args(["report", "good.trace"])
        .assert()
        .code(1)
        .stderr(contains("trodden replay"));
}

/// Marks of code that the compiler made are kept for methods that did not run, as in profiles that the agent
/// writes.
#[test]
fn marks_of_methods_that_did_not_run() {
    let room = TempDir::new().unwrap();
    let mut class = class();
    for name in ["never", "plain"] {
        let mut method = class.methods[0].clone();
        method.name = name.to_owned();
        class.methods.push(method);
    }
    let condition = |made| MethodConditions {
        conditions: vec![Condition {
            block: 1,
            kind: ConditionKind::Switch,
            text: Some("way".to_owned()),
            outcomes: vec![Outcome::Case("case 0".to_owned()), Outcome::No, Outcome::No],
            made,
        }],
        ..MethodConditions::default()
    };
    let made = condition(Some(CompilerMade::StringSwitch));
    let run = RunInfo {
        probe: "events".to_owned(),
        exact: true,
        ..RunInfo::default()
    };
    let mut trace = TraceWriter::new(Vec::new(), EventKinds::ACTIVATION_PATHS, &run).unwrap();
    trace.define_class(3, &class).unwrap();
    let conditions = [(0, condition(None)), (1, made.clone()), (2, condition(None))];
    trace.conditions(3, &conditions).unwrap();
    trace.thread_start(&ThreadInfo::default()).unwrap();
    trace
        .chunk(0, &[Word::enter(3, None).0, Word::last_path(3, 3).0])
        .unwrap();
    trace.thread_end(0).unwrap();
    fs::write(room.path().join("a.trace"), trace.finish(&run).unwrap()).unwrap();
    let mut replay = trodden();
    replay.current_dir(room.path());
    replay
        .args(["replay", "a.trace", "-o", "a.trodden"])
        .assert()
        .success();
    let profile = Profile::load(room.path().join("a.trodden")).unwrap();
    let expected = [((0, 0), condition(None)), ((0, 1), made.marks())];
    assert_eq!(profile.conditions.into_iter().collect::<Vec<_>>(), expected);
}
