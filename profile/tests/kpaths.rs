//! k-iteration path forests in a profile: rules, sums, files, overlap.

use crate::common::*;
use proptest::prelude::*;
use trodden_profile::{ForestProblem, KPaths, MergeError, PathForest, Profile, kpaths_overlap, merge};

/// The stream of k-BLPP's example 1.
const EXAMPLE: [u64; 14] = [6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3];

fn any_forest() -> impl Strategy<Value = Vec<Vec<u64>>> {
    prop::collection::vec(prop::collection::vec(0..5u64, 0..20), 0..6)
}

/// Four paths per method, so numbers up to 3.
fn with_forest(forest: PathForest, k: u32) -> Profile {
    Profile {
        kpaths: Some(kpaths(k, [((0, 0), forest)])),
        ..profile(vec![class("A", 1, vec![(two_ifs("m", None), paths(&[]))])])
    }
}

#[test]
fn the_papers_example() {
    let forest = grams(&[EXAMPLE.to_vec()], 4);
    let roots: Vec<_> = forest.roots().map(|(_, n)| (n.path, n.count)).collect();
    assert_eq!(roots, [(0, 6), (2, 6), (3, 1), (6, 1)], "plain Ball-Larus counts");
    assert_eq!(forest.count(&[2, 0, 0, 2]), 3, "k-BLPP, example 1");
    assert_eq!(forest.count(&[0, 0]), 3, "k-BLPP, example 2");
    assert_eq!((forest.count(&[3, 0]), forest.count(&[])), (0, 0));
    assert_eq!((forest.longest(), forest.total()), (4, 14));
    let two = forest.find(&[2]).unwrap();
    let children: Vec<_> = forest.children(two).map(|(_, n)| (n.path, n.count)).collect();
    assert_eq!(children, [(0, 3), (2, 2), (3, 1)]);
    assert_eq!(forest.children(forest.nodes().len()).count(), 0);
    assert!(forest.is_exact());
}

#[test]
fn what_is_no_forest_is_refused() {
    let refused = |rows: &[(u32, u64, u64)]| PathForest::from_preorder(rows.iter().copied()).unwrap_err();
    assert_eq!(
        refused(&[(0, 1, 1)]),
        ForestProblem::Orphan { node: 0, length: 0 }
    );
    assert_eq!(
        refused(&[(1, 1, 1), (3, 1, 1)]),
        ForestProblem::Orphan { node: 1, length: 3 }
    );
    assert_eq!(
        refused(&[(1, 2, 1), (1, 1, 1)]),
        ForestProblem::Order { node: 1, path: 1 }
    );
    assert_eq!(
        refused(&[(1, 2, 1), (1, 2, 1)]),
        ForestProblem::Order { node: 1, path: 2 }
    );
    let siblings = [(1, 0, 5), (2, 3, 2), (3, 9, 1), (2, 3, 2)];
    assert_eq!(refused(&siblings), ForestProblem::Order { node: 3, path: 3 });
    let sum = [(1, 0, 5), (2, 1, 3), (2, 2, 3), (1, 1, 9)];
    assert_eq!(refused(&sum), ForestProblem::Sum { node: 0, count: 5 });
    // Counters that no longer fit stay as high as they can.
    PathForest::from_preorder([(1, 0, u64::MAX), (2, 1, u64::MAX), (2, 2, 3)]).unwrap();
}

#[test]
fn errors_by_length() {
    let forest = grams(&[EXAMPLE.to_vec()], 4).with_missing(vec![0, 7, 0]);
    assert!(!forest.is_exact());
    assert_eq!([0, 1, 2, 3, 4].map(|n| forest.missing(n)), [0, 0, 0, 7, 0]);
    assert_eq!(forest.missing_by_length(), [0, 7]);
    let sum = forest.plus(&forest.clone().with_missing(vec![1])).unwrap();
    assert_eq!(sum.missing_by_length(), [1, 7]);
}

#[test]
fn profiles_that_cannot_be_are_not_written() {
    let forest = || grams(&[vec![0, 1, 2, 3]], 4);
    let message = |profile: Profile| profile.to_bytes().unwrap_err().to_string();
    assert!(with_forest(forest(), 4).to_bytes().is_ok());
    assert!(message(with_forest(forest(), 3)).contains("paths of a sequence: 4 is not from 0 to 3"));
    assert!(message(with_forest(forest(), 1)).contains("k: 1 is not from 2 to 1024"));
    assert!(message(with_forest(forest(), 1025)).contains("k: 1025 is not"));
    assert!(
        message(with_forest(forest().with_missing(vec![0, 0, 0, 1]), 4))
            .contains("lengths of sequences with errors: 4 is not from 0 to 3")
    );
    for key in [(0, 1), (1, 0)] {
        let mut profile = with_forest(forest(), 4);
        profile.kpaths = Some(kpaths(4, [(key, forest())]));
        assert!(message(profile).contains("there is no method"));
    }
}

#[test]
fn large_forests_take_several_records() {
    // About two million bytes: 1000 roots with 400 nodes below each.
    let rows = (0..1000u64).flat_map(|root| {
        let below = (0..400u64).map(move |path| (2, path * 1000 + root, 1 + path % 3));
        std::iter::once((1, root, 100_000)).chain(below)
    });
    let forest = PathForest::from_preorder(rows).unwrap().with_missing(vec![5]);
    let mut profile = with_forest(forest, 4);
    profile.classes[0] = class(
        "A",
        1,
        vec![(two_ifs("m", None), paths(&[])), (two_ifs("n", None), paths(&[]))],
    );
    profile
        .kpaths
        .as_mut()
        .unwrap()
        .methods
        .insert((0, 1), grams(&[vec![1, 2]], 4));
    let bytes = profile.to_bytes().unwrap();
    let sections = bytes.windows(4).filter(|w| w == b"kptr").count();
    assert!(sections >= 2, "{sections} sections");
    assert_eq!(Profile::read(&bytes).unwrap(), profile);
}

#[test]
fn different_k_do_not_add_up() {
    let (a, b) = (
        with_forest(grams(&[vec![0, 1]], 3), 3),
        with_forest(grams(&[vec![0, 1]], 5), 5),
    );
    let without = profile(vec![]);
    let error = merge([&without, &a, &a, &b]).unwrap_err();
    let expected = MergeError::Unlike {
        what: "k of the k-iteration path forest",
        inputs: [1, 3],
        values: ["3".to_owned(), "5".to_owned()],
    };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "k of the k-iteration path forest is 3 in input 2, but 5 in input 4"
    );
    let merged = merge([&without, &a, &a]).unwrap().kpaths.unwrap();
    assert_eq!((merged.k, merged.slab_nodes, merged.nodes()), (3, 14, 3));
    assert_eq!(merged.methods[&(0, 0)].count(&[0, 1]), 2);
    assert_eq!(merge([&without]).unwrap().kpaths, None);
}

#[test]
fn facts_add_up() {
    let with = |budget, bursts: Option<&str>, orphans| Profile {
        kpaths: Some(KPaths {
            k: 4,
            budget,
            bursts: bursts.map(str::to_owned),
            orphans,
            ..KPaths::default()
        }),
        ..Profile::default()
    };
    let all = [
        with(Some(900), Some("sag:64:17"), 2),
        with(None, None, 1),
        with(Some(500), Some("ag:1:1"), 0),
    ];
    let merged = merge(&all).unwrap().kpaths.unwrap();
    assert_eq!((merged.budget, merged.orphans), (Some(500), 3));
    assert_eq!(merged.bursts.as_deref(), Some("ag:1:1 + sag:64:17"));
}

#[test]
fn overlap_of_what_differs() {
    let a = with_forest(grams(&[vec![0, 0, 0, 0, 1]], 3), 3);
    let b = with_forest(grams(&[vec![0, 1, 0, 1, 0]], 2), 2);
    let overlap = kpaths_overlap(&a, &b).unwrap();
    assert_eq!(overlap.k, [3, 2]);
    assert_eq!(overlap.levels.len(), 2, "what both could count");
    // Level 1: 0 has 4/5 and 3/5, 1 has 1/5 and 2/5.
    let [first, second] = overlap.levels[..] else {
        panic!()
    };
    assert!((first.overlap.unwrap() - 0.8).abs() < 1e-12);
    // Level 2: <0,0> 3/4 and 0; <0,1> 1/4 and 2/4; <1,0> 0 and 2/4.
    assert!((second.overlap.unwrap() - 0.25).abs() < 1e-12);
    assert_eq!((second.sequences, second.common), ([2, 2], 1));
    assert_eq!(overlap.methods[0].share, [1.0, 1.0]);
    assert!((overlap.methods[0].difference() - 0.75).abs() < 1e-12);
    assert_eq!(kpaths_overlap(&a, &profile(vec![])), None);
    // Other class bytes: nothing in common, and said so.
    let mut c = b.clone();
    c.classes[0] = class("A", 2, vec![(two_ifs("m", None), paths(&[]))]);
    let apart = kpaths_overlap(&b, &c).unwrap();
    assert_eq!((apart.unmatched_methods, apart.levels[1].overlap), (2, Some(0.0)));
}

#[test]
fn overlap_sees_through_other_numbers() {
    let smart = two_ifs("m", Some([[1.0, 9.0], [1.0, 9.0]]));
    let plain = two_ifs("m", None);
    let stream = [0u64, 1, 2, 3, 3, 3, 0, 1];
    let other: Vec<u64> = stream
        .iter()
        .map(|&n| {
            let path = plain.describe(n).unwrap();
            (0..4).find(|&m| smart.describe(m).unwrap() == path).unwrap()
        })
        .collect();
    assert_ne!(stream.to_vec(), other, "the numbering does differ");
    let a = with_forest(grams(&[stream.to_vec()], 4), 4);
    let mut b = with_forest(grams(&[other], 4), 4);
    b.classes[0] = class("A", 1, vec![(smart, paths(&[]))]);
    let overlap = kpaths_overlap(&a, &b).unwrap();
    assert!(
        overlap
            .levels
            .iter()
            .all(|l| (l.overlap.unwrap() - 1.0).abs() < 1e-12)
    );
    assert_eq!(overlap.unmatched_methods, 0);
    let merged = merge([&a, &b]).unwrap().kpaths.unwrap();
    assert_eq!(merged.nodes(), a.kpaths.unwrap().nodes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The sum of forests is the forest of all their activations; a forest is its own preorder.
    #[test]
    fn sums(a in any_forest(), b in any_forest(), k in 2..6usize) {
        let (x, y) = (grams(&a, k), grams(&b, k));
        let both = grams(&[a, b].concat(), k);
        prop_assert_eq!(x.plus(&y).unwrap(), both.clone());
        prop_assert_eq!(y.plus(&x).unwrap(), both.clone());
        prop_assert_eq!(x.plus(&PathForest::default()).unwrap(), x.clone());
        for (sequence, count) in both.sequences() {
            prop_assert_eq!(both.count(&sequence), count);
            prop_assert_eq!(x.count(&sequence) + y.count(&sequence), count);
        }
        let rows = both.nodes().iter().map(|n| (n.length, n.path, n.count));
        prop_assert_eq!(PathForest::from_preorder(rows).unwrap(), both);
    }

    /// Overlap: 1 with itself and with any multiple of itself, symmetric, never outside of 0 to 1, 0 for nothing in
    /// common, and equal to the definition.
    #[test]
    fn overlap(a in any_forest(), b in any_forest(), k in 2..5u32, times in 1..5usize) {
        let forest = |streams: &[Vec<u64>]| {
            let small: Vec<Vec<u64>> = streams.iter().map(|s| s.iter().map(|n| n % 4).collect()).collect();
            grams(&small, k as usize)
        };
        let x = with_forest(forest(&a), k);
        let y = with_forest(forest(&b), k);
        let multiple = with_forest(forest(&vec![a.clone(); times].concat()), k);
        for level in kpaths_overlap(&x, &multiple).unwrap().levels {
            prop_assert!(level.overlap.is_none_or(|o| (o - 1.0).abs() < 1e-9), "{level:?}");
            prop_assert_eq!(level.sequences, [level.common; 2]);
        }
        let there = kpaths_overlap(&x, &y).unwrap();
        let back = kpaths_overlap(&y, &x).unwrap();
        let (fx, fy) = (forest(&a), forest(&b));
        for (one, two) in there.levels.iter().zip(&back.levels) {
            prop_assert!(one.overlap.is_none_or(|o| (0.0..=1.0).contains(&o)));
            prop_assert_eq!(one.overlap.is_none(), two.overlap.is_none());
            let level = |f: &PathForest| -> Vec<(Vec<u64>, u64)> {
                f.sequences().filter(|(s, _)| s.len() == one.length as usize).collect()
            };
            let sum = |f: &PathForest| level(f).iter().map(|(_, n)| *n as f64).sum::<f64>();
            if let (Some(o), Some(t)) = (one.overlap, two.overlap) {
                prop_assert!((o - t).abs() < 1e-9);
                let defined: f64 = level(&fx)
                    .iter()
                    .map(|(s, n)| (*n as f64 / sum(&fx)).min(fy.count(s) as f64 / sum(&fy)))
                    .sum();
                prop_assert!((o - defined).abs() < 1e-9, "{} {}", o, defined);
            }
        }
    }
}
