//! What slow requests do differently, of requests whose reasons are planned.

use std::rc::Rc;

use trodden_insight::slow::{Cause, CauseKind, Limit, Slow, SlowRequests};
use trodden_insight::source::Sources;
use trodden_profile::Profile;

use crate::common::requests::{Plan, Reasons, server};

fn answered(profile: &Profile, limit: Limit) -> SlowRequests {
    let sources = Rc::new(Sources::new(&[]));
    let mut slow = Slow::new(profile, &sources, limit).unwrap();
    slow.requests.remove(0)
}

/// Method, line and outcome of a cause in the code; its kind of the others.
fn place(cause: &Cause) -> String {
    match &cause.kind {
        CauseKind::Outcome(spot) | CauseKind::Size(spot, _) => format!(
            "{} {} {}",
            spot.method,
            spot.line.unwrap(),
            spot.outcome.as_deref().unwrap()
        ),
        CauseKind::Path(spot, _) => format!("path {}", spot.method),
        CauseKind::Collections(_) => "collections".to_owned(),
        CauseKind::Waiting(_) => "waiting".to_owned(),
    }
}

type Setting = fn(&mut Plan, f64);
type Reason = fn(&Reasons) -> bool;

/// The reasons: how they are planned, where the answer is to be found, which requests have it, and what one more costs in
/// milliseconds.
const PLANNED: [(Setting, &str, Reason, f64); 7] = [
    (
        |plan, share| plan.miss = share,
        "lookup 17 no",
        |why| why.miss,
        38.0,
    ),
    (
        |plan, share| plan.retry = share,
        "retry 41 not taken",
        |why| why.retries > 0,
        12.0,
    ),
    (
        |plan, share| plan.large = share,
        "handle 11 again",
        |why| why.large,
        0.02,
    ),
    (
        |plan, share| plan.branch = share,
        "render 50 taken",
        |why| why.branch,
        25.0,
    ),
    (
        |plan, share| plan.lock = share,
        "lock 60 taken",
        |why| why.lock,
        30.0,
    ),
    (
        |plan, share| plan.collection = share,
        "collections",
        |why| why.collection,
        37.5,
    ),
    (
        |plan, share| plan.waiting = share,
        "waiting",
        |why| why.waiting,
        40.0,
    ),
];

/// The share of slow, and of other requests that have a reason: by going through them.
fn shares(profile: &Profile, reasons: &[Reasons], over_ns: u64, has: Reason) -> [f64; 2] {
    let samples = &profile.requests.as_ref().unwrap().names[0].samples;
    [true, false].map(|is_slow| {
        let group = samples
            .iter()
            .zip(reasons)
            .filter(|(sample, _)| (sample.latency_ns > over_ns) == is_slow);
        let all: f64 = group.clone().map(|(sample, _)| sample.weight).sum();
        let with = group.filter(|(_, why)| has(why));
        with.map(|(sample, _)| sample.weight).sum::<f64>() / all
    })
}

#[test]
fn each_reason_alone_is_the_first_cause() {
    for seed in [1, 2, 3] {
        for (set, expected, has, cost) in PLANNED {
            let mut plan = Plan {
                seed,
                ..Plan::default()
            };
            set(&mut plan, 0.008);
            let (profile, reasons) = server(&plan);
            let found = answered(&profile, Limit::default());
            let first = &found.causes[0];
            assert_eq!(place(first), expected, "{seed} {:#?}", found.causes);
            // More of the same begins somewhere in between.
            let near = if matches!(first.kind, CauseKind::Size(..)) {
                0.05
            } else {
                1e-9
            };
            let truth = shares(&profile, &reasons, found.over_ns, has);
            for (found, truth) in [first.slow_share, first.other_share].iter().zip(truth) {
                assert!((found - truth).abs() < near, "{expected} {first:#?} {truth}");
            }
            let [low, high] = first.interval_ns;
            let found_cost = first.cost_ns / 1e6;
            assert!(
                (found_cost - cost).abs() < 0.1 * cost,
                "{expected}: {found_cost} ms"
            );
            assert!(
                low <= first.cost_ns && first.cost_ns <= high && low > 0.5 * first.cost_ns,
                "{first:?}"
            );
            let in_code = found
                .causes
                .iter()
                .filter(|cause| cause.p_value.is_some())
                .count();
            assert!(in_code <= 1, "{expected}: {:#?}", found.causes);
        }
    }
}

#[test]
fn all_reasons_at_once_are_all_found() {
    for seed in [1, 2, 3] {
        let mut plan = Plan {
            seed,
            requests: 60_000,
            ..Plan::default()
        };
        for (set, ..) in PLANNED {
            set(&mut plan, 0.0013);
        }
        let (profile, _) = server(&plan);
        let found = answered(&profile, Limit::default());
        let mut places: Vec<String> = found.causes.iter().map(place).collect();
        let measured = places.split_off(5);
        places.sort();
        let mut expected: Vec<&str> = PLANNED[..5].iter().map(|(_, place, ..)| *place).collect();
        expected.sort_unstable();
        assert_eq!(places, expected, "{seed} {:#?}", found.causes);
        assert_eq!(measured, ["collections", "waiting"], "{seed}");
    }
}

#[test]
fn nothing_is_blamed_without_a_reason() {
    let mut alarms = 0;
    for seed in 0..200 {
        let plan = Plan {
            seed,
            requests: 4_000,
            noise: 6,
            kept: [1, 4, 10][seed as usize % 3],
            tail: seed % 2 == 0,
            ..Plan::default()
        };
        let (profile, _) = server(&plan);
        let found = answered(&profile, Limit::default());
        alarms += usize::from(!found.causes.is_empty());
        assert!(found.is_enough);
    }
    // By the test's own level it may be one of a hundred.
    assert!(alarms <= 2, "{alarms}");
}
