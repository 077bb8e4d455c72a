//! Coverage of made-up methods: neighbours by exhaustion, sums, formats.
#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::{self, Method};
use trodden_insight::coverage::{
    Coverage, CoverageError, CoverageOptions, KnownClass, Ratio, nearest, never_together,
};
use trodden_numbering::FlowGraph;
use trodden_profile::BlockExit::{Branch, FallThrough, Goto, Return};
use trodden_profile::{ClassProfile, Covered, MethodCounts, MethodCovered, MethodMap, Profile};
use trodden_report::coverage::{self, CoverageWriteError};

/// Three choices in a row: eight paths.
fn choices() -> Method {
    Method::new("choices", "()V")
        .block(&[1], Branch, &[2, 1])
        .block(&[2], FallThrough, &[2])
        .block(&[3], Branch, &[4, 3])
        .block(&[4], FallThrough, &[4])
        .block(&[5], Branch, &[6, 5])
        .block(&[6], FallThrough, &[6])
        .block(&[7], Return, &[])
}

/// A choice inside a choice inside a loop.
fn nested() -> Method {
    Method::new("nested", "()V")
        .block(&[1], FallThrough, &[1])
        .block(&[2], Branch, &[7, 2])
        .block(&[3], Branch, &[5, 3])
        .block(&[4], Branch, &[6, 4])
        .block(&[5], Goto, &[6])
        .block(&[6], FallThrough, &[6])
        .block(&[7], Goto, &[1])
        .block(&[8], Return, &[])
}

fn profile_of(map: MethodMap, counts: MethodCounts) -> Profile {
    let mut profile = common::profile();
    let mut class = ClassProfile {
        map: profile.classes[0].map.clone(),
        counts: vec![counts],
    };
    let map_of_class = Arc::make_mut(&mut class.map);
    map_of_class.methods = vec![map];
    profile.classes = vec![class];
    profile.skipped.clear();
    profile
}

fn coverage(profile: &Profile, cap: u64) -> Coverage {
    let options = CoverageOptions {
        cap,
        ..CoverageOptions::default()
    };
    Coverage::new(profile, None, |_, _, _| true, &options).unwrap()
}

/// Every set of covered paths: what is found is uncovered, and it and the path that ran answer differently at one branch
/// of those that both pass.
#[test]
fn the_nearest_path_is_one_decision_away() {
    for map in [choices().map(), nested().map(), common::price().map()] {
        let paths = map.num_paths();
        assert!(paths <= 12);
        for covered in 0..1u64 << paths {
            let ran = (0..paths).filter(|n| covered >> n & 1 == 1);
            let counts = MethodCounts {
                paths: ran.map(|n| (n, 1 + n % 3)).collect(),
                partial: BTreeMap::new(),
            };
            let Some(found) = nearest(&map, &counts, 1).pop() else {
                assert_eq!(counts.paths.len() as u64, paths);
                continue;
            };
            assert!(!counts.paths.contains_key(&found.number));
            assert_eq!(map.dag.regenerate(&map.graph, found.number).unwrap(), found.path);
            let start_of = |number: u64| {
                let path = map.dag.regenerate(&map.graph, number).unwrap();
                (path.start, path.first)
            };
            let Some(flip) = found.flip else {
                // Then no start has both kinds of paths.
                let mixed = (0..paths).any(|a| {
                    counts.paths.contains_key(&a)
                        && (0..paths).any(|b| !counts.paths.contains_key(&b) && start_of(a) == start_of(b))
                });
                assert!(!mixed, "{covered:b}");
                continue;
            };
            assert_eq!(counts.paths.get(&flip.of), Some(&flip.count));
            let from = map.dag.regenerate(&map.graph, flip.of).unwrap();
            assert_eq!(start_of(flip.of), start_of(found.number));
            let answers: BTreeMap<_, _> = from.edges.iter().map(|e| (e.from, e.index)).collect();
            let differ =
                |e: &&trodden_numbering::EdgeRef| answers.get(&e.from).is_some_and(|&index| index != e.index);
            let different: Vec<_> = found.path.edges.iter().filter(differ).collect();
            assert_eq!(different, [&flip.instead], "{covered:b}");
            assert!(from.edges.contains(&flip.seen) && flip.seen.from == flip.instead.from);
            assert!(map.graph.successors(flip.seen.from).len() > 1);
        }
    }
}

/// Every set of covered paths: all others are listed, each once, and a pair of outcomes is one of the path which both ran,
/// but on no path together; there is none only if each pair of the path's ran together, or one of the two never ran.
#[test]
fn all_uncovered_paths_are_listed_with_outcomes_that_never_ran_together() {
    for map in [choices().map(), nested().map(), common::price().map()] {
        let paths = map.num_paths();
        let edges: Vec<_> = (0..paths)
            .map(|number| map.dag.regenerate(&map.graph, number).unwrap().edges)
            .collect();
        let edges = |number: u64| &edges[number as usize];
        for covered in 0..1u64 << paths {
            let ran: Vec<u64> = (0..paths).filter(|n| covered >> n & 1 == 1).collect();
            let counts = MethodCounts {
                paths: ran.iter().map(|&n| (n, 1 + n % 3)).collect(),
                partial: BTreeMap::new(),
            };
            let found = nearest(&map, &counts, usize::MAX);
            let mut numbers: Vec<u64> = found.iter().map(|one| one.number).collect();
            numbers.sort_unstable();
            let missing: Vec<u64> = (0..paths).filter(|n| !ran.contains(n)).collect();
            assert_eq!(numbers, missing);
            for one in found {
                let apart = |a, b| {
                    let has = |edge| ran.iter().any(|&n| edges(n).contains(edge));
                    let both = ran.iter().any(|&n| edges(n).contains(a) && edges(n).contains(b));
                    has(a) && has(b) && !both
                };
                let own: Vec<_> = edges(one.number)
                    .iter()
                    .filter(|edge| map.graph.successors(edge.from).len() > 1)
                    .collect();
                match never_together(&map, &counts, &one.path) {
                    Some([a, b]) => assert!(own.contains(&&a) && own.contains(&&b) && apart(&a, &b)),
                    None => assert!(own.iter().all(|a| own.iter().all(|b| !apart(a, b)))),
                }
            }
        }
    }
}

#[test]
fn methods_with_very_many_paths_have_a_nearest_one_too() {
    // 2^30 paths; 5,000 of them ran.
    let mut method = Method::new("many", "()V");
    for i in 0..30 {
        let at = 2 * i;
        method = method.block(&[at as u32], Branch, &[at + 2, at + 1]);
        method = method.block(&[at as u32 + 1], FallThrough, &[at + 2]);
    }
    let map = method.block(&[99], Return, &[]).map();
    assert_eq!(map.num_paths(), 1 << 30);
    let counts = MethodCounts {
        paths: (0..5_000).map(|n| (n, 1)).collect(),
        partial: BTreeMap::new(),
    };
    let found = nearest(&map, &counts, 1).pop().unwrap();
    assert!(found.number >= 5_000 && found.flip.is_some());
    let profile = profile_of(map, counts);
    let coverage = coverage(&profile, 100);
    let paths = coverage.methods[0].paths;
    assert_eq!((paths.covered, paths.total), (5_000, 1 << 30));
    assert_eq!(
        coverage.counters().paths,
        Ratio {
            covered: 100,
            total: 100
        }
    );
}

#[test]
fn goldens() {
    let method = nested().count(&[0], 2).count(&[1, 2, 5, 6], 30).count(&[1, 7], 2);
    let profile = profile_of(method.map(), method.counts.clone());
    let coverage = coverage(&profile, 100);
    insta::assert_snapshot!("coverage_text", coverage::text(&coverage, 20, false));
    insta::assert_snapshot!("coverage_json", coverage::json(&coverage).unwrap());
    insta::assert_snapshot!("coverage_lcov", coverage::lcov(&coverage));
    assert!(matches!(
        coverage::jacoco(&coverage),
        Err(CoverageWriteError::NoInstructions)
    ));
}

#[test]
fn what_the_profile_cannot_tell_is_not_made_up() {
    let options = CoverageOptions::default();
    let of = |profile: &Profile| Coverage::new(profile, None, |_, _, _| true, &options);
    let mut sampled = common::profile();
    sampled.run.exact = false;
    assert!(matches!(of(&sampled), Err(CoverageError::Sampled)));
    assert!(matches!(of(&common::profile()), Err(CoverageError::Unobserved)));

    // A number that names no path is no coverage.
    let method = choices();
    let counts = MethodCounts {
        paths: BTreeMap::from([(99, 5)]),
        partial: BTreeMap::new(),
    };
    let coverage = coverage(&profile_of(method.map(), counts), 100);
    assert_eq!(coverage.methods[0].paths.covered, 0);
    assert!(coverage.methods[0].nearest(1).iter().all(|n| n.flip.is_none()));
}

/// Of two versions of a class in a jar the loaded one counts; of a class that was never loaded the first; one that was
/// loaded with yet other bytes is told.
#[test]
fn known_classes_and_loaded_ones() {
    let method = choices().count(&[0, 2, 4, 6], 7);
    let profile = profile_of(method.map(), method.counts.clone());
    let loaded = profile.classes[0].map.clone();
    let known = |hash: u8, name: &str| {
        let mut map = (*loaded).clone();
        map.name = name.to_owned();
        if hash != 0 {
            map.sha256 = [hash; 32];
        }
        let m = &map.methods[0];
        let methods = vec![trodden_insight::coverage::KnownMethod {
            name: m.name.clone(),
            descriptor: m.descriptor.clone(),
            synthetic: false,
            instructions: (0..m.code_length).step_by(4).collect(),
        }];
        KnownClass {
            conditions: Vec::new(),
            map: Arc::new(map),
            methods,
            release: None,
        }
    };
    let of = |known: &[KnownClass]| {
        let keep = |_: &str, _: &str, _: &str| true;
        Coverage::new(&profile, Some(known), keep, &CoverageOptions::default()).unwrap()
    };
    let name = loaded.name.as_str();
    let both = of(&[
        known(1, name),
        known(0, name),
        known(2, "not/Loaded"),
        known(3, "not/Loaded"),
    ]);
    let ran: Vec<(&str, u64)> = both
        .methods
        .iter()
        .map(|m| (m.class(), m.paths.covered))
        .collect();
    assert_eq!(ran, [(name, 1), ("not/Loaded", 0)]);
    assert!(both.other_bytes.is_empty());
    assert_eq!(both.counters().classes, Ratio { covered: 1, total: 2 });
    let xml = coverage::jacoco(&both).unwrap();
    assert!(
        xml.contains("<line nr=\"1\" mi=\"0\" ci=\"1\" mb=\"1\" cb=\"1\"/>"),
        "{xml}"
    );

    let other = of(&[known(1, name)]);
    assert_eq!(other.other_bytes, [name]);
    assert_eq!(other.methods[0].paths.covered, 1);
    assert!(matches!(
        coverage::jacoco(&other),
        Err(CoverageWriteError::OtherBytes { .. })
    ));
}

/// `profile=coverage`: blocks and ways are known, paths are not, and nothing pretends to know them.
#[test]
fn marks_say_which_outcome_was_never_taken() {
    let mut profile = profile_of(choices().map(), MethodCounts::default());
    profile.run.exact = false;
    profile.run.probe = "coverage".to_owned();
    let refused = Coverage::new(&profile, None, |_, _, _| true, &CoverageOptions::default());
    assert!(matches!(refused, Err(CoverageError::Sampled)));
    // The first two choices went one way each, the third one both.
    let bits = |text: &str| text.chars().map(|bit| bit == '1').collect();
    let marks = MethodCovered {
        blocks: bits("1110111"),
        ways: bits("011011"),
    };
    profile.coverage = Some(Covered {
        methods: [((0, 0), marks)].into(),
    });
    let coverage = coverage(&profile, 100);
    assert!(!coverage.has_paths);
    let sums = coverage.counters();
    assert_eq!(sums.branches, Ratio { covered: 4, total: 6 });
    assert_eq!(sums.paths, Ratio::default());
    assert_eq!(sums.methods, Ratio { covered: 1, total: 1 });
    let text = coverage::text(&coverage, 20, false);
    assert!(!text.contains("paths"), "{text}");
    assert_eq!(text.matches("the branch was never taken").count(), 1, "{text}");
    assert_eq!(text.matches("the branch was always taken").count(), 1, "{text}");
    let json: serde_json::Value = serde_json::from_str(&coverage::json(&coverage).unwrap()).unwrap();
    assert!(json["totals"]["paths"].is_null() && json["methods"][0]["covered_paths"].is_null());
    assert_eq!(json["methods"][0]["totals"]["branches"]["covered"], 4);
    let outcomes = |at: usize| {
        let branch = &json["methods"][0]["branches"][at];
        assert!(branch["condition"].is_null() && branch["line"].is_u64() && branch["bci"].is_u64());
        (branch["yes"].as_bool(), branch["no"].as_bool())
    };
    assert_eq!(outcomes(0), (Some(false), Some(true)));
    assert_eq!(outcomes(1), (Some(true), Some(false)));
    assert_eq!(outcomes(2), (Some(true), Some(true)));
    assert!(json["methods"][0]["nearest"].is_null());
}
