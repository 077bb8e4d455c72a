//! Callgrind's format, by a reader of its own: costs of lines, calls and jumps against the samples and the branches.

use std::collections::BTreeMap;

use serde_json::Value;
use trodden_profile::Profile;
use trodden_report::{Report, ReportOptions};

use crate::common::cpu::{row, samples, shop, shop_frames, time};
use crate::common::{self, Random};

/// A file's content, with names in place of numbers.
#[derive(Default)]
struct Read {
    summary: [u64; 2],
    /// By function and line.
    costs: BTreeMap<(String, u32), [u64; 2]>,
    /// By caller, line and callee.
    calls: BTreeMap<(String, u32, String), u64>,
    /// By function, line and target line.
    jumps: BTreeMap<(String, u32, u32), [u64; 2]>,
}

/// The name behind a number, which is learnt where it first stands.
fn name(known: &mut BTreeMap<String, String>, text: &str) -> String {
    match text.split_once(' ') {
        Some((number, name)) => {
            let before = known.insert(number.to_owned(), name.to_owned());
            assert_eq!(before, None, "{number} has two names");
            name.to_owned()
        }
        None => known[text].clone(),
    }
}

fn numbers<const N: usize>(line: &str) -> [u64; N] {
    let all: Vec<u64> = line
        .split([' ', '/'])
        .map(|number| number.parse().unwrap_or_else(|_| panic!("{line}")))
        .collect();
    all.try_into().unwrap_or_else(|_| panic!("{line}"))
}

fn read(profile: &Profile) -> Read {
    let text = Report::new(profile, &ReportOptions::default())
        .unwrap()
        .callgrind()
        .unwrap();
    let mut read = Read::default();
    let (mut files, mut functions) = (BTreeMap::new(), BTreeMap::new());
    let (mut function, mut callee) = (String::new(), String::new());
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("# callgrind format"));
    while let Some(line) = lines.next() {
        let Some((key, value)) = line.split_once(['=', ':']) else {
            if !line.is_empty() {
                let [at, ns, executions] = numbers(line);
                let before = read.costs.insert((function.clone(), at as u32), [ns, executions]);
                assert_eq!(before, None, "{line} of {function} stands twice");
            }
            continue;
        };
        match key {
            "events" => assert_eq!(value, " Ns Executions"),
            "summary" => read.summary = numbers(value.trim_start()),
            "fl" | "cfi" => drop(name(&mut files, value)),
            "fn" => function = name(&mut functions, value),
            "cfn" => callee = name(&mut functions, value),
            "calls" => {
                let [at, ns, _] = numbers(lines.next().unwrap());
                let key = (function.clone(), at as u32, callee.clone());
                *read.calls.entry(key).or_default() += ns;
            }
            "jcnd" => {
                let [times, decisions, target] = numbers(value);
                let [at] = numbers(lines.next().unwrap());
                let key = (function.clone(), at as u32, target as u32);
                assert_eq!(read.jumps.insert(key, [times, decisions]), None);
            }
            _ => assert!(
                ["version", "creator", "cmd", "positions"].contains(&key),
                "{line}"
            ),
        }
    }
    read
}

#[test]
fn lines_have_their_time_and_calls_all_below_them() {
    let mut random = Random(7);
    for _ in 0..300 {
        // Frames 0 and 1 with any callers, so recursion too.
        let mut rows = Vec::new();
        for at in 0..random.below(12) as u32 + 1 {
            let parent = (at > 0 && random.below(3) > 0).then(|| random.below(at.into()) as u32);
            let frame = random.below(2) as u32;
            let bci = (random.below(4) > 0).then(|| random.below(3) as u16 + 1);
            rows.push(row(parent, frame, bci, time(random.below(20))));
        }
        let profile = Profile {
            cpu: Some(samples(shop_frames(), &rows)),
            ..shop([9, 1], [0; 4], 0, 0)
        };
        let read = read(&profile);
        let own: u64 = rows.iter().map(|row| row.own.ns).sum();
        let lines: u64 = read.costs.values().map(|costs| costs[0]).sum();
        assert_eq!((lines, read.summary[0]), (own, own));
        // A row's time is in a call from each row above it.
        let depth = |mut at: usize| {
            let mut depth = 0;
            while let Some(parent) = rows[at].parent {
                depth += 1;
                at = parent as usize;
            }
            depth
        };
        let expected: u64 = (0..rows.len()).map(|at| rows[at].own.ns * depth(at)).sum();
        assert_eq!(read.calls.values().sum::<u64>(), expected);
    }
}

#[test]
fn jumps_are_the_outcomes_of_branches() {
    let profile = common::profile();
    let read = read(&profile);
    let json = Report::new(&profile, &ReportOptions::default())
        .unwrap()
        .json()
        .unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let mut expected = BTreeMap::<(String, u32), u64>::new();
    for method in json["methods"].as_array().unwrap() {
        for branch in method["branches"].as_array().into_iter().flatten() {
            let count = |key: &str| branch[key].as_u64();
            if let (Some(line), Some(taken), Some(not_taken)) =
                (count("line"), count("taken"), count("not_taken"))
            {
                let class = method["class"].as_str().unwrap().replace('/', ".");
                let name = format!("{class}.{}", method["name"].as_str().unwrap());
                *expected.entry((name, line as u32)).or_default() += taken + not_taken;
            }
        }
    }
    let mut found = BTreeMap::<(String, u32), u64>::new();
    for ((function, line, _), [times, decisions]) in &read.jumps {
        assert!(times <= decisions && *times > 0);
        let name = function.split('(').next().unwrap().to_owned();
        *found.entry((name, *line)).or_default() += times;
    }
    expected.retain(|_, times| *times > 0);
    assert!(!found.is_empty());
    assert_eq!(found, expected);
}
