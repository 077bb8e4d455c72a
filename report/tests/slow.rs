//! Slow requests whose reasons are planned.

use std::rc::Rc;

use scraper::{Html, Selector};
use trodden_insight::slow::{Cause, CauseKind, Decoded, Limit, Slow, SlowError, SlowRequests, Spot};
use trodden_insight::source::Sources;
use trodden_profile::{Profile, RequestName, Requests, is_control};
use trodden_report::slow as formats;
use trodden_report::{Report, ReportOptions};

use crate::browser::{chromium, played};
use crate::common::requests::{Plan, Reasons, server};
use crate::common::sources;

fn answered(profile: &Profile, limit: Limit) -> SlowRequests {
    let sources = Rc::new(Sources::new(&[]));
    let mut slow = Decoded::new(profile, &sources).unwrap().slow(limit);
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
        for cause in &found.causes {
            let (.., cost) = PLANNED.iter().find(|(_, at, ..)| *at == place(cause)).unwrap();
            assert!(
                (cause.cost_ns / 1e6 - cost).abs() < 0.15 * cost,
                "{seed} {cost} {cause:#?}"
            );
        }
        let measured = places.split_off(5);
        places.sort();
        let mut expected: Vec<&str> = PLANNED[..5].iter().map(|(_, place, ..)| *place).collect();
        expected.sort_unstable();
        assert_eq!(places, expected, "{seed} {:#?}", found.causes);
        assert_eq!(measured, ["collections", "waiting"], "{seed}");
    }
}

/// The requests of the first cause have unequal weights, those that are left have equal ones.
#[test]
fn weights_become_more_equal_from_cause_to_cause() {
    let plan = Plan {
        miss: 0.004,
        branch: 0.004,
        ..Plan::default()
    };
    let (mut profile, reasons) = server(&plan);
    let samples = &mut profile.requests.as_mut().unwrap().names[0].samples;
    for (at, (sample, why)) in samples.iter_mut().zip(&reasons).enumerate() {
        sample.weight = match (why.miss, at % 8) {
            (true, 0) => 60.0,
            _ => 1.0,
        };
    }
    let found = answered(&profile, Limit::Latency(10_000_000));
    let places: Vec<String> = found.causes.iter().map(place).collect();
    assert_eq!(places, ["lookup 17 no", "render 50 taken"], "{:#?}", found.causes);
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

#[test]
fn a_path_is_named_where_no_outcome_tells_as_much() {
    let plan = Plan {
        pair: Some(0.09),
        ..Plan::default()
    };
    let (profile, reasons) = server(&plan);
    let found = answered(&profile, Limit::default());
    let first = &found.causes[0];
    assert_eq!(place(first), "path pair", "{:#?}", found.causes);
    let both: Reason = |why| why.pair == [true; 2];
    let truth = shares(&profile, &reasons, found.over_ns, both);
    assert!((first.slow_share - truth[0]).abs() < 1e-9, "{first:?} {truth:?}");
    assert!((first.cost_ns / 1e6 - 30.0).abs() < 1.5, "{first:?}");
    assert_eq!(found.causes.len(), 1);
}

/// A clear reason in ever fewer requests: in the end there are too few to say anything, and that is said.
#[test]
fn too_few_samples_are_no_answer() {
    let mut few = 0;
    for requests in [2_000, 500, 200, 100, 30, 1, 0] {
        let plan = Plan {
            requests,
            kept: 1,
            miss: 0.02,
            ..Plan::default()
        };
        let (profile, _) = server(&plan);
        let found = answered(&profile, Limit::default());
        assert!(found.is_enough || found.causes.iter().all(|cause| cause.p_value.is_none()));
        few += usize::from(!found.is_enough);
        let text = text_of(&profile, 100);
        let says = [
            "too few",
            "none of",
            "no slow request",
            "no request ended",
            "took Server.lookup",
        ];
        assert!(says.iter().any(|part| text.contains(part)), "{requests}: {text}");
    }
    assert!(few >= 3, "{few}");
}

fn text_of(profile: &Profile, width: usize) -> String {
    let sources = Sources::new(&[]);
    let slow = Decoded::new(profile, &sources).unwrap().slow(Limit::default());
    formats::text(&slow, &sources, width, false)
}

#[test]
fn the_first_screen_answers() {
    let plan = Plan {
        miss: 0.008,
        collection: 0.001,
        ..Plan::default()
    };
    let (profile, _) = server(&plan);
    let text = text_of(&profile, 100);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("demo.Server#handle: 20,000 requests, p50 2.0 ms, p99 "),
        "{text}"
    );
    assert!(lines[1].starts_with("Slow (200 over "), "{text}");
    assert!(
        text.contains("took Server.lookup, line 17: table != null → no (others: "),
        "{text}"
    );
    assert!(text.contains("together with Server.build, line 30: "), "{text}");
    assert!(text.contains(" overlapped a collection of 3"), "{text}");
    for width in [60, 100, 200] {
        for line in text_of(&profile, width).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    assert!(
        report.text(false).contains("took Server.lookup, line 17"),
        "{}",
        report.text(false)
    );
    let json: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    assert_eq!(json["requests"][0]["causes"][0]["line"], 17);
    assert_eq!(json["requests"][0]["slow"]["count"], 200);
}

#[test]
fn limits_are_those_of_the_histogram() {
    let (profile, _) = server(&Plan::default());
    let name = &profile.requests.as_ref().unwrap().names[0];
    let mut all: Vec<u64> = Vec::new();
    for &(latency, count) in &name.latencies {
        all.extend(std::iter::repeat_n(latency, count as usize));
    }
    for (limit, over) in [
        (Limit::Quantile(0.95), all[18_999]),
        (Limit::Quantile(0.0), all[0]),
        (Limit::Latency(2_500_000), 2_500_000),
        (Limit::Latency(u64::MAX), u64::MAX),
    ] {
        let found = answered(&profile, limit);
        let slow = all.iter().filter(|latency| **latency > over).count();
        assert_eq!((found.over_ns, found.slow), (over, slow as u64));
    }
}

#[test]
fn profiles_without_requests_and_empty_ones() {
    let sources = Sources::new(&[]);
    let error = Decoded::new(&Profile::default(), &sources).err().unwrap();
    assert!(matches!(error, SlowError::NoRequests) && error.to_string().contains("--requests"));
    let (mut profile, _) = server(&Plan {
        requests: 10,
        ..Plan::default()
    });
    for names in [Vec::new(), vec![RequestName::default()]] {
        profile.requests = Some(Requests {
            names,
            ..Requests::default()
        });
        let slow = Decoded::new(&profile, &sources).unwrap().slow(Limit::default());
        formats::text(&slow, &sources, 100, true);
        formats::json(&slow).unwrap();
        formats::html(
            &slow,
            &Decoded::new(&profile, &sources).unwrap().bands(&slow),
            &sources,
        );
        let mut out = Vec::new();
        formats::csv(&Decoded::new(&profile, &sources).unwrap().vectors(), &mut out).unwrap();
        let report = Report::new(&profile, &ReportOptions::default()).unwrap();
        report.text(false);
        report.html().unwrap();
    }
}

#[test]
fn hostile_names_steer_nothing() {
    let (mut profile, _) = server(&Plan {
        miss: 0.008,
        ..Plan::default()
    });
    profile.requests.as_mut().unwrap().names[0].name = "x\u{1b}[31m\"</script>\r\n,=1+1\u{202e}".to_owned();
    let profile = profile.into_printable();
    let sources = Sources::new(&[]);
    let slow = Decoded::new(&profile, &sources).unwrap().slow(Limit::default());
    let text = formats::text(&slow, &sources, 100, false);
    assert!(!text.replace('\n', "").contains(is_control), "{text:?}");
    let page = formats::html(
        &slow,
        &Decoded::new(&profile, &sources).unwrap().bands(&slow),
        &sources,
    );
    assert_eq!(page.matches("</script>").count(), 2);
    let json = String::from_utf8(formats::json(&slow).unwrap()).unwrap();
    assert!(!json.replace('\n', "").contains(is_control));
    let mut out = Vec::new();
    formats::csv(&Decoded::new(&profile, &sources).unwrap().vectors(), &mut out).unwrap();
    let samples = profile.requests.as_ref().unwrap().names[0].samples.len();
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), samples + 1);
}

/// Rows add up to the profile's own counts of outcomes.
#[test]
fn the_table_has_all_samples_and_outcomes() {
    let (profile, reasons) = server(&Plan {
        miss: 0.05,
        kept: 3,
        ..Plan::default()
    });
    let mut out = Vec::new();
    formats::csv(
        &Decoded::new(&profile, &Sources::new(&[])).unwrap().vectors(),
        &mut out,
    )
    .unwrap();
    let text = String::from_utf8(out).unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    // No field has a comma in it but parameters of methods; these have at most one.
    let columns: Vec<&str> = head.split(',').collect();
    let column = columns
        .iter()
        .position(|name| name.contains("lookup(int)") && name.contains("→ no"))
        .unwrap();
    let missed = rows.lines().map(|row| row.split(',').nth(column).unwrap() == "1");
    let truth: Vec<bool> = reasons.iter().map(|why| why.miss).collect();
    assert_eq!(missed.collect::<Vec<_>>(), truth);
    let weights: f64 = rows
        .lines()
        .map(|row| row.split(',').nth(4).unwrap().parse::<f64>().unwrap())
        .sum();
    let samples = &profile.requests.as_ref().unwrap().names[0].samples;
    assert_eq!(weights, samples.iter().map(|sample| sample.weight).sum::<f64>());
    assert_eq!(rows.lines().count(), samples.len());
}

/// The document that `docs/schema` is compared with.
#[test]
fn json() {
    let spot = Spot {
        class: "shop/TaxTables".to_owned(),
        method: "lookup".to_owned(),
        descriptor: "(I)Lshop/Table;".to_owned(),
        source_file: Some("TaxTables.java".to_owned()),
        line: Some(17),
        bci: 9,
        condition: Some("table != null".to_owned()),
        outcome: Some("no".to_owned()),
        path: None,
    };
    let path = Spot {
        line: None,
        condition: None,
        outcome: None,
        path: Some((3, "17 · 19".to_owned())),
        ..spot.clone()
    };
    let cause = |kind, p_value| Cause {
        kind,
        slow_share: 0.75,
        other_share: 0.25,
        cost_ns: 38e6,
        interval_ns: [36e6, 41e6],
        explains: 0.5,
        p_value,
        with: Vec::new(),
    };
    let slow = Slow {
        requests: vec![SlowRequests {
            name: "POST /price".to_owned(),
            count: 61_200,
            unreadable: 3,
            quantiles_ns: [2_100_000, 42_000_000, 57_000_000],
            over_ns: 42_000_000,
            slow: 612,
            samples: [400, 2_000],
            effective: [400.0, 1_500.5],
            is_enough: true,
            causes: vec![
                Cause {
                    with: vec![(path.clone(), 0)],
                    ..cause(CauseKind::Outcome(spot.clone()), Some(0.001))
                },
                cause(CauseKind::Size(spot, 40), Some(0.002)),
                cause(CauseKind::Path(path, 0), Some(0.0)),
                cause(CauseKind::Collections(30_000_000), None),
                cause(CauseKind::Waiting(20_000_000), None),
            ],
            unexplained: 0.125,
        }],
        reading_ns: 1_500_000_000,
        all_ns: 300_000_000_000,
    };
    insta::assert_snapshot!(String::from_utf8(formats::json(&slow).unwrap()).unwrap());
}

#[test]
fn bands_hold_each_request_once() {
    let (profile, reasons) = server(&Plan {
        miss: 0.02,
        collection: 0.01,
        ..Plan::default()
    });
    let sources = Sources::new(&[]);
    let slow = Decoded::new(&profile, &sources).unwrap().slow(Limit::default());
    let bands = Decoded::new(&profile, &sources).unwrap().bands(&slow).remove(0);
    let name = &profile.requests.as_ref().unwrap().names[0];
    assert!(bands.bounds_ns.is_sorted_by(|a, b| a < b) && bands.counts.len() + 1 == bands.bounds_ns.len());
    assert!(bands.bounds_ns.contains(&slow.requests[0].over_ns));
    let in_band = |at: usize, ns: u64| bands.bounds_ns[at] < ns && ns <= bands.bounds_ns[at + 1];
    let took = |kind: &CauseKind| matches!(kind, CauseKind::Outcome(spot) if spot.method == "lookup");
    let (_, missed) = bands.things.iter().find(|(kind, _)| took(kind)).unwrap();
    assert_eq!(missed.len(), bands.counts.len());
    for (at, missed) in missed.iter().enumerate() {
        let there = name.latencies.iter().filter(|(latency, _)| in_band(at, *latency));
        assert_eq!(bands.counts[at], there.map(|(_, count)| count).sum::<u64>());
        let samples = name.samples.iter().zip(&reasons);
        let samples = samples.filter(|(sample, _)| in_band(at, sample.latency_ns));
        let all: f64 = samples.clone().map(|(sample, _)| sample.weight).sum();
        let with: f64 = samples
            .filter(|(_, why)| why.miss)
            .map(|(sample, _)| sample.weight)
            .sum();
        assert!(
            (bands.weights[at][0] - all).abs() < 1e-6 && (missed - with).abs() < 1e-6,
            "{at}"
        );
    }
}

#[test]
fn a_band_of_the_page_says_what_its_requests_do() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium found (set TRODDEN_CHROMIUM)");
        return;
    };
    // A hump at 25 ms and one at 38 ms.
    let (profile, _) = server(&Plan {
        miss: 0.03,
        branch: 0.03,
        ..Plan::default()
    });
    let sources = Sources::new(&[sources()]);
    let slow = Decoded::new(&profile, &sources).unwrap().slow(Limit::default());
    let bands = Decoded::new(&profile, &sources).unwrap().bands(&slow);
    let page = formats::html(&slow, &bands, &sources);
    let at = |ms: u64| {
        bands[0]
            .bounds_ns
            .partition_point(|&bound| bound < ms * 1_000_000)
    };
    let choose = |from: usize, to: usize| {
        format!(
            "const [a,b]=document.querySelectorAll('.choice input');\
             for(const [field,value] of [[a,{from}],[b,{to}]]){{field.value=value;\
             field.dispatchEvent(new Event('input'))}}"
        )
    };
    let text_at = |page: &Html, what: &str| {
        let shown = Selector::parse(&format!("{what}:not([hidden])")).unwrap();
        page.select(&shown)
            .flat_map(|element| element.text())
            .collect::<String>()
    };
    let chosen = played(&browser, &page, "", &choose(at(20), at(32)));
    let band = text_at(&chosen, ".of-band");
    assert!(
        band.contains("took Server.render, line 50: taken (others: "),
        "{band}"
    );
    assert!(!band.contains("lookup"), "{band}");
    assert_eq!(text_at(&chosen, ".answer"), "");
    let chosen = played(&browser, &page, "", &choose(at(35), at(45)));
    let band = text_at(&chosen, ".of-band");
    assert!(
        band.contains("took Server.lookup, line 17: table != null → no (others: "),
        "{band}"
    );
    // By hand, and back to the answer.
    let drag = "const picture=document.querySelector('.latencies');const box=picture.getBoundingClientRect();\
        picture.setPointerCapture=()=>{};const send=(kind,part)=>picture.dispatchEvent(new PointerEvent(kind,\
        {clientX:box.left+box.width*part,pointerId:1}));send('pointerdown',0.05);send('pointermove',0.3);send('pointerup',0.3)";
    let chosen = played(&browser, &page, "", drag);
    assert!(text_at(&chosen, ".of-band").contains(" requests from "));
    let back = format!("{drag};document.querySelector('.choice button').click()");
    let chosen = played(&browser, &page, "", &back);
    assert_eq!(text_at(&chosen, ".of-band"), "");
    assert!(text_at(&chosen, ".answer").contains("Slow (200 over "));
    // The report's page has the same section.
    let report = Report::new(&profile, &ReportOptions::default())
        .unwrap()
        .html()
        .unwrap();
    let chosen = played(&browser, &report, "", &choose(at(20), at(32)));
    assert!(text_at(&chosen, ".of-band").contains("took Server.render, line 50"));
}
