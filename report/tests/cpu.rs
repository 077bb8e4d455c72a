//! CPU samples in text, JSON, pages and stacks.

use std::time::Duration;

use crate::common;
use crate::common::cpu::row;
use serde_json::Value;
use trodden_profile::{CpuFailure, CpuFrame, CpuFrameKind, CpuSamples, CpuTime, Profile, facts};
use trodden_report::{Report, ReportOptions, Weight};

fn time(samples: u64) -> CpuTime {
    CpuTime {
        samples,
        ns: samples * 4_000_000,
    }
}

/// 500 samples of 4 ms: `run` calls `HashMap.get` and a native method; some samples have no stack.
fn samples() -> CpuSamples {
    let frame =
        |class: &str, name: &str, kind| common::cpu::frame(class, name, "(Ljava/lang/Object;)V", kind);
    let frames = vec![
        frame("demo/Main", "run", CpuFrameKind::Java),
        frame("java/util/HashMap", "get", CpuFrameKind::Java),
        frame("java/util/zip/CRC32", "update", CpuFrameKind::Native),
        CpuFrame::other("[GC]"),
    ];
    let rows = [
        row(None, 0, Some(3), time(50)),
        row(Some(0), 1, Some(1), time(200)),
        row(None, 0, Some(9), time(0)),
        row(Some(2), 1, Some(5), time(100)),
        row(Some(2), 2, None, time(145)),
        row(None, 3, None, time(5)),
    ];
    CpuSamples {
        process_ns: Some(2_500_000_000),
        failed: vec![CpuFailure {
            reason: "gc-active".to_owned(),
            time: time(5),
        }],
        ..common::cpu::samples(frames, &rows)
    }
}

fn profile(cpu: CpuSamples) -> Profile {
    Profile {
        cpu: Some(cpu),
        ..Profile::default()
    }
}

#[test]
fn text_ranks_methods_by_time() {
    let profile = profile(samples());
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let text = report.text(false);
    for expected in [
        "CPU time: 2.0 s in 500 samples of all Java threads.",
        "took 500 ms more.",
        "   60.0 %        60.0 %  java.util.HashMap.get(Object)",
        "   29.0 %        29.0 %  java.util.zip.CRC32.update(Object)",
        "   10.0 %        99.0 %  demo.Main.run(Object)",
        "    1.0 %         1.0 %  [GC]",
        "a sample is 4000 µs on average",
        "some samples is not known: gc-active 1.0 %.",
    ] {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
    let order = ["HashMap.get", "CRC32.update", "Main.run"].map(|name| text.find(name).unwrap());
    assert!(order.is_sorted(), "{text}");
}

#[test]
fn json_has_shares_with_their_intervals() {
    let mut profile = profile(samples());
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    assert!(report.json().unwrap().contains("\"probe_seconds\": null"));
    profile
        .run
        .facts
        .set(facts::PROBES_MS, Duration::from_millis(200));
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    let time = &json["time"];
    assert_eq!((&time["samples"], &time["seconds"]), (&500.into(), &2.0.into()));
    assert_eq!(
        (&time["process_seconds"], &time["unsampled_seconds"]),
        (&2.5.into(), &0.5.into())
    );
    assert_eq!(time["probe_seconds"], 0.2);
    assert!(
        report
            .text(false)
            .contains("took 500 ms more, 200 ms of it in probes.")
    );
    let first = &time["methods"][0];
    assert_eq!(
        (&first["name"], &first["kind"], &first["self"]["samples"]),
        (&"get".into(), &"java".into(), &300.into())
    );
    let [low, high] = [0, 1].map(|at| first["self"]["interval"][at].as_f64().unwrap());
    assert!(
        low < 0.6 && low > 0.55 && high > 0.6 && high < 0.65,
        "{low} {high}"
    );
    assert_eq!(time["failed"][0]["reason"], "gc-active");
    let html = report.html().unwrap();
    assert!(html.contains("java.util.HashMap.get(Object)") && html.contains("id=\"time\""));
}

/// Threads that end before their first sample are the program's all the same.
#[test]
fn what_no_sample_stands_for_is_not_the_jvms_own() {
    let mut profile = profile(samples());
    let set = &mut profile.run.facts;
    set.set(facts::PROBES_MS, Duration::from_millis(200));
    set.set(facts::SAMPLED_THREADS_MS, Duration::from_millis(2300));
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    let time = &json["time"];
    assert_eq!(
        (&time["missed_seconds"], &time["unsampled_seconds"]),
        (&0.1.into(), &0.4.into())
    );
    let text = report.text(false);
    for expected in [
        "100 ms more of theirs was not sampled.",
        "took 400 ms more, 200 ms",
    ] {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
    // Samples of long threads may stand for a little more than these used.
    profile
        .run
        .facts
        .set(facts::SAMPLED_THREADS_MS, Duration::from_millis(2190));
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    assert!(report.json().unwrap().contains("\"missed_seconds\": 0.0"));
    assert!(!report.text(false).contains("not sampled"));
}

#[test]
fn stacks_are_weighed_by_time() {
    let profile = profile(samples());
    let options = ReportOptions {
        weight: Some(Weight::Time),
        ..ReportOptions::default()
    };
    let collapsed = Report::new(&profile, &options).unwrap().collapsed().unwrap();
    assert_eq!(
        collapsed,
        "[GC] 20000000\n\
         demo.Main.run 200000000\n\
         demo.Main.run;java.util.HashMap.get 1200000000\n\
         demo.Main.run;java.util.zip.CRC32.update 580000000\n"
    );
    // Where there are no other stacks, nothing has to be said.
    let plain = Report::new(&profile, &ReportOptions::default()).unwrap();
    assert_eq!(plain.collapsed().unwrap(), collapsed);
    let without = Profile::default();
    let error = Report::new(&without, &options).unwrap().collapsed().unwrap_err();
    assert!(error.to_string().contains("no stacks"), "{error}");
}

#[test]
fn a_profile_without_a_sample_says_so() {
    let mut none = samples();
    none.set_stacks(Vec::new(), &[]);
    none.failed.clear();
    let profile = profile(none);
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let text = report.text(false);
    assert!(text.contains("CPU time: 0 ms in 0 samples"), "{text}");
    assert!(report.json().is_ok() && report.html().is_ok());
}

/// On a narrow terminal a method keeps its name, whatever package it is in.
#[test]
fn names_of_methods_are_whole_on_narrow_terminals() {
    let java = |class: &str, name: &str| {
        common::cpu::frame(class, name, "(Lcom/example/Node;)V", CpuFrameKind::Java)
    };
    let frames = vec![
        java("com/example/javascript/compiler/NodeTraversal", "traverseBranch"),
        java("a/B", "c"),
    ];
    let rows = [
        common::cpu::row(None, 0, Some(1), common::cpu::time(60)),
        common::cpu::row(None, 1, Some(1), common::cpu::time(40)),
    ];
    let mut profile = common::cpu::shop([9_000, 1_000], [0, 0, 0, 0], 0, 0);
    profile.cpu = Some(common::cpu::samples(frames, &rows));
    for (width, long) in [
        (60, "NodeTraversal.traverseBranch(…)"),
        (
            90,
            "com.example.javascript.compiler.NodeTraversal.traverseBranch(…)",
        ),
        (
            200,
            "com.example.javascript.compiler.NodeTraversal.traverseBranch(Node)",
        ),
    ] {
        let options = ReportOptions {
            width,
            ..ReportOptions::default()
        };
        let text = Report::new(&profile, &options).unwrap().text(false);
        for name in [long, "a.B.c(Node)"] {
            assert!(
                text.contains(&format!("60.0 %  {name}")) || text.contains(&format!("40.0 %  {name}")),
                "{width}: {text}"
            );
        }
    }
}

/// Of few samples it is said how many there are, and nothing else.
#[test]
fn few_samples_do_not_say_where_the_time_was() {
    let text = |read: u64| {
        let profile = common::cpu::shop([9_000, 1_000], [10, 5, 3, 2], read, 10);
        let report = Report::new(&profile, &ReportOptions::default()).unwrap();
        let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
        assert_eq!(json["time"]["samples"], 30 + read);
        let all = ReportOptions {
            all: true,
            ..ReportOptions::default()
        };
        let text = report.text(false) + &Report::new(&profile, &all).unwrap().text(false);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let few = text(69);
    assert!(
        few.contains("99 samples of all Java threads. They are too few to say where it was: 100 are needed."),
        "{few}"
    );
    for no in ["with callees", "of the whole time", "own CPU time"] {
        assert!(!few.contains(no), "{no}: {few}");
    }
    assert!(few.contains("Hot methods (share of all decisions)"), "{few}");
    let enough = text(70);
    assert!(
        enough.contains("own CPU time") && enough.contains("FileInputStream.read"),
        "{enough}"
    );
}
