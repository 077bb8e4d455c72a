//! Coverage of a change: outcomes by exhaustion, files, formats.
#![allow(missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::common::{self, Method};
use serde_json::Value;
use trodden_insight::coverage::{
    ChangeCoverage, ChangedLines, Coverage, CoverageOptions, KnownClass, Missed, MissedOutcome, Untaken,
};
use trodden_numbering::FlowGraph;
use trodden_profile::BlockExit::{Branch, FallThrough, Goto, Return, Switch};
use trodden_profile::{
    ClassMap, ClassProfile, Condition, ConditionKind, MethodConditions, MethodCounts, Outcome, Profile,
};
use trodden_report::coverage::change as formats;

const FILE: &str = "app/src/main/java/demo/Shop.java";

/// A choice and a `switch` in a loop; lines from `top` on.
fn nested(top: u32) -> Method {
    let at = |line: u32| [top + line];
    Method::new("nested", "()V")
        .cases(&[(&[1], false), (&[2, 3], false), (&[], true)])
        .block(&at(0), FallThrough, &[1])
        .block(&at(1), Branch, &[7, 2])
        .block(&at(2), Switch, &[3, 4, 6])
        .block(&at(3), Goto, &[6])
        .block(&at(4), Branch, &[6, 5])
        .block(&at(5), Goto, &[6])
        .block(&at(6), Goto, &[1])
        .block(&at(7), Return, &[])
}

fn profile_of(name: &str, file: &str, methods: Vec<Method>) -> Profile {
    Profile {
        run: common::run(true),
        classes: vec![common::class(name, Some(file), methods)],
        ..Profile::default()
    }
}

fn coverage(profile: &Profile) -> Coverage {
    Coverage::new(profile, None, |_, _, _| true, &CoverageOptions::default()).unwrap()
}

fn lines(file: &str, lines: impl IntoIterator<Item = u32>) -> ChangedLines {
    ChangedLines {
        files: [(file.to_owned(), lines.into_iter().collect())].into(),
    }
}

fn outcome<'u>(untaken: &'u Untaken) -> Option<&'u MissedOutcome> {
    match &untaken.what {
        Missed::Outcome(missed) => Some(missed),
        Missed::Method { .. } => None,
    }
}

/// Every set of covered paths, and every set of changed lines of decisions: each edge of a decision on a
/// changed line that is on no covered path is there once, and nothing else; its path is the most frequent of
/// those through the decision.
#[test]
fn each_untaken_outcome_once_with_the_nearest_path() {
    let method = nested(1);
    let map = method.map();
    let paths = map.num_paths();
    assert!(paths <= 16, "{paths}");
    let described: Vec<_> = (0..paths)
        .map(|number| map.dag.regenerate(&map.graph, number).unwrap())
        .collect();
    let blocks: Vec<BTreeSet<usize>> = described
        .iter()
        .map(|path| {
            path.blocks(&map.graph)
                .iter()
                .map(|block| block.index())
                .collect()
        })
        .collect();
    for covered in 1..1u64 << paths {
        let ran: Vec<u64> = (0..paths).filter(|n| covered >> n & 1 == 1).collect();
        let counts = MethodCounts {
            paths: ran.iter().map(|&n| (n, 1 + n * 5 % 7)).collect(),
            partial: BTreeMap::new(),
        };
        let mut one = nested(1);
        one.counts = counts.clone();
        let profile = profile_of("demo/Shop", "Shop.java", vec![one]);
        let coverage = coverage(&profile);
        for changed in 0..8u32 {
            // The decisions are on lines 2, 3 and 5, and blocks 1, 2 and 4.
            let decisions = [(2, 1), (3, 2), (5, 4)];
            let chosen = (0..3).filter(|at| changed >> at & 1 == 1).map(|at| decisions[at]);
            let chosen: Vec<(u32, usize)> = chosen.collect();
            let mut expected = Vec::new();
            for &(line, block) in &chosen {
                for index in 0..map.graph.successors(trodden_numbering::BlockId::new(block)).len() {
                    let taken = ran.iter().any(|&n| {
                        let mut edges = described[n as usize].edges.iter();
                        edges.any(|edge| edge.from.index() == block && edge.index as usize == index)
                    });
                    if !taken {
                        expected.push((line, block, index));
                    }
                }
            }
            let change = lines(FILE, chosen.iter().map(|&(line, _)| line));
            let found = ChangeCoverage::new(&coverage, &change);
            let mut got = Vec::new();
            for untaken in &found.untaken {
                assert_eq!(untaken.file, FILE);
                let missed = outcome(untaken).unwrap();
                let edge = missed.outcome.edges[0];
                got.push((untaken.line, edge.from.index(), edge.index as usize));
                let through = ran
                    .iter()
                    .filter(|&&n| blocks[n as usize].contains(&edge.from.index()));
                let most = through.map(|n| counts.paths[n]).max();
                let nearest = missed.nearest.as_ref().unwrap();
                assert_eq!(nearest.reaches, most.is_some());
                assert_eq!(missed.is_decided(), most.is_some());
                if let Some(most) = most {
                    assert_eq!(nearest.ran.times, most);
                    assert!(blocks[nearest.ran.number as usize].contains(&edge.from.index()));
                }
                assert_eq!(counts.paths[&nearest.ran.number], nearest.ran.times);
            }
            assert_eq!(got, expected, "{covered:b} {changed:b}");
        }
    }
}

/// A condition that is known, in a method of its own.
fn asks(name: &str, line: u32, counts: [u64; 2]) -> Method {
    let mut method = Method::new(name, "(I)V")
        .block(&[line], Branch, &[2, 1])
        .block(&[line + 1], Return, &[])
        .block(&[line + 2], Return, &[]);
    for (blocks, count) in [([0, 1], counts[0]), ([0, 2], counts[1])] {
        if count > 0 {
            method = method.count(&blocks, count);
        }
    }
    method
}

fn with_conditions(mut profile: Profile, text: &str) -> Profile {
    let places = profile.classes.iter().zip(0u32..).flat_map(|(class, at)| {
        let methods = 0..class.map.methods.len() as u32;
        methods.map(move |method| (at, method))
    });
    let conditions = || MethodConditions {
        conditions: vec![Condition {
            block: 0,
            kind: ConditionKind::If,
            text: Some(text.into()),
            outcomes: vec![Outcome::No, Outcome::Yes],
            made: None,
        }],
        ..MethodConditions::default()
    };
    let all: Vec<_> = places.map(|place| (place, conditions())).collect();
    profile.conditions = all.into_iter().collect();
    profile
}

/// A program with a decision of which one outcome is missing, and a method that never ran.
fn example(top: u32) -> Profile {
    let methods = vec![
        asks("price", top, [0, 1_200]),
        asks("refund", top + 5, [0, 0]),
        asks("both", top + 10, [3, 4]),
    ];
    with_conditions(
        profile_of("demo/Shop", "Shop.java", methods),
        "age < 12 && \"a,b: 5%\" != x",
    )
}

#[test]
fn formats() {
    let profile = example(3);
    let coverage = coverage(&profile);
    let mut change = lines(FILE, 1..30);
    change.files.insert("src/Other.java".to_owned(), [4].into());
    change.files.insert("README.md".to_owned(), [4].into());
    let change = ChangeCoverage::new(&coverage, &change);
    assert_eq!(change.unknown, ["src/Other.java"]);
    insta::assert_snapshot!("change_text", formats::text(&coverage, &change, false));
    insta::assert_snapshot!("change_github", formats::github(&change));
    insta::assert_snapshot!("change_markdown", formats::markdown(&coverage, &change));
    insta::assert_snapshot!(
        "change_sarif",
        formats::sarif(&change)
            .unwrap()
            .replace(env!("CARGO_PKG_VERSION"), "VERSION")
    );
    // Nothing is missing on these lines.
    let change = ChangeCoverage::new(&coverage, &lines(FILE, 13..30));
    assert!(change.untaken.is_empty() && formats::github(&change).is_empty());
    assert!(
        formats::text(&coverage, &change, false).contains("Every outcome on the changed lines was taken.")
    );
    let change = ChangeCoverage::new(&coverage, &ChangedLines::default());
    assert!(formats::text(&coverage, &change, false).contains("no line with code"));
}

fn fingerprints(profile: &Profile, from: u32) -> Vec<String> {
    let coverage = coverage(profile);
    let change = ChangeCoverage::new(&coverage, &lines(FILE, from..from + 100));
    let sarif: Value = serde_json::from_str(&formats::sarif(&change).unwrap()).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let fingerprint = |result: &Value| {
        let all = &result["partialFingerprints"];
        assert_eq!(all["primaryLocationLineHash"], all["trodden/v1"]);
        all["trodden/v1"].as_str().unwrap().to_owned()
    };
    results.iter().map(fingerprint).collect()
}

#[test]
fn fingerprints_do_not_change_with_lines_above() {
    let first = fingerprints(&example(3), 3);
    assert_eq!(first.len(), 2);
    assert_eq!(fingerprints(&example(203), 203), first);
    // The same condition again in a method, and a lambda with another number.
    let twice = |top: u32, lambda: &str| {
        let method = Method::new(lambda, "()V")
            .block(&[top], Branch, &[1, 1])
            .block(&[top + 1], Branch, &[2, 2])
            .block(&[top + 2], Return, &[]);
        let mut profile = with_conditions(profile_of("demo/Shop", "Shop.java", vec![method]), "x");
        let conditions = profile.conditions.get_mut(&(0, 0)).unwrap();
        let mut second = conditions.conditions[0].clone();
        second.block = 1;
        conditions.conditions.push(second);
        profile.classes[0].counts[0].paths.insert(0, 1);
        profile
    };
    let first = fingerprints(&twice(5, "lambda$a$0"), 5);
    let distinct: BTreeSet<&String> = first.iter().collect();
    assert_eq!((first.len(), distinct.len()), (2, 2));
    assert_eq!(fingerprints(&twice(105, "lambda$a$7"), 105), first);
    assert_ne!(fingerprints(&twice(5, "lambda$b$0"), 5), first);
}

#[test]
fn lambdas_that_never_ran_have_a_fingerprint_each() {
    let lambdas = |top: u32, numbers: [u32; 3]| {
        let lambda = |number: u32| {
            Method::new(&format!("lambda$a${number}"), "()V").block(&[top + number], Return, &[])
        };
        profile_of("demo/Shop", "Shop.java", numbers.map(lambda).into())
    };
    let first = fingerprints(&lambdas(5, [2, 1, 0]), 5);
    let distinct: BTreeSet<&String> = first.iter().collect();
    assert_eq!((first.len(), distinct.len()), (3, 3));
    assert_eq!(fingerprints(&lambdas(105, [9, 8, 7]), 105), first);
}

#[test]
fn field_initialisers_are_one_in_all_constructors() {
    let constructor = |descriptor: &str, line: u32, counts: [u64; 2]| {
        let mut method = Method::new("<init>", descriptor)
            .block(&[line, 4], Branch, &[2, 1])
            .block(&[4], FallThrough, &[3])
            .block(&[4], FallThrough, &[3])
            .block(&[line], Return, &[]);
        for (blocks, count) in [([0, 1, 3], counts[0]), ([0, 2, 3], counts[1])] {
            if count > 0 {
                method = method.count(&blocks, count);
            }
        }
        method
    };
    let untaken = |one: [u64; 2], other: [u64; 2]| -> Vec<(u32, bool)> {
        let methods = vec![constructor("()V", 10, one), constructor("(I)V", 20, other)];
        let profile = with_conditions(profile_of("demo/Shop", "Shop.java", methods), "x");
        let coverage = coverage(&profile);
        let found = ChangeCoverage::new(&coverage, &lines(FILE, [4]));
        found
            .untaken
            .iter()
            .map(|one| (one.line, outcome(one).is_some()))
            .collect()
    };
    assert_eq!(untaken([1, 0], [0, 1]), []);
    assert_eq!(untaken([1, 0], [1, 0]), [(4, true)]);
    // One never ran; its initialisers did.
    assert_eq!(untaken([1, 0], [0, 0]), [(4, true)]);
    assert_eq!(untaken([0, 0], [0, 0]), [(4, false), (4, false)]);
}

/// A constructor that is not written has the line of its class, and so has what makes `assert` work.
#[test]
fn an_initialiser_is_no_constructor() {
    let method = |name: &str| Method::new(name, "()V").block(&[3], Return, &[]);
    let methods = vec![method("<clinit>").count(&[0], 1), method("<init>")];
    let coverage = coverage(&profile_of("demo/Shop", "Shop.java", methods));
    let found = ChangeCoverage::new(&coverage, &lines(FILE, [3]));
    let idle: Vec<&str> = found
        .untaken
        .iter()
        .map(|one| one.method.map().name.as_str())
        .collect();
    assert_eq!(idle, ["<init>"]);
}

#[test]
fn several_versions_of_a_class_are_one() {
    let mut profile = profile_of("demo/Shop", "Shop.java", vec![asks("price", 3, [1, 0])]);
    let mut other = profile_of("demo/Shop", "Shop.java", vec![asks("price", 3, [0, 0])]);
    let map: &mut ClassMap = Arc::make_mut(&mut other.classes[0].map);
    map.sha256 = [9; 32];
    let other: ClassProfile = other.classes.remove(0);
    profile.classes.push(other);
    let profile = with_conditions(profile, "x");
    let coverage = coverage(&profile);
    let found = ChangeCoverage::new(&coverage, &lines(FILE, 1..9));
    assert_eq!(found.untaken.len(), 1);
    assert!(
        found
            .untaken
            .iter()
            .all(|one| outcome(one).is_some_and(|missed| missed.nearest.is_some()))
    );
}

#[test]
fn a_class_is_of_the_file_of_its_package_and_name() {
    let found = |class: &str, source: &str, files: &[&str]| -> Vec<String> {
        let profile = profile_of(class, source, vec![asks("price", 3, [1, 0])]);
        let coverage = coverage(&profile);
        let change = ChangedLines {
            files: files
                .iter()
                .map(|file| ((*file).to_owned(), [3].into()))
                .collect(),
        };
        let found = ChangeCoverage::new(&coverage, &change);
        found.untaken.into_iter().map(|one| one.file).collect()
    };
    let java = "src/main/java/demo/Shop.java";
    assert_eq!(
        found("demo/Shop", "Shop.java", &[java, "src/main/java/other/Shop.java"]),
        [java]
    );
    assert_eq!(found("demo/Shop$Inner", "Shop.java", &[java]), [java]);
    let none: [&str; 0] = [];
    assert_eq!(
        found("demo/Shop", "Shop.java", &["src/mydemo/Shop.java", "Shop.java"]),
        none
    );
    assert_eq!(found("Shop", "Shop.java", &["Shop.java"]), ["Shop.java"]);
    // Two modules: each outcome is in one of them.
    assert_eq!(
        found(
            "demo/Shop",
            "Shop.java",
            &["a/demo/Shop.java", "b/demo/Shop.java"]
        ),
        ["a/demo/Shop.java"]
    );
    // Kotlin's folders may leave the common package out.
    let kotlin = ["src/shop/Shop.kt", "src/other/Shop.kt"];
    assert_eq!(found("com/acme/shop/ShopKt", "Shop.kt", &kotlin), [kotlin[0]]);
}

/// Of an interface nothing can run, so nothing is missing.
#[test]
fn files_without_code_are_known() {
    let map = |name: &str, file: &str| common::class(name, Some(file), Vec::new()).map;
    let known = KnownClass {
        map: map("demo/Api", "Api.java"),
        methods: Vec::new(),
        conditions: Vec::new(),
        release: None,
    };
    let profile = profile_of("demo/Shop", "Shop.java", vec![nested(10)]);
    let options = CoverageOptions::default();
    let coverage = Coverage::new(&profile, Some(&[known]), |_, _, _| true, &options).unwrap();
    let mut change = lines("src/main/java/demo/Api.java", [3]);
    change
        .files
        .insert("src/main/java/demo/Other.java".to_owned(), [3].into());
    let change = ChangeCoverage::new(&coverage, &change);
    assert_eq!(change.unknown, ["src/main/java/demo/Other.java"]);
    assert!(change.untaken.is_empty());
}
