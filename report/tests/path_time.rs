//! Time on paths: samples and counts made by hand, where the answer is known.

mod common;

use common::cpu::shop;
use serde_json::Value;
use trodden_profile::Profile;
use trodden_report::{FindingKind, Report, ReportOptions};

/// Of 1,000 samples 900 are below `lookup`: 700 of them in the JDK's code that block 2 calls.
fn profile() -> Profile {
    shop([9_000, 1_000], [100, 50, 30, 20], 700, 100)
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
