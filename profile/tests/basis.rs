//! How counts came about, against draws whose truth is known.

use crate::common::{class, paths, profile, two_ifs};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};
use trodden_profile::{CountBasis, Observation, Profile, RunInfo, facts};

fn run(probe: &str, schedule: Option<&str>) -> RunInfo {
    RunInfo {
        probe: probe.to_owned(),
        schedule: schedule.map(str::to_owned),
        ..RunInfo::default()
    }
}

fn counted(probe: &str, schedule: Option<&str>, counts: &[(u64, u64)], samples: Option<u64>) -> Profile {
    let mut profile = profile(vec![class("A", 1, vec![(two_ifs("m", None), paths(counts))])]);
    profile.run = run(probe, schedule);
    if let Some(samples) = samples {
        profile.run.facts.set(facts::SAMPLES, samples);
    }
    profile
}

/// Path ends that a window of fixed duration sees: of the first 256 all are kept, of the next 512 every
/// second, of the next 1024 every fourth, and each represents those that were dropped.
const SEEN: u64 = 256 + 512 + 1024;
const WINDOWS: u64 = 20;
/// One window for that number of intervals without one.
const SCALE: u64 = 20;

/// A run in which a tenth of all path ends is path 1, the others path 0.
fn sampled(random: &mut TestRng) -> Profile {
    let (mut counts, mut samples) = ([0; 2], 0);
    for _ in 0..WINDOWS {
        for at in 0..SEEN {
            let path = usize::from(random.random_bool(0.1));
            let step = match at {
                ..256 => 1,
                256..768 => 2,
                _ => 4,
            };
            if at % step == 0 {
                counts[path] += step * SCALE;
                samples += 1;
            }
        }
    }
    let counts = [(0, counts[0]), (1, counts[1])];
    let mut profile = counted("yieldpoint", Some("span:1ms:256"), &counts, Some(samples));
    profile.run.facts.set(facts::WINDOW_PATH_ENDS, WINDOWS * SEEN);
    profile
}

#[test]
fn the_rate_of_weighted_samples_gives_intervals_that_hold_the_truth() {
    const RUNS: usize = 400;
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let truth = (WINDOWS * SEEN * SCALE) as f64 * 0.1;
    let mut right = 0;
    for _ in 0..RUNS {
        let profile = sampled(&mut random);
        let basis = profile.count_basis();
        assert!(matches!(basis, CountBasis::Weighted(_)), "{basis:?}");
        let count = profile.classes[0].counts[0].paths[&1] as f64;
        let rate = basis.of_method(&profile, (0, 0)).rate().of_each().unwrap();
        let half = count * 1.96 / (count * rate).sqrt();
        right += usize::from((count - truth).abs() <= half);
    }
    // 95 of 100 by the formula, some less as samples weigh differently. What windows saw in place of what was
    // kept: 75 of 100.
    assert!(right * 100 >= RUNS * 88, "{right} of {RUNS}");
}

#[test]
fn what_counts_are() {
    let counts = [(0, 900), (1, 100)];
    let basis = |probe: &str, schedule: Option<&str>| {
        let basis = counted(probe, schedule, &counts, Some(50)).count_basis();
        let name = match basis {
            CountBasis::Exact => "exact",
            CountBasis::Sampled(_) => "sampled",
            CountBasis::Weighted(_) => "weighted",
            CountBasis::Estimated(_) => "estimated",
        };
        (name, basis.rate().of_each())
    };
    let (span, sag) = ("span:1ms:256", "sag:64:17");
    let both = format!("{sag} + {span}");
    for (probe, schedule, expected) in [
        ("yieldpoint", Some(span), ("weighted", Some(0.05))),
        (
            "yieldpoint",
            Some("span:1ms:256 + span:2ms:64"),
            ("weighted", Some(0.05)),
        ),
        ("yieldpoint", Some(sag), ("sampled", Some(1.0))),
        ("yieldpoint", Some(&both), ("weighted", None)),
        ("counters + yieldpoint", Some(span), ("weighted", None)),
        ("safepoint", None, ("sampled", Some(1.0))),
        ("safepoint + yieldpoint", Some(sag), ("sampled", None)),
        ("auto", None, ("estimated", None)),
        ("auto + counters", None, ("estimated", None)),
        ("structural", None, ("estimated", None)),
    ] {
        assert_eq!(basis(probe, schedule), expected, "{probe} {schedule:?}");
    }
    let mut exact = counted("counters", None, &counts, None);
    exact.run.exact = true;
    assert_eq!(exact.count_basis(), CountBasis::Exact);
    // Nothing says how many samples there were.
    let unknown = counted("yieldpoint", Some(span), &counts, None).count_basis();
    assert_eq!((unknown.rate().of_each(), unknown.rate().mean()), (None, 1.0));
}

#[test]
fn methods_with_probes_for_a_part_of_the_run_are_estimated() {
    let two = vec![
        (two_ifs("m", None), paths(&[(0, 900), (1, 100)])),
        (two_ifs("n", None), paths(&[(0, 7)])),
    ];
    for (probe, rate, other) in [
        ("auto", Some(0.25), true),
        ("auto + counters", Some(0.25), true),
        ("structural", None, false),
    ] {
        let mut profile = profile(vec![class("A", 1, two.clone())]);
        profile.run = run(probe, None);
        profile.observations.push(Observation {
            class: 0,
            method: 0,
            counted: 250,
            seconds: 1.0,
            until: 1.0,
            windows: 1,
            reason: "known".to_owned(),
        });
        let basis = profile.count_basis();
        let of_method = basis.of_method(&profile, (0, 0));
        assert!(
            matches!(of_method, CountBasis::Estimated(_)),
            "{probe}: {of_method:?}"
        );
        assert_eq!(
            (of_method.rate().of_each(), of_method.rate().mean()),
            (rate, 0.25)
        );
        let all_the_time = basis.of_method(&profile, (0, 1));
        assert_eq!(
            all_the_time == CountBasis::Exact,
            other,
            "{probe}: {all_the_time:?}"
        );
    }
}
