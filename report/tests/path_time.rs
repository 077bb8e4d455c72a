//! Time on paths: samples and counts made by hand, where the answer is known.

use crate::common;
use crate::common::cpu::{shop, with_answers};
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
    assert_eq!(found[0].kind, FindingKind::SlowOutcome, "{found:?}");
    assert_eq!(
        found[0].text,
        "Shop.lookup (Shop.java:5): `taken` takes 74.2 % of the whole time in 10.0 % of the cases, mostly in \
         FileInputStream.read()"
    );
    assert_eq!(
        found[0].evidence,
        "82.4 % of lookup's time with callees (78–96 %), 1,000 of 10,000 times"
    );
    let miss = report.view().methods[0]
        .paths
        .iter()
        .find(|path| path.count == 1_000);
    assert_eq!(found[0].path, miss.map(|path| path.number));
    // The path says the same.
    assert!(found.iter().all(|f| f.kind != FindingKind::SlowPath), "{found:?}");
    let text = report.text(false);
    let lookup = text.find("Shop.lookup(").unwrap_or(usize::MAX);
    assert!(lookup < text.find("Shop.spin(").unwrap_or(0), "{text}");
    assert!(text.contains("82.4 %"), "{text}");
    let all = ReportOptions {
        all: true,
        ..ReportOptions::default()
    };
    let text = Report::new(&profile, &all).unwrap().text(false);
    assert!(
        text.contains("82.4 % of the method's time with callees   path"),
        "{text}"
    );
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
    assert!(
        report
            .findings()
            .iter()
            .all(|f| f.kind != FindingKind::SlowOutcome)
    );
    assert!(!report.text(false).contains("CPU time"));
}

/// Two flags: the first is set in 2 % of the calls, and leads to slow code whichever way the second one goes; so the time
/// is in two paths, neither of which has much of it for certain.
fn audited() -> Profile {
    use common::cpu::{frame, row, samples, time};
    use common::{Method, class, run};
    use trodden_profile::BlockExit::{Branch, Goto, Return};
    use trodden_profile::{Condition, ConditionKind, CpuFrameKind, MethodConditions, Outcome};
    let order = Method::new("order", "()V")
        .block(&[5], Branch, &[2, 1])
        .block(&[6], Goto, &[2])
        .block(&[8], Branch, &[4, 3])
        .block(&[9], Goto, &[4])
        .block(&[11], Return, &[])
        .count(&[0, 1, 2, 4], 1_800)
        .count(&[0, 1, 2, 3, 4], 200)
        .count(&[0, 2, 4], 97_900)
        .count(&[0, 2, 3, 4], 100);
    let rows = [
        row(None, 0, Some(1), time(100)),
        row(None, 0, Some(5), time(450)),
        row(None, 0, Some(9), time(350)),
        row(None, 0, Some(13), time(20)),
        row(None, 0, Some(17), time(80)),
    ];
    let frames = vec![frame("demo/Shop", "order", "()V", CpuFrameKind::Java)];
    let condition = |block, text: &str| Condition {
        block,
        kind: ConditionKind::If,
        text: Some(text.to_owned()),
        outcomes: vec![Outcome::No, Outcome::Yes],
        made: None,
    };
    let conditions = MethodConditions {
        conditions: vec![condition(0, "user.audited()"), condition(2, "user.vip()")],
        ..MethodConditions::default()
    };
    Profile {
        run: run(true),
        classes: vec![class("demo/Shop", Some("Shop.java"), vec![order])],
        cpu: Some(samples(frames, &rows)),
        conditions: [((0, 0), conditions)].into(),
        ..Profile::default()
    }
}

#[test]
fn the_time_of_an_outcome_is_known_where_that_of_its_paths_is_not() {
    let profile = audited();
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    let method = &json["methods"][0];
    for path in method["paths"].as_array().unwrap() {
        let least = path["time"]["interval"][0].as_f64().unwrap();
        assert!(least < 0.2, "{path}");
    }
    let branch = &method["branches"][0];
    assert_eq!(branch["condition"], "user.audited()");
    let outcomes = branch["outcome_time"].as_array().unwrap();
    // In the order of the edges: the branch is taken if the flag is not set.
    assert_eq!(
        (&outcomes[0]["outcome"], &outcomes[1]["outcome"]),
        (&"no".into(), &"yes".into())
    );
    let number = |value: &Value| value.as_f64().unwrap();
    // Certain are 450; of 530 it has 2 %, of 20 two thirds.
    assert!(
        (number(&outcomes[1]["share"]) - 0.473_9).abs() < 1e-3,
        "{outcomes:?}"
    );
    assert!(
        (number(&outcomes[1]["interval"][0]) - 0.419).abs() < 1e-2,
        "{outcomes:?}"
    );
    let sum = number(&outcomes[0]["share"]) + number(&outcomes[1]["share"]);
    assert!((sum - 1.0).abs() < 1e-9, "{outcomes:?}");
    let all = ReportOptions {
        all: true,
        ..ReportOptions::default()
    };
    let text = Report::new(&profile, &all).unwrap().text(false);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains(
            "line 5 user.audited() yes 2,000 (2.0 %), 47.4 % of the time (42–100 %); no 98,000 (98.0 %)"
        ),
        "{text}"
    );
}

/// A hundred samples of the first block, and numbers of those that waited and saw a hit, a miss, and neither.
fn answered(answers: [u64; 3]) -> Profile {
    with_answers(profile(), &[(1, answers)])
}

#[test]
fn json_says_how_many_samples_were_answered_and_divided() {
    let profile = answered([10, 80, 10]);
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    let lookup = &json["methods"][0];
    let near = |value: &Value, wanted: f64| {
        let found = value.as_f64().unwrap();
        assert!((found - wanted).abs() < 1e-6, "{found}, not {wanted}: {lookup}");
    };
    // 90 of the first block were answered, and 780 are in blocks of one path; 10 were not answered, nor the 20 of the last block.
    near(&lookup["time"]["answered"], 870.0);
    near(&lookup["time"]["divided"], 30.0);
    let path = |count: u64| {
        let mut paths = lookup["paths"].as_array().unwrap().iter();
        &paths.find(|path| path["count"] == count).unwrap()["time"]
    };
    near(&path(9_000)["answered"], 10.0 + 50.0);
    near(&path(9_000)["divided"], 9.0 + 18.0);
    near(&path(1_000)["answered"], 80.0 + 730.0);
    near(&path(1_000)["divided"], 1.0 + 2.0);
    near(&path(1_000)["samples"], 813.0);
    near(&path(1_000)["certain"], 810.0 / 900.0);
    let outcomes = lookup["branches"][0]["outcome_time"].as_array().unwrap();
    let sum = |key: &str| {
        outcomes
            .iter()
            .map(|outcome| outcome[key].as_f64().unwrap())
            .sum::<f64>()
    };
    assert!(
        (sum("answered") - 870.0).abs() < 1e-6 && (sum("divided") - 30.0).abs() < 1e-6,
        "{outcomes:?}"
    );
    near(&json["time"]["path_samples"], 1000.0);
    near(&json["time"]["divided_samples"], 30.0);
}

#[test]
fn divided_samples_are_named_if_they_are_more_than_a_tenth() {
    let line = "of its samples are divided among its paths by how often they ran";
    let all = ReportOptions {
        all: true,
        ..ReportOptions::default()
    };
    let opened = ("demo/Shop", "lookup", "()V");
    // 120 of 900 are in blocks of both paths; with 50 answers 70 are divided.
    for (answers, divided) in [([0, 0, 0], Some("13.3 %")), ([5, 45, 50], None)] {
        let profile = answered(answers);
        let report = Report::new(&profile, &ReportOptions::default()).unwrap();
        let long = Report::new(&profile, &all).unwrap();
        let one = trodden_report::OneMethod::of(&profile, opened, &[]).unwrap();
        let texts = [
            report.text(false),
            long.text(false),
            report.html().unwrap(),
            one.divided.unwrap_or_default(),
        ];
        for text in texts {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            match divided {
                // Once: the other method has one path.
                Some(share) => assert_eq!(text.matches(&format!("{share} {line}")).count(), 1, "{text}"),
                None => assert!(!text.contains(line), "{text}"),
            }
        }
    }
}
