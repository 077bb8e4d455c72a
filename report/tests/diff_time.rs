//! `trodden diff` of CPU time: what changed beyond chance, and that chance is no finding.

use crate::common::cpu::{frame, row, samples, shop, time};
use crate::common::{self, Random};
use serde_json::Value;
use trodden_insight::diff::{Diff, DiffOptions};
use trodden_insight::source::Sources;
use trodden_profile::{CpuFrameKind, Profile};
use trodden_report::diff;

fn diff(before: &Profile, after: &Profile) -> Diff {
    Diff::new(before, after, &DiffOptions::default()).unwrap()
}

fn text(diff: &Diff) -> String {
    diff::text(diff, &Sources::new(&[]), false)
}

/// A tenth misses; then three of ten do, and a miss takes as long as before.
fn shops() -> (Profile, Profile) {
    (
        shop([9_000, 1_000], [100, 50, 30, 20], 700, 100),
        shop([7_000, 3_000], [100, 40, 90, 20], 2_100, 100),
    )
}

#[test]
fn time_of_common_code_belongs_to_the_paths_that_its_samples_were_on() {
    // Block 0 is on both paths: 100 ms of hits, then 900 ms more of misses. Counts alone would give hits nine tenths of both.
    let shop = |on_hits: u64, on_misses: u64| {
        let mut shop = shop([9_000, 1_000], [on_hits + on_misses, 0, 0, 0], 0, 1_000);
        let counts = &shop.classes[0].counts[1].paths;
        let number = |times: u64| {
            counts
                .iter()
                .find(|(_, count)| **count == times)
                .map(|(number, _)| *number)
        };
        let cpu = shop.cpu.as_mut().unwrap();
        cpu.paths.add((0, Some(1), number(9_000)), time(on_hits));
        cpu.paths.add((0, Some(1), number(1_000)), time(on_misses));
        vec![shop; 5]
    };
    let diff = Diff::of_runs(&shop(100, 0), &shop(100, 900), &DiffOptions::default()).unwrap();
    let lookup = &diff.time.as_ref().unwrap().methods[0];
    assert_eq!(lookup.title(), "demo.Shop.lookup()");
    let miss = &lookup.paths[0];
    assert_eq!((miss.count, miss.time.ns), ([1_000, 1_000], [0.0, 900e6]));
    assert_eq!(lookup.paths.len(), 1, "{:?}", lookup.paths);
}

/// One run a side says little of how much less it is, but no method loses more than the whole time.
#[test]
fn no_more_goes_than_there_was() {
    let diff = Diff::of_runs(
        &[shop([1_000, 1_000], [0; 4], 2_000, 100)],
        &[shop([1_000, 1_000], [0; 4], 20, 100)],
        &DiffOptions::default(),
    )
    .unwrap();
    let lookup = &diff.time.as_ref().unwrap().methods[0];
    assert_eq!(lookup.title(), "demo.Shop.lookup()");
    let [low, high] = lookup.near.share_interval;
    assert!(
        lookup.near.is_distinct() && low == -1.0 && high > lookup.near.share,
        "{low} {high}"
    );
}

#[test]
fn the_path_that_takes_more_leads() {
    let (before, after) = shops();
    let [before, after] = [before, after].map(|run| vec![run; 5]);
    let diff = Diff::of_runs(&before, &after, &DiffOptions::default()).unwrap();
    let found = diff.time.as_ref().unwrap();
    assert_eq!(found.scale, Some(1.0));
    assert_eq!((found.methods.len(), found.alike), (1, 1), "{found:#?}");
    let lookup = &found.methods[0];
    assert_eq!(lookup.title(), "demo.Shop.lookup()");
    // 900 ms and 2,350 ms of 1,000 and 2,450.
    assert_eq!(lookup.near.ns, [900e6, 2_350e6]);
    assert!((lookup.near.share - 1_450.0 / 2_450.0).abs() < 1e-9);
    // Reckoned apart (in Python), for five runs a side that are all alike: t = 3.252 is Student's for 1 %, two methods and 8 + 8
    // degrees of freedom. Each side has Wilson's bounds for t and 5 n samples, and on top (as squares) t · √(v / 5), with
    // v = 8/12 · ((0.18 p)² + 0.008² + p (1 − p) / n) − p (1 − p) / n; what `spin` leaves unknown, with less than 5 % of the
    // time, is t · 12 % of 900 ms. The interval is Newcombe's.
    let [low, high] = lookup.near.interval.map(|ns| ns / 1e6);
    assert!(
        (low - LOW).abs() < 0.5 && (high - HIGH).abs() < 0.5,
        "{low} {high}"
    );
    // 742 and 2,226 ms: 730 + 0.1 · 120, and 2,190 + 0.3 · 120.
    let miss = &lookup.paths[0];
    assert_eq!(miss.count, [1_000, 3_000]);
    assert!((miss.time.ns[0] - 742e6).abs() < 1.0 && (miss.time.ns[1] - 2_226e6).abs() < 1.0);
    assert!(miss.time.is_distinct());
    // It holds however the common 120 ms are divided.
    assert!(miss.time.interval[0] < 2_190e6 - 850e6 && miss.time.interval[1] > 2_310e6 - 730e6);
    let said = text(&diff);
    assert!(
        said.starts_with("CPU time for the same work grew by 145.0 %: 1.0 s → 2.5 s."),
        "{said}"
    );
    assert!(
        said.contains("1. demo.Shop.lookup()   +59.2 % of the time ("),
        "{said}"
    );
    assert!(
        said.contains("The time of 1 method changed; that of 1 did not measurably."),
        "{said}"
    );
    // The cause is said once, with the time.
    assert_eq!(said.matches("demo.Shop.lookup()").count(), 1, "{said}");
    let json: Value = serde_json::from_str(&diff::json(&diff).unwrap()).unwrap();
    let of = &json["time"]["methods"][0];
    assert_eq!(
        (&of["name"], &of["near"]["distinguishable"]),
        (&"lookup".into(), &true.into())
    );
    assert_eq!(of["paths"][0]["count"], serde_json::json!([1_000, 3_000]));
    let [markdown, page] = [
        diff::markdown(&diff, &Sources::new(&[])),
        diff::html(&diff, &Sources::new(&[])),
    ];
    assert!(
        markdown.starts_with("**CPU time for the same work grew by 145.0 %"),
        "{markdown}"
    );
    assert!(page.contains("<h1>CPU time for the same work grew by 145.0 %") && page.contains("id=\"time\""));
}

/// Milliseconds.
const LOW: f64 = 806.91;
const HIGH: f64 = 2_093.08;

#[test]
fn more_of_the_same_takes_no_more_time() {
    let before = shop([9_000, 1_000], [100, 50, 30, 20], 700, 100);
    let mut after = shop([18_000, 2_000], [200, 100, 60, 40], 1_400, 200);
    let counts = after.classes.iter_mut().flat_map(|class| &mut class.counts);
    // `spin`, too, ran twice as often.
    counts
        .take(1)
        .for_each(|spin| spin.paths.values_mut().for_each(|n| *n *= 2));
    let diff = diff(&before, &after);
    let found = diff.time.as_ref().unwrap();
    assert_eq!((found.methods.len(), found.alike, found.scale), (0, 2, Some(2.0)));
    assert!(
        text(&diff)
            .replace('\n', " ")
            .contains("The second run did 2.00 times as much of the same, in 2.0 s."),
        "{}",
        text(&diff)
    );
}

/// Draws so many samples of methods with these shares.
fn draw(random: &mut Random, shares: &[u64], count: u64) -> Profile {
    let all: u64 = shares.iter().sum();
    let mut found = vec![0; shares.len()];
    for _ in 0..count {
        let mut at = random.below(all);
        let method = shares.iter().position(|&share| {
            let is_here = at < share;
            at = at.saturating_sub(share);
            is_here
        });
        found[method.unwrap()] += 1;
    }
    let frames = (0..shares.len()).map(|at| frame("demo/M", &format!("m{at}"), "()V", CpuFrameKind::Java));
    let rows: Vec<_> = (0..)
        .zip(&found)
        .map(|(at, &n)| row(None, at, Some(1), time(n)))
        .collect();
    Profile {
        run: common::run(true),
        cpu: Some(samples(frames.collect(), &rows)),
        ..Profile::default()
    }
}

#[test]
fn chance_is_no_finding_and_the_interval_holds() {
    let mut random = Random(5);
    let shares = [500, 200, 100, 50, 50, 30, 30, 20, 10, 5, 3, 1, 1];
    let all: u64 = shares.iter().sum();
    let mut more = shares;
    more[3] += 1_500;
    let mut seen = 0;
    for _ in 0..200 {
        let before = draw(&mut random, &shares, 800);
        let same = diff(&before, &draw(&mut random, &shares, 800));
        let found = same.time.as_ref().unwrap();
        assert!(found.methods.is_empty(), "{found:#?}");
        assert!(
            text(&same).contains("No method's time changed measurably"),
            "{}",
            text(&same)
        );
        // Method 3 takes 1,500 ms more of 1,000, and all others what they took.
        let changed = diff(
            &draw(&mut random, &shares, all),
            &draw(&mut random, &more, all + 1_500),
        );
        for method in &changed.time.as_ref().unwrap().methods {
            assert_eq!(method.title(), "demo.M.m3()", "{method:#?}");
            let [low, high] = method.near.interval;
            assert!(low <= 1_500e6 && 1_500e6 <= high, "{method:#?}");
            assert!(method.near.at_least() > 0.0 && !method.measured && method.paths.is_empty());
            seen += 1;
        }
    }
    assert!(seen > 150, "it was found {seen} times only");
}

#[test]
fn samples_of_one_side_are_not_compared() {
    let (before, mut after) = shops();
    after.cpu = None;
    let one = diff(&before, &after);
    assert!(one.time.is_none());
    let said = text(&one);
    assert!(
        said.contains("Only the first profile has CPU samples (--sample), so times are not compared."),
        "{said}"
    );
    let json: Value = serde_json::from_str(&diff::json(&one).unwrap()).unwrap();
    assert_eq!(json["time"], serde_json::json!({"only": "before"}));
    let mut before = before;
    before.cpu = None;
    let none = diff(&before, &after);
    assert!(!text(&none).contains("CPU") && !diff::json(&none).unwrap().contains("\"time\""));
}

#[test]
fn a_method_that_was_measured_in_one_run_only_keeps_its_samples() {
    // The second run left `spin` without probes: its time is still its own, and no method's change.
    let (before, _) = shops();
    let mut after = before.clone();
    let class = &mut after.classes[0];
    std::sync::Arc::make_mut(&mut class.map).methods.remove(0);
    class.counts.remove(0);
    let found = diff(&before, &after).time.unwrap();
    assert_eq!((found.methods.len(), found.alike), (0, 2), "{found:#?}");
}

/// Shares of a run whose methods were compiled otherwise: each is off by up to a fifth.
fn compiled_anew(random: &mut Random, shares: &[u64]) -> Vec<u64> {
    let other = |&share: &u64| share * 4 / 5 + random.below(share * 2 / 5 + 1);
    shares.iter().map(other).collect()
}

#[test]
fn what_runs_of_one_program_differ_by_is_no_change() {
    let mut random = Random(11);
    let shares = [5_000, 2_000, 1_000, 500, 500, 300, 300, 200, 100, 100];
    let mut slower = shares;
    slower[2] += 700;
    let run = |random: &mut Random, shares: &[u64]| {
        let shares = compiled_anew(random, shares);
        draw(random, &shares, shares.iter().sum())
    };
    let (mut one, mut five) = (0, 0);
    for _ in 0..40 {
        let several = |random: &mut Random, shares: &[u64]| -> Vec<Profile> {
            (0..5).map(|_| run(random, shares)).collect()
        };
        let (before, same) = (several(&mut random, &shares), several(&mut random, &shares));
        let compare = |before: &[Profile], after: &[Profile]| {
            Diff::of_runs(before, after, &DiffOptions::default()).unwrap()
        };
        for diff in [compare(&before, &same), compare(&before[..1], &same[..1])] {
            let found = &diff.time.as_ref().unwrap().methods;
            assert!(found.is_empty(), "{found:#?}");
        }
        // 700 ms more of 10,000 in a method of 1,000: too little for one pair, enough for five.
        let after = several(&mut random, &slower);
        let found = |diff: &Diff| {
            let methods = &diff.time.as_ref().unwrap().methods;
            assert!(methods.iter().all(|m| m.title() == "demo.M.m2()"), "{methods:#?}");
            methods.len()
        };
        let all = compare(&before, &after);
        assert_eq!(all.runs, [5, 5]);
        // Means of a run, not sums.
        let total = all.time.as_ref().unwrap().same_work;
        assert!(total.iter().all(|&ns| ns < 15e9), "{total:?}");
        assert!(
            text(&all).contains("All numbers are means of 5 and 5 runs."),
            "{}",
            text(&all)
        );
        five += found(&all);
        one += found(&compare(&before[..1], &after[..1]));
    }
    assert!(one < 10 && five > 20, "{one} {five}");
}

#[test]
fn a_busier_machine_is_no_change_of_a_method() {
    let shares = [500, 300, 200, 100, 50, 50];
    let mut random = Random(3);
    let before = draw(&mut random, &shares, 1_200);
    let slower = draw(&mut random, &shares, 2_400);
    let diff = diff(&before, &slower);
    let time = diff.time.as_ref().unwrap();
    assert!(time.methods.is_empty(), "{time:#?}");
    assert!(text(&diff).contains("No method stands out"), "{}", text(&diff));
}
