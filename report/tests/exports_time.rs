//! CPU time in stacks for other tools: against sums that are made here, sample by sample, up the rows of the samples.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use crate::common::cpu::{row, samples, shop, shop_frames, time, with_answers};
use crate::common::{self, Random};
use flate2::read::GzDecoder;
use serde_json::Value;
use trodden_insight::path_time::ENOUGH_SAMPLES;
use trodden_profile::{CpuFrame, CpuRow, Profile};
use trodden_report::{Report, ReportError, ReportOptions, StackKind, Weight};

fn options(stacks: Option<StackKind>, weight: Option<Weight>) -> ReportOptions {
    ReportOptions {
        stacks,
        weight,
        all: true,
        ..ReportOptions::default()
    }
}

fn collapsed(profile: &Profile, options: &ReportOptions) -> Result<Vec<(String, u64)>, ReportError> {
    let text = Report::new(profile, options).unwrap().collapsed()?;
    let line = |line: &str| {
        let (stack, number) = line.rsplit_once(' ').unwrap();
        (stack.to_owned(), number.parse().unwrap())
    };
    Ok(text.lines().map(line).collect())
}

/// `hit` and `miss` for the two paths of `lookup`, however they are called.
fn brief(lines: Vec<(String, u64)>) -> BTreeMap<String, u64> {
    let way = |frame: &str| match frame {
        _ if frame.starts_with("Shop.lookup #") && frame.contains(" → 6 → ") => "hit".to_owned(),
        _ if frame.starts_with("Shop.lookup #") => "miss".to_owned(),
        _ if frame.starts_with("Shop.spin #") => "only".to_owned(),
        _ => frame.to_owned(),
    };
    let mut all = BTreeMap::new();
    for (stack, number) in lines {
        let frames: Vec<String> = stack.split(';').map(way).collect();
        *all.entry(frames.join(";")).or_default() += number;
    }
    all
}

fn map<const N: usize>(entries: [(&str, u64); N]) -> BTreeMap<String, u64> {
    entries.map(|(name, number)| (name.to_owned(), number)).into()
}

#[test]
fn the_innermost_counted_method_has_its_path() {
    let profile = shop([9_000, 1_000], [100, 50, 30, 20], 700, 100);
    let lookup = "demo.Shop.lookup";
    // 100 and 20 samples are in code of both paths: nine tenths are the hit's.
    let expected = map([
        (&format!("{lookup};hit"), 158_000_000),
        (&format!("{lookup};miss"), 42_000_000),
        (
            &format!("{lookup};miss;java.io.FileInputStream.read"),
            700_000_000,
        ),
        ("demo.Shop.spin;only", 100_000_000),
    ]);
    let found = collapsed(&profile, &options(None, None)).unwrap();
    assert_eq!(brief(found), expected);
    let calls = collapsed(&profile, &options(Some(StackKind::Calls), Some(Weight::Time))).unwrap();
    assert_eq!(brief(calls), expected);
    let paths = collapsed(&profile, &options(Some(StackKind::Paths), None)).unwrap();
    let place = "demo;demo.Shop;demo.Shop";
    assert_eq!(
        brief(paths),
        map([
            (&format!("{place}.lookup();hit"), 158_000_000),
            (&format!("{place}.lookup();miss"), 742_000_000),
            (&format!("{place}.spin();only"), 100_000_000),
        ])
    );
    let executions = collapsed(&profile, &options(None, Some(Weight::Executions))).unwrap();
    assert_eq!(
        brief(executions),
        map([
            (&format!("{place}.lookup();hit"), 9_000),
            (&format!("{place}.lookup();miss"), 1_000),
            (&format!("{place}.spin();only"), 500_000),
        ])
    );
}

#[test]
fn each_tool_gets_time_first_and_executions_too() {
    let profile = shop([9_000, 1_000], [100, 50, 30, 20], 700, 100);
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let json: Value = serde_json::from_str(&report.speedscope().unwrap()).unwrap();
    let of = |at: usize| {
        let one = &json["profiles"][at];
        (
            one["name"].as_str(),
            one["unit"].as_str(),
            one["endValue"].as_u64(),
        )
    };
    assert_eq!(of(0), (Some("time"), Some("nanoseconds"), Some(1_000_000_000)));
    assert_eq!(of(1), (Some("executions"), Some("none"), Some(510_000)));
    let firefox: Value = serde_json::from_str(&report.firefox().unwrap()).unwrap();
    assert_eq!(firefox["threads"][0]["name"], "time");
    assert_eq!(firefox["threads"][0]["samples"]["weightType"], "tracing-ms");
    let notes = firefox["meta"]["arguments"].as_str().unwrap();
    assert!(notes.contains("divided by how often each ran"), "{notes}");
    assert_eq!(report.pprof().unwrap()[..2], [0x1f, 0x8b]);
}

#[test]
fn what_the_counts_do_not_tell_is_no_paths() {
    // A place that is in no block, and a loop that is not counted would be the same.
    let rows = [
        row(None, 0, None, time(70)),
        row(Some(0), 1, None, time(30)),
        row(None, 1, None, time(50)),
    ];
    let profile = Profile {
        cpu: Some(samples(shop_frames(), &rows)),
        ..shop([9, 1], [0; 4], 0, 0)
    };
    let unknown = "demo.Shop.lookup;Shop.lookup [path not known]";
    let read = "java.io.FileInputStream.read";
    assert_eq!(
        brief(collapsed(&profile, &options(None, None)).unwrap()),
        map([
            (unknown, 70_000_000),
            (&format!("{unknown};{read}"), 30_000_000),
            (read, 50_000_000)
        ])
    );
    assert_eq!(
        brief(collapsed(&profile, &options(Some(StackKind::Paths), None)).unwrap()),
        map([
            (
                "demo;demo.Shop;demo.Shop.lookup();Shop.lookup [path not known]",
                100_000_000
            ),
            ("[in no counted method]", 50_000_000)
        ])
    );
}

/// All ten answers of the first block: one hit, eight misses, one that was not seen. None of the last block.
fn answered() -> Profile {
    with_answers(
        shop([9_000, 1_000], [100, 50, 30, 20], 700, 100),
        &[(1, [1, 8, 1])],
    )
}

#[test]
fn a_sample_that_saw_its_path_is_that_paths() {
    let lookup = "demo.Shop.lookup";
    // Of 100 samples in the first block a tenth is divided as the counts are, nine to one; so are 20 of the last block.
    let [hits, misses] = [10 + 9 + 50 + 18, 80 + 1 + 30 + 2].map(|samples: u64| samples * 1_000_000);
    let found = collapsed(&answered(), &options(None, None)).unwrap();
    assert_eq!(
        brief(found),
        map([
            (&format!("{lookup};hit"), hits),
            (&format!("{lookup};miss"), misses),
            (
                &format!("{lookup};miss;java.io.FileInputStream.read"),
                700_000_000,
            ),
            ("demo.Shop.spin;only", 100_000_000),
        ])
    );
    let paths = collapsed(&answered(), &options(Some(StackKind::Paths), None)).unwrap();
    let place = "demo;demo.Shop;demo.Shop";
    assert_eq!(
        brief(paths),
        map([
            (&format!("{place}.lookup();hit"), hits),
            (&format!("{place}.lookup();miss"), misses + 700_000_000),
            (&format!("{place}.spin();only"), 100_000_000),
        ])
    );
}

#[test]
fn exports_say_how_many_samples_were_divided() {
    let answered = answered();
    for stacks in [None, Some(StackKind::Paths)] {
        let report = Report::new(&answered, &options(stacks, None)).unwrap();
        let firefox: Value = serde_json::from_str(&report.firefox().unwrap()).unwrap();
        let notes = firefox["meta"]["arguments"].as_str().unwrap();
        // A tenth of the first block's, and the last block's.
        let expected = "by how often each ran: 30 of 1,000 samples here (3.0 %).";
        assert!(notes.contains(expected), "{notes}");
        let otlp = report.otlp_json().unwrap();
        assert!(otlp.contains(expected), "{otlp}");
        let mut pprof = Vec::new();
        let packed = report.pprof().unwrap();
        GzDecoder::new(&*packed).read_to_end(&mut pprof).unwrap();
        let has = |text: &str| pprof.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(has(expected));
    }
    // Where each block has one path there is nothing to divide.
    let certain = shop([9_000, 1_000], [0, 50, 30, 0], 700, 100);
    let report = Report::new(&certain, &ReportOptions::default()).unwrap();
    let otlp = report.otlp_json().unwrap();
    assert!(otlp.contains("by how often each ran: no sample here."), "{otlp}");
}

/// Two places in a block that both paths go through: at the one all samples were on hits, at the other, a call, on misses.
#[test]
fn places_of_a_block_have_their_own_answers() {
    let rows = [
        row(None, 0, Some(1), time(60)),
        row(None, 0, Some(2), time(1)),
        row(Some(1), 1, None, time(39)),
        // Nothing waited here: as in the block.
        row(None, 0, Some(3), time(100)),
    ];
    let profile = Profile {
        cpu: Some(samples(shop_frames(), &rows)),
        ..shop([9_000, 1_000], [0; 4], 0, 0)
    };
    // At the call one sample in four waited.
    let profile = with_answers(profile, &[(1, [60, 0, 0]), (2, [0, 10, 0])]);
    let lookup = "demo.Shop.lookup";
    assert_eq!(
        brief(collapsed(&profile, &options(None, None)).unwrap()),
        map([
            (&format!("{lookup};hit"), 120_000_000),
            (&format!("{lookup};miss"), 41_000_000),
            (&format!("{lookup};miss;java.io.FileInputStream.read"), 39_000_000),
        ])
    );
    // The report says the same.
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    let shares = json["methods"][0]["paths"].as_array().unwrap().iter();
    let shares: Vec<f64> = shares
        .map(|path| path["time"]["share"].as_f64().unwrap())
        .collect();
    assert!(
        (shares[0] - 0.6).abs() < 1e-9 && (shares[1] - 0.4).abs() < 1e-9,
        "{shares:?}"
    );
}

/// The places of `lookup` on a stack, each once.
fn places(rows: &[CpuRow], mut row: CpuRow) -> BTreeSet<u16> {
    let mut places = BTreeSet::new();
    loop {
        if let (0, Some(bci)) = (row.frame, row.bci) {
            places.insert(bci);
        }
        match row.parent {
            Some(parent) => row = rows[parent as usize],
            None => return places,
        }
    }
}

/// The parts of hits and misses at a place of a block that both go through, by counts and answers.
fn parts_by_hand(rows: &[CpuRow], counts: [u64; 2], answers: &[(u16, [u64; 3])], bci: u16) -> [f64; 2] {
    let all = (counts[0] + counts[1]) as f64;
    let by_count = counts.map(|count| count as f64 / all);
    let of_place = |[hits, misses, unseen]: [u64; 3]| {
        let waited = (hits + misses + unseen) as f64;
        let part = |seen: u64, by_count: f64| (seen as f64 + unseen as f64 * by_count) / waited;
        [part(hits, by_count[0]), part(misses, by_count[1])]
    };
    let block = if bci < 4 { 0..4 } else { 12..16 };
    let in_block = || answers.iter().filter(|(bci, _)| block.contains(bci));
    if in_block().all(|(_, [hits, misses, _])| hits + misses == 0) {
        return by_count;
    }
    if let Some((_, answers)) = in_block().find(|(place, _)| *place == bci) {
        return of_place(*answers);
    }
    // As the places together whose samples waited, each with its time; or with its answers, if no sample was there.
    let mut sums = [0.0; 2];
    let mut whole = 0.0;
    for (place, answers) in in_block() {
        let there = rows.iter().filter(|row| places(rows, **row).contains(place));
        let mut ns = there.map(|row| row.own.ns as f64).sum::<f64>();
        if ns == 0.0 {
            ns = answers.iter().sum::<u64>() as f64 * 1e6;
        }
        let parts = of_place(*answers);
        sums = [0, 1].map(|at| sums[at] + parts[at] * ns);
        whole += ns;
    }
    sums.map(|sum| sum / whole)
}

/// Where each sample belongs, without any of the code that is tested: up its rows to a method with counts.
fn by_hand(
    frames: &[CpuFrame],
    rows: &[CpuRow],
    counts: [u64; 2],
    answers: &[(u16, [u64; 3])],
) -> BTreeMap<String, f64> {
    let mut all: BTreeMap<String, f64> = BTreeMap::new();
    for row in rows {
        let mut at = *row;
        let nearest = loop {
            match (&*frames[at.frame as usize].name, at.parent) {
                (name @ ("lookup" | "spin"), _) => break Some((name, at.bci)),
                (_, Some(parent)) => at = rows[parent as usize],
                (_, None) => break None,
            }
        };
        let shared;
        let parts: &[(&str, f64)] = match nearest {
            None => &[("none", 1.0)],
            Some(("lookup", Some(bci @ (0..=3 | 12..=15)))) => {
                let [hits, misses] = parts_by_hand(rows, counts, answers, bci);
                shared = [("hit", hits), ("miss", misses)];
                &shared
            }
            Some(("lookup", Some(4..=7))) => &[("hit", 1.0)],
            Some(("lookup", Some(8..=11))) => &[("miss", 1.0)],
            Some(("spin", Some(0..=11))) => &[("only", 1.0)],
            Some(_) => &[("unknown", 1.0)],
        };
        for (way, part) in parts {
            *all.entry((*way).to_owned()).or_default() += row.own.ns as f64 * part;
        }
    }
    all.retain(|_, ns| *ns > 0.0);
    all
}

#[test]
fn any_tree_is_divided_as_by_hand() {
    let mut random = Random(11);
    for _ in 0..300 {
        let counts = [random.below(1_000) + 1, random.below(1_000) + 1];
        let bcis = [None, Some(1), Some(2), Some(4), Some(10), Some(13), Some(900)];
        let mut rows: Vec<CpuRow> = (0..1 + random.below(40))
            .map(|at| {
                let parent = random.below(at + 1).checked_sub(1).map(|parent| parent as u32);
                let (frame, bci) = (random.below(3) as u32, bcis[random.below(7) as usize]);
                row(parent, frame, bci, time(random.below(50)))
            })
            .collect();
        // Of fewer nothing would be known.
        rows.push(row(None, 1, None, time(ENOUGH_SAMPLES)));
        let cpu = samples(shop_frames(), &rows);
        let total = cpu.total().ns;
        let profile = Profile {
            cpu: Some(cpu),
            ..shop(counts, [0; 4], 0, 0)
        };
        let mut answers = Vec::new();
        for bci in [1, 2, 13] {
            let waited = [0; 3].map(|_| random.below(3) * random.below(20));
            if random.below(3) > 0 && waited != [0; 3] {
                answers.push((bci, waited));
            }
        }
        let profile = with_answers(profile, &answers);
        let expected = by_hand(&shop_frames(), &rows, counts, &answers);
        for stacks in [StackKind::Calls, StackKind::Paths] {
            let lines = brief(collapsed(&profile, &options(Some(stacks), Some(Weight::Time))).unwrap());
            assert_eq!(lines.values().sum::<u64>(), total, "nothing is lost: {lines:#?}");
            // The innermost path is whose the time is; one above it would be that of a method further out.
            let mut found: BTreeMap<String, f64> = BTreeMap::new();
            for (stack, ns) in &lines {
                let way = stack.rsplit(';').find_map(|frame| match frame {
                    "hit" | "miss" | "only" => Some(frame),
                    _ if frame.ends_with("[path not known]") => Some("unknown"),
                    _ => None,
                });
                *found.entry(way.unwrap_or("none").to_owned()).or_default() += *ns as f64;
                // One path in a stack at most: that of the innermost method.
                let paths = stack
                    .split(';')
                    .filter(|frame| ["hit", "miss", "only"].contains(frame));
                assert!(paths.count() <= 1, "{stack}");
            }
            assert_eq!(
                found.keys().collect::<Vec<_>>(),
                expected.keys().collect::<Vec<_>>(),
                "{lines:#?}"
            );
            for (way, ns) in &found {
                assert!(
                    (ns - expected[way]).abs() <= 40.0,
                    "{way}: {ns}, not {}",
                    expected[way]
                );
            }
        }
    }
}

#[test]
fn many_paths_are_not_all_shown() {
    // 30 paths; the 20 with most time are told apart, the others together.
    let mut profile = common::large_methods(1);
    let name = profile.classes[0].map.methods[0].name.clone();
    let frames = vec![common::cpu::frame(
        "demo/Large",
        &name,
        "()V",
        trodden_profile::CpuFrameKind::Java,
    )];
    profile.cpu = Some(samples(frames, &[row(None, 0, Some(1), time(1_000_000))]));
    let lines = collapsed(&profile, &options(None, None)).unwrap();
    assert_eq!(lines.len(), 21, "{lines:#?}");
    assert_eq!(lines.iter().map(|line| line.1).sum::<u64>(), 1_000_000_000_000);
    assert!(
        lines.iter().any(|line| line.0.ends_with("[10 other paths]")),
        "{lines:#?}"
    );
}
