//! Time on paths: samples and counts made by hand, where the answer is known.

mod common;

use common::{Method, class, run};
use serde_json::Value;
use trodden_profile::BlockExit::{Branch, Goto, Return};
use trodden_profile::{CpuFrame, CpuFrameKind, CpuRow, CpuSamples, CpuTime, Profile};
use trodden_report::{FindingKind, Report, ReportOptions};

/// `if (hit) { 6 } else { load() } 9`: block 1 is the hit, block 2 the miss.
fn lookup() -> Method {
    Method::new("lookup", "()V")
        .block(&[5], Branch, &[2, 1])
        .block(&[6], Goto, &[3])
        .block(&[8], Goto, &[3])
        .block(&[9], Return, &[])
        .count(&[0, 1, 3], 9_000)
        .count(&[0, 2, 3], 1_000)
}

/// A method that decides more and takes less time.
fn spin() -> Method {
    Method::new("spin", "()V")
        .block(&[20], Branch, &[2, 1])
        .block(&[21], Goto, &[2])
        .block(&[22], Return, &[])
        .count(&[0, 1, 2], 500_000)
}

fn time(samples: u64) -> CpuTime {
    CpuTime {
        samples,
        ns: samples * 1_000_000,
    }
}

/// Of 1,000 samples 900 are below `lookup`: 700 of them in the JDK's code that block 2 calls.
fn profile() -> Profile {
    let frame = |class: &str, name: &str, descriptor: &str, kind| CpuFrame {
        class: class.to_owned(),
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
        kind,
    };
    let frames = vec![
        frame("demo/Shop", "lookup", "()V", CpuFrameKind::Java),
        frame("java/io/FileInputStream", "read", "()I", CpuFrameKind::Native),
        frame("demo/Shop", "spin", "()V", CpuFrameKind::Java),
    ];
    let row = |parent, frame, bci, samples| CpuRow {
        parent,
        frame,
        bci,
        own: time(samples),
    };
    // Blocks have four bytes each.
    let rows = [
        row(None, 0, Some(1), 100),
        row(None, 0, Some(5), 50),
        row(None, 0, Some(9), 30),
        row(Some(2), 1, None, 700),
        row(None, 0, Some(13), 20),
        row(None, 2, Some(2), 100),
    ];
    let mut cpu = CpuSamples {
        reader: "async".to_owned(),
        interval_ns: 1_000_000,
        ..CpuSamples::default()
    };
    cpu.set_stacks(frames, &rows);
    Profile {
        run: run(true),
        classes: vec![class("demo/Shop", Some("Shop.java"), vec![spin(), lookup()])],
        cpu: Some(cpu),
        ..Profile::default()
    }
}

#[test]
fn methods_and_paths_by_time() {
    let profile = profile();
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    let methods = json["methods"].as_array().unwrap();
    // By decisions it would be the other one.
    assert_eq!(methods[0]["name"], "lookup");
    assert!(methods[1]["flow"].as_u64() > methods[0]["flow"].as_u64());
    let of_method = &methods[0]["time"];
    assert_eq!(of_method["self"]["samples"], 200);
    assert_eq!(of_method["near"]["samples"], 900);
    assert_eq!(of_method["total"]["share"], 0.9);
    assert_eq!(of_method["unplaced"]["samples"], 0);
    let paths = methods[0]["paths"].as_array().unwrap();
    let path = |count: u64| {
        let found = paths.iter().find(|path| path["count"] == count);
        &found.unwrap()["time"]
    };
    let near = |value: &Value, wanted: f64| (value.as_f64().unwrap() - wanted).abs() < 1e-6;
    // The miss has 730 samples of its own and a tenth of the 120 that both share.
    assert!(near(&path(1_000)["share"], 742.0 / 900.0), "{}", path(1_000));
    assert!(near(&path(1_000)["certain"], 730.0 / 900.0), "{}", path(1_000));
    assert!(near(&path(9_000)["share"], 158.0 / 900.0), "{}", path(9_000));
    let interval: Vec<f64> = serde_json::from_value(path(1_000)["interval"].clone()).unwrap();
    assert!(
        interval[0] < 730.0 / 900.0 && interval[0] > 0.75 && interval[1] > 850.0 / 900.0,
        "{interval:?}"
    );
}

#[test]
fn the_slow_path_is_what_stands_out() {
    let profile = profile();
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let found = report.findings();
    assert_eq!(found[0].kind, FindingKind::SlowPath, "{found:?}");
    assert_eq!(
        found[0].text,
        "Shop.lookup: 10.0 % of its calls take 82.4 % of its time (78–96 %)"
    );
    assert!(found[0].evidence.contains("1,000 times"), "{found:?}");
    let text = report.text(false);
    let lookup = text.find("Shop.lookup(").unwrap_or(usize::MAX);
    assert!(lookup < text.find("Shop.spin(").unwrap_or(0), "{text}");
    assert!(text.contains("82.4 %"), "{text}");
    let all = ReportOptions {
        all: true,
        ..ReportOptions::default()
    };
    let text = Report::new(&profile, &all).unwrap().text(false);
    assert!(text.contains("takes 82.4 % of the method's time"), "{text}");
    let page = report.html().unwrap();
    assert!(page.contains("CPU time") && page.contains("of this method's time"));
}

#[test]
fn without_samples_there_is_no_time() {
    let profile = Profile {
        cpu: None,
        ..profile()
    };
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let json = report.json().unwrap();
    assert!(!json.contains("\"time\""), "{json}");
    assert!(report.findings().iter().all(|f| f.kind != FindingKind::SlowPath));
    assert!(!report.text(false).contains("CPU time"));
}
