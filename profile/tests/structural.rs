//! Structural profiles: files, merging, comparing.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use crate::common::{class, method_over, paths, profile};
use trodden_numbering::{EdgeWeights, SimpleGraph};
use trodden_profile::structural::{
    GraphCounts, MethodStructure, Structural, compare_structural, structure_of,
};
use trodden_profile::{AccuracyOptions, MethodMap, Profile, merge};

/// A loop with two ways inside: 0 → 1, 1 → 2 | 5, 2 → 3 | 4, 3 → 1, 4 → 1.
fn method(name: &str) -> MethodMap {
    let graph = SimpleGraph::new(6, &[(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 1), (4, 1)]);
    let weights = EdgeWeights::uniform(&graph);
    method_over(name, graph, &weights, 1000).unwrap()
}

/// Numbers of the loop's paths: after a back edge, left and right way round, and out.
fn numbers() -> [u64; 3] {
    let structure = structure_of(&method("a").graph).unwrap();
    assert_eq!(structure.graphs().len(), 2);
    let of = &structure.graphs()[1];
    ["(1)-1-2-3-(1)", "(1)-1-2-4-(1)", "(1)-1-X5"].map(|text| {
        (0..of.dag().num_paths())
            .find(|&number| of.path(number).unwrap().to_string() == text)
            .unwrap()
    })
}

fn counts(entries: u64, [left, right, out]: [u64; 3], scale: u64) -> MethodStructure {
    let numbers = numbers();
    let table = |scale| -> BTreeMap<u64, u64> {
        numbers
            .into_iter()
            .zip([left, right, out].map(|n| n * scale))
            .collect()
    };
    let graph = |local, global| GraphCounts {
        windows: 3,
        local,
        global,
        by_rate: false,
    };
    let outline = |scale| [(0, entries * scale)].into();
    MethodStructure {
        graphs: vec![graph(outline(1), outline(scale)), graph(table(1), table(scale))],
    }
}

fn with(names: &[&str], methods: impl IntoIterator<Item = ((u32, u32), MethodStructure)>) -> Profile {
    let class = |name: &&str| {
        class(
            name,
            1,
            vec![(method("a"), paths(&[])), (method("b"), paths(&[]))],
        )
    };
    Profile {
        structural: Some(Structural {
            window: NonZeroU32::new(100),
            methods: methods.into_iter().collect(),
        }),
        ..profile(names.iter().map(class).collect())
    }
}

#[test]
fn files_keep_them_and_refuse_what_does_not_fit() {
    let good = with(
        &["A"],
        [
            ((0, 0), counts(2, [5, 7, 2], 10)),
            ((0, 1), counts(1, [1, 0, 1], 1)),
        ],
    );
    let bytes = good.to_bytes().unwrap();
    assert_eq!(Profile::read(&bytes).unwrap(), good);
    let refused = |change: &dyn Fn(&mut MethodStructure), words: &str| {
        let mut wrong = counts(2, [5, 7, 2], 10);
        change(&mut wrong);
        let error = with(&["A"], [((0, 0), wrong)])
            .to_bytes()
            .unwrap_err()
            .to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(
        &|m| drop(m.graphs.pop()),
        "there are 1 structure graphs with counts, but 2 structure graphs",
    );
    refused(
        &|m| {
            m.graphs[1].global.insert(1 << 20, 1);
        },
        "no path has the number 1048576",
    );
    let error = with(&["A"], [((0, 2), counts(1, [1, 1, 1], 1))]).to_bytes();
    assert!(error.unwrap_err().to_string().contains("method 2 of class 0"));
}

#[test]
fn merging_adds_up_and_follows_the_method() {
    let one = with(&["B"], [((0, 1), counts(2, [5, 7, 2], 10))]);
    let other = with(
        &["A", "B"],
        [
            ((1, 1), counts(1, [1, 3, 1], 10)),
            ((0, 0), counts(1, [0, 1, 1], 1)),
        ],
    );
    for merged in [merge([&one, &other]).unwrap(), merge([&other, &one]).unwrap()] {
        let structural = merged.structural.unwrap();
        assert_eq!(
            structural.methods.keys().copied().collect::<Vec<_>>(),
            [(0, 0), (1, 1)]
        );
        let mut expected = counts(3, [6, 10, 3], 10);
        expected.graphs.iter_mut().for_each(|graph| graph.windows = 6);
        assert_eq!(structural.methods[&(1, 1)], expected);
    }
}

/// By hand. Branch decisions: 2 on the ways round, 1 on the way out, none in the outline. The blind estimate knows one method, and
/// nothing of the rest.
#[test]
fn accuracy_by_hand() {
    let exact = with(
        &["A"],
        [
            ((0, 0), counts(1, [500, 300, 1], 1)),
            ((0, 1), counts(1, [8, 4, 1], 1)),
        ],
    );
    let same = compare_structural(&exact, &exact, &AccuracyOptions::default()).unwrap();
    assert_eq!((same.path_accuracy, same.local_overlap), (Some(1.0), Some(1.0)));
    assert_eq!(same.exact_flow, 2 * (500 + 300) + 1 + 2 * (8 + 4) + 1);
    // More than 0.125 % of 1,626: the four ways round.
    assert_eq!(same.hot_paths, 4);
    let estimate = with(
        &["A"],
        [
            ((0, 0), counts(1, [50, 30, 1], 10)),
            ((0, 1), counts(1, [8, 4, 1], 1)),
        ],
    );
    let good = compare_structural(&exact, &estimate, &AccuracyOptions::default()).unwrap();
    // The way out of a's loop, ten times one branch, takes the place of the fourth path, with 8 of 1,624.
    assert_eq!(good.path_accuracy, Some(1616.0 / 1624.0));
    // a's loop: 500/801 and 300/801 against 50/81 and 30/81, 1/801 against 1/81; b's agrees.
    let overlap = 50.0 / 81.0 + 30.0 / 81.0 + 1.0 / 801.0;
    let expected = (overlap * 1601.0 + 25.0) / 1626.0;
    assert!((good.local_overlap.unwrap() - expected).abs() < 1e-12, "{good:?}");
    let blind = with(&["A"], [((0, 1), counts(1, [8, 4, 1], 1))]);
    let blind = compare_structural(&exact, &blind, &AccuracyOptions::default()).unwrap();
    assert_eq!(blind.path_accuracy, Some(24.0 / 1624.0));
    assert!(compare_structural(&exact, &profile(Vec::new()), &AccuracyOptions::default()).is_none());
}
