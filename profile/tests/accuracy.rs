//! Edge profiles and accuracy metrics, by hand and against slow obvious versions.

use std::collections::BTreeMap;

use crate::common::*;
use proptest::prelude::*;
use trodden_numbering::{EdgeWeights, FlowGraph, PathEnd, SimpleGraph};
use trodden_profile::{
    Accuracy, AccuracyOptions, EdgeLabel, EdgeProfile, EndKind, MethodCounts, Profile, compare, flow,
};

fn one(counts: &[(u64, u64)]) -> Profile {
    profile(vec![class("A", 1, vec![(two_ifs("m", None), paths(counts))])])
}

fn accuracy(exact: &Profile, estimate: &Profile) -> Accuracy {
    compare(exact, estimate, &AccuracyOptions::default())
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}

/// Paths of [`two_ifs`], by what they do, so that no test depends on which number means what.
fn number(first: bool, second: bool) -> u64 {
    let map = two_ifs("m", None);
    let label = |taken| {
        if taken {
            EdgeLabel::Taken
        } else {
            EdgeLabel::NotTaken
        }
    };
    let wanted = [label(first), label(second)];
    let steps = |n| {
        let path = map.dag.regenerate(&map.graph, n).unwrap();
        map.steps(&path.edges).map(|s| s.label).collect::<Vec<_>>()
    };
    (0..4).find(|&n| steps(n) == wanted).unwrap()
}

#[test]
fn branch_table_by_hand() {
    let map = two_ifs("m", None);
    let counts = [
        (number(true, true), 5),
        (number(true, false), 3),
        (number(false, true), 2),
        (99, 4),
    ];
    let edges = EdgeProfile::of(&map, &paths(&counts));
    assert_eq!(edges.unknown, 4);
    assert_eq!(edges.blocks, [10, 8, 2, 10, 7, 3, 10]);
    let table = edges.branches(&map);
    let rows: Vec<_> = table
        .iter()
        .map(|b| (b.at.bci, b.taken(), b.not_taken(), b.total()))
        .collect();
    assert_eq!(rows, [(7, Some(8), Some(2), 10), (37, Some(7), Some(3), 10)]);
    assert_eq!(table[0].at.line, Some(100));
    assert_eq!(flow(&map, number(true, true), 5), 10);
    assert_eq!(flow(&map, 99, 5), 0);
    assert_eq!(flow(&map, 0, u64::MAX), u64::MAX, "saturates");
}

#[test]
fn identical_profiles_agree_fully() {
    let exact = one(&[(0, 50), (1, 30), (2, 20)]);
    let same = accuracy(&exact, &exact);
    near(same.path_accuracy, 1.0);
    near(same.edge_relative_overlap, 1.0);
    near(same.edge_absolute_overlap, 1.0);
    assert_eq!((same.hot_paths, same.hot_flow, same.exact_flow), (3, 200, 200));
    assert_eq!(
        (same.unknown, same.unmatched_methods, same.unobserved_paths),
        (0, 0, 0)
    );
    assert_eq!(same.methods.len(), 1);
    assert!(same.methods[0].difference() == 0.0);
}

/// Exact: TT 600, TN 300, NT 100 (all hot at 20 %: flow share 0.6, 0.3; NT is not).
/// Estimate: TT 5, NT 4, TN 1: its two hottest are TT and NT, of which only TT is hot: 1200 of 1800.
#[test]
fn wall_weight_matching_and_overlaps_by_hand() {
    let (tt, tn, nt) = (number(true, true), number(true, false), number(false, true));
    let exact = one(&[(tt, 600), (tn, 300), (nt, 100)]);
    let estimate = one(&[(tt, 5), (nt, 4), (tn, 1)]);
    let options = AccuracyOptions {
        hot_threshold: 0.2,
        ..AccuracyOptions::default()
    };
    let found = compare(&exact, &estimate, &options);
    assert_eq!((found.hot_paths, found.hot_flow), (2, 1800));
    near(found.path_accuracy, 1200.0 / 1800.0);
    // First branch: taken 0.9 against 0.6; second: 0.7 against 0.9. Both are executed 1000 times.
    near(found.edge_relative_overlap, (0.7 + 0.8) / 2.0);
    // Edge shares of 2000: 900 100 700 300; of 20: 6 4 9 1.
    near(found.edge_absolute_overlap, 0.30 + 0.05 + 0.35 + 0.05);
}

/// 0.125 % of a flow of 1600 is 2, and "above" excludes it.
#[test]
fn hot_means_above_the_threshold() {
    let exact = one(&[(0, 797), (1, 1), (2, 2)]);
    assert_eq!(accuracy(&exact, &exact).exact_flow, 1600);
    assert_eq!(accuracy(&exact, &exact).hot_paths, 2);
}

#[test]
fn nothing_to_predict_and_nothing_predicted() {
    let (empty, full) = (one(&[]), one(&[(0, 10)]));
    let none = accuracy(&empty, &full);
    assert_eq!(
        (
            none.path_accuracy,
            none.edge_relative_overlap,
            none.edge_absolute_overlap
        ),
        (None, None, None)
    );
    let missed = accuracy(&full, &empty);
    near(missed.path_accuracy, 0.0);
    near(missed.edge_relative_overlap, 0.0);
    near(missed.edge_absolute_overlap, 0.0);
    near(Some(missed.unseen_branch_share), 1.0);
    assert!(missed.methods[0].difference() == 1.0);
}

#[test]
fn unobserved_paths_are_set_apart_and_reported() {
    let exact = one(&[(0, 75), (1, 20), (2, 5)]);
    let mut map = two_ifs("m", None);
    map.unobserved = vec![0];
    let estimate = profile(vec![class("A", 1, vec![(map, paths(&[(1, 4), (2, 1)]))])]);
    let found = accuracy(&exact, &estimate);
    assert_eq!(
        (found.unobserved_paths, found.unobserved_flow, found.exact_flow),
        (1, 150, 50)
    );
    near(Some(found.unobserved_share), 0.75);
    near(found.path_accuracy, 1.0);
    // Both branches lie on the path that the estimate's probes do not report.
    near(found.edge_relative_overlap, 0.0);
    near(Some(found.unknown_branch_share), 1.0);
    // And where the truth does not know them, there is nothing to compare with.
    let turned = accuracy(&estimate, &exact);
    near(turned.path_accuracy, 1.0);
    assert_eq!(turned.edge_relative_overlap, None);
}

/// `if (a) { while (b) { } }`: the loop has a single path, so its iterations are not counted. It is left 10 times after 990
/// iterations: taken in 99 % of all cases, of which the counts show none.
#[test]
fn branches_of_loops_that_are_not_counted_are_misses() {
    let graph = SimpleGraph::new(5, &[(0, 1), (0, 4), (1, 2), (1, 3), (2, 1), (3, 4)]);
    let map = method_over("m", graph.clone(), &EdgeWeights::uniform(&graph), 1000).unwrap();
    let numbered = |from: usize, to_header: bool| {
        (0..map.num_paths())
            .find(|&n| {
                let path = map.dag.regenerate(&map.graph, n).unwrap();
                path.first.index() == from
                    && matches!(path.end, PathEnd::At(..)) == to_header
                    && !path.edges.is_empty()
            })
            .unwrap()
    };
    // Into the loop's header, once around, and out.
    let (into, around, out) = (numbered(0, true), numbered(1, true), numbered(1, false));
    let exact = profile(vec![class(
        "A",
        1,
        vec![(map.clone(), paths(&[(into, 10), (around, 990), (out, 10)]))],
    )]);
    let mut probed = map.clone();
    probed.unobserved = vec![around];
    let estimate = profile(vec![class(
        "A",
        1,
        vec![(probed, paths(&[(into, 10), (out, 10)]))],
    )]);
    let found = accuracy(&exact, &estimate);
    // The first branch is right, 10 times; the loop's is not known, 1000 times.
    near(found.edge_relative_overlap, 10.0 / 1010.0);
    near(Some(found.unknown_branch_share), 1000.0 / 1010.0);
    near(Some(found.unseen_branch_share), 0.0);
    let absolute = found.edge_absolute_overlap.unwrap();
    assert!(absolute < 0.05, "{absolute}");
    // It does not know better than it does itself.
    near(accuracy(&estimate, &estimate).edge_relative_overlap, 1.0);
}

#[test]
fn another_numbering_of_the_same_paths_makes_no_difference() {
    let plain = two_ifs("m", None);
    let smart = two_ifs("m", Some([[1.0, 9.0], [1.0, 9.0]]));
    let same_path = |n| (0..4).find(|&s| smart.describe(s) == plain.describe(n)).unwrap();
    let counts = [(0, 70u64), (1, 20), (3, 10)];
    let renumbered: Vec<(u64, u64)> = counts.iter().map(|&(n, c)| (same_path(n), c)).collect();
    assert_ne!(renumbered, counts);
    let exact = one(&counts);
    let estimate = profile(vec![class("A", 1, vec![(smart.clone(), paths(&renumbered))])]);
    let found = accuracy(&exact, &estimate);
    near(found.path_accuracy, 1.0);
    near(found.edge_relative_overlap, 1.0);
    near(found.edge_absolute_overlap, 1.0);
    assert_eq!(found.unmatched_methods, 0);
}

#[test]
fn unknown_numbers_and_unmatched_classes_are_counted_not_fatal() {
    let exact = one(&[(0, 10), (77, 3)]);
    let other = class(
        "A",
        2,
        vec![(two_ifs("m", None), paths(&[(0, 1000), (u64::MAX, 2)]))],
    );
    let estimate = profile(vec![other]);
    let found = accuracy(&exact, &estimate);
    assert_eq!(found.unknown, 5);
    assert_eq!(found.unmatched_methods, 1);
    near(found.path_accuracy, 0.0);
    assert_eq!(found.methods.len(), 2);
}

/// Wall's scheme written down as in the paper, over a single method.
fn slow_path_accuracy(profile: &Profile, estimate: &Profile, threshold: f64) -> Option<f64> {
    let map = &profile.classes[0].map.methods[0];
    let flows = |p: &Profile| -> BTreeMap<u64, u64> {
        let counts = &p.classes[0].counts[0].paths;
        counts
            .iter()
            .map(|(&n, &c)| (n, map.describe(n).unwrap().branches * c))
            .collect()
    };
    let (actual, guessed) = (flows(profile), flows(estimate));
    let total: u64 = actual.values().sum();
    let hot: Vec<u64> = actual
        .iter()
        .filter(|(_, f)| **f as f64 > threshold * total as f64)
        .map(|(n, _)| *n)
        .collect();
    let mut ranked: Vec<u64> = guessed.keys().copied().filter(|n| guessed[n] > 0).collect();
    ranked.sort_by(|a, b| guessed[b].cmp(&guessed[a]).then(a.cmp(b)));
    ranked.truncate(hot.len());
    let sum = |set: &[u64]| set.iter().map(|n| actual[n]).sum::<u64>();
    let both: Vec<u64> = hot.iter().copied().filter(|n| ranked.contains(n)).collect();
    (sum(&hot) > 0).then(|| sum(&both) as f64 / sum(&hot) as f64)
}

/// Counts a method's edges by walking the description of every path, once per time it was run.
fn slow_blocks(map: &trodden_profile::MethodMap, counts: &MethodCounts) -> Vec<u64> {
    let mut blocks = vec![0; map.graph.num_blocks()];
    for (&number, &times) in &counts.paths {
        for _ in 0..times {
            for block in map.describe(number).unwrap().blocks {
                blocks[block.index()] += 1;
            }
        }
    }
    blocks
}

fn method_and_two_counts() -> impl Strategy<Value = (Profile, Profile)> {
    any_method("m").prop_flat_map(|map| {
        (any_counts(&map), any_counts(&map)).prop_map(move |(mut a, mut b)| {
            (a.partial, b.partial) = Default::default();
            let with = |counts| profile(vec![class("A", 1, vec![(map.clone(), counts)])]);
            (with(a), with(b))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn path_accuracy_is_the_papers((exact, estimate) in method_and_two_counts(), threshold in 0.0..0.5f64) {
        let options = AccuracyOptions { hot_threshold: threshold, ..AccuracyOptions::default() };
        let found = compare(&exact, &estimate, &options);
        prop_assert_eq!(found.path_accuracy, slow_path_accuracy(&exact, &estimate, threshold));
        let parts = [found.path_accuracy, found.edge_relative_overlap, found.edge_absolute_overlap];
        for value in parts.into_iter().flatten() {
            prop_assert!((0.0..=1.0 + 1e-9).contains(&value));
        }
    }

    #[test]
    fn edge_profile_is_what_the_paths_do((exact, _) in method_and_two_counts()) {
        let (map, counts) = (&exact.classes[0].map.methods[0], &exact.classes[0].counts[0]);
        let edges = EdgeProfile::of(map, counts);
        prop_assert_eq!(&edges.blocks, &slow_blocks(map, counts));
        // Flow out of a block is its count, unless it leaves the method.
        for (block, out) in edges.edges.iter().enumerate().filter(|(_, out)| !out.is_empty()) {
            prop_assert_eq!(out.iter().sum::<u64>(), edges.blocks[block]);
        }
    }

    #[test]
    fn a_profile_predicts_itself(p in any_profile()) {
        let found = compare(&p, &p, &AccuracyOptions::default());
        prop_assert!(found.path_accuracy.is_none_or(|a| (a - 1.0).abs() < 1e-9));
        prop_assert!(found.edge_relative_overlap.is_none_or(|a| (a - 1.0).abs() < 1e-9));
        prop_assert!(found.edge_absolute_overlap.is_none_or(|a| (a - 1.0).abs() < 1e-9));
    }
}

#[test]
fn ends_are_told_apart() {
    assert_eq!(two_ifs("m", None).describe(0).unwrap().end_kind, EndKind::Return);
}
