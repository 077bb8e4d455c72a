//! Hot subpaths in all formats.

use crate::common;
use scraper::{Html, Selector};
use serde_json::Value;
use trodden_profile::BlockExit::{Branch, FallThrough, Goto, Return};
use trodden_profile::{Profile, Subpath, SubpathRun, Subpaths};
use trodden_report::{Report, ReportOptions};

/// A loop whose odd iterations go over line 12, the even ones over line 14: OSP section 5.
fn odd_even() -> common::Method {
    common::Method::new("walk", "(I)V")
        .block(&[9], FallThrough, &[1])
        .block(&[10], Branch, &[5, 2])
        .block(&[11], Branch, &[4, 3])
        .block(&[12], Goto, &[1])
        .block(&[14], Goto, &[1])
        .block(&[16], Return, &[])
}

fn profile() -> Profile {
    let walk = odd_even();
    let (odd, even) = (walk.number(&[1, 2, 3]), walk.number(&[1, 2, 4]));
    let helper = common::Method::new("helper", "()V").block(&[30], Return, &[]);
    let run = |method, path, from, blocks, times| SubpathRun {
        class: 0,
        method,
        path,
        from,
        blocks,
        times,
    };
    let subpath = |estimate: u64, runs: Vec<SubpathRun>, missing: u32| Subpath {
        length: runs.iter().map(|run| run.blocks * run.times).sum::<u32>() + missing,
        sampled: estimate / 100,
        estimate,
        low: estimate / 100 * 98,
        high: estimate / 100 * 103,
        runs,
        missing,
    };
    // Both ways, twice, begun in the middle of the odd one.
    let both = vec![
        run(0, odd, 1, 2, 1),
        run(0, even, 0, 3, 1),
        run(0, odd, 0, 3, 1),
        run(0, even, 0, 3, 1),
        run(0, odd, 0, 1, 1),
    ];
    let across = vec![run(1, 0, 0, 1, 1), run(0, odd, 0, 3, 5)];
    Profile {
        run: common::run(false),
        classes: vec![common::class("demo/Walk", Some("Walk.java"), vec![walk, helper])],
        subpaths: Some(Subpaths {
            lengths: "pow2:16".to_owned(),
            order: "path-ends".to_owned(),
            identity: "rotation".to_owned(),
            starts: "anywhere".to_owned(),
            footprint: 65536,
            half_life: Some(5000),
            sliding_window: None,
            bursts: None,
            threads: 1,
            blocks: 2_000_000,
            places: 2_000_000,
            drawn: 20_000,
            drawn_blocks: 200_000,
            distance: (100, 1000),
            peak_bytes: 4000,
            working_bytes: 500,
            subpaths: vec![subpath(1_900_000, both, 0), subpath(20_000, across, 3)],
        }),
        ..Profile::default()
    }
}

fn report(options: &ReportOptions, format: impl Fn(&Report) -> String) -> String {
    format(&Report::new(&profile(), options).unwrap())
}

#[test]
fn text_folds_loops_from_their_headers() {
    let text = report(&ReportOptions::default(), |report| report.text(false));
    assert!(
        text.contains("1. 1,900,000 times (± 3.0 %), 95.0 %: 12 blocks, in 19,000 samples"),
        "{text}"
    );
    assert!(text.contains("2 × [Walk.walk:10 :11 :14 :10 :11 :12]"), "{text}");
    assert!(
        text.contains("Walk.helper:30 5 × [Walk.walk:10 :11 :12] … and 3 blocks that were not recorded"),
        "{text}"
    );
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "a sample began at one in 100 to 1,000 of 2,000,000 blocks",
        "What ran 5,000 blocks ago counts half",
    ] {
        assert!(flowing.contains(told), "{text}");
    }
    // Nothing is said about counts of paths: there are none.
    assert!(
        !text.contains("No path was counted") && !text.contains("totals"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

/// One sample of a long subpath stands for very many executions, and says next to nothing.
#[test]
fn what_was_hardly_sampled_comes_last() {
    let mut lucky = profile();
    let all = &mut lucky.subpaths.as_mut().unwrap().subpaths;
    let mut once = all[1].clone();
    (once.sampled, once.estimate, once.high) = (1, 50_000_000, 200_000_000);
    all.insert(0, once);
    let text = Report::new(&lucky, &ReportOptions::default())
        .unwrap()
        .text(false);
    let at = |what: &str| {
        text.find(what)
            .unwrap_or_else(|| panic!("{what} is not in {text}"))
    };
    assert!(at("1. 1,900,000 times") < at("3. 50,000,000 times"));
}

#[test]
fn methods_and_ranks_are_chosen() {
    let chosen = |method: &str, top| {
        let options = ReportOptions {
            method: Some(method.to_owned()),
            top,
            ..ReportOptions::default()
        };
        report(&options, |report| report.text(false))
    };
    let helper = chosen("Walk#helper", 10);
    assert!(
        helper.contains("  2. 20,000 times") && !helper.contains("1. 1,900,000"),
        "{helper}"
    );
    let first = chosen("Walk#walk", 1);
    assert!(
        first.contains("1. 1,900,000") && first.contains("1 more are in the sample"),
        "{first}"
    );
}

#[test]
fn json_has_the_steps() {
    let json = report(&ReportOptions::default(), |report| report.json().unwrap());
    let value: Value = serde_json::from_str(&json).unwrap();
    let all = &value["subpaths"];
    assert_eq!(
        (all["sampled"].as_u64(), all["distinct"].as_u64()),
        (Some(19_200), Some(2))
    );
    assert_eq!(all["distance"], serde_json::json!([100, 1000]));
    let first = &all["subpaths"][0];
    assert_eq!(
        (first["rank"].as_u64(), first["length"].as_u64()),
        (Some(1), Some(12))
    );
    assert_eq!(
        (first["low"].as_u64(), first["high"].as_u64()),
        (Some(1_862_000), Some(1_957_000))
    );
    assert_eq!(first["steps"][0]["times"], 2);
    let inside = first["steps"][0]["steps"].as_array().unwrap();
    assert_eq!(inside.len(), 6);
    assert_eq!(
        (inside[0]["class"].as_str(), inside[0]["line"].as_u64()),
        (Some("demo/Walk"), Some(10))
    );
    assert_eq!(all["subpaths"][1]["missing"], 3);
    let plain = Profile {
        subpaths: None,
        ..profile()
    };
    let json = Report::new(&plain, &ReportOptions::default())
        .unwrap()
        .json()
        .unwrap();
    assert!(
        serde_json::from_str::<Value>(&json)
            .unwrap()
            .get("subpaths")
            .is_none()
    );
}

#[test]
fn html_has_a_row_each() {
    let html = report(&ReportOptions::default(), |report| report.html().unwrap());
    let page = Html::parse_document(&html);
    let rows: Vec<String> = page
        .select(&Selector::parse("#subpaths tbody tr").unwrap())
        .map(|row| {
            row.text()
                .collect::<String>()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert_eq!(rows.len(), 2);
    assert!(
        rows[0].contains("2 × [ Walk.walk:10 :11") && rows[0].ends_with(']'),
        "{rows:?}"
    );
    assert!(rows[1].contains("5 × [ Walk.walk:10"), "{rows:?}");
    assert!(
        page.select(&Selector::parse("#methods").unwrap())
            .next()
            .is_none()
    );
}

#[test]
fn a_damaged_path_is_told() {
    let mut profile = profile();
    let subpaths = &mut profile.subpaths.as_mut().unwrap().subpaths;
    subpaths[0].runs[1].path = 1000;
    let text = Report::new(&profile, &ReportOptions::default())
        .unwrap()
        .text(false);
    assert!(text.contains("… and 10 blocks that were not recorded"), "{text}");
}
