//! Coverage: files, merging, counts of edges.

use crate::common::{class, method_over, paths, profile};
use trodden_numbering::{CoveragePlan, EdgeWeights, SimpleGraph};
use trodden_profile::{Covered, MergeError, MethodCovered, MethodMap, Profile, merge};

/// A loop with two ways inside: 0 → 1, 1 → 2 | 5, 2 → 3 | 4, 3 → 1, 4 → 1.
fn method(name: &str) -> MethodMap {
    let graph = SimpleGraph::new(6, &[(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 1), (4, 1)]);
    let weights = EdgeWeights::uniform(&graph);
    method_over(name, graph, &weights, 1000).unwrap()
}

fn bits(text: &str) -> Vec<bool> {
    text.chars().map(|bit| bit == '1').collect()
}

fn marks(blocks: &str, ways: &str) -> MethodCovered {
    MethodCovered {
        blocks: bits(blocks),
        ways: bits(ways),
    }
}

fn with(names: &[&str], methods: impl IntoIterator<Item = ((u32, u32), MethodCovered)>) -> Profile {
    let class = |name: &&str| {
        let methods = vec![(method("a"), paths(&[])), (method("b"), paths(&[]))];
        class(name, 1, methods)
    };
    let mut made = profile(names.iter().map(class).collect());
    made.run.probe = "coverage".to_owned();
    made.coverage = Some(Covered {
        methods: methods.into_iter().collect(),
    });
    made
}

#[test]
fn files_keep_it_and_refuse_what_does_not_fit() {
    let good = with(
        &["A"],
        [
            ((0, 0), marks("110001", "0100")),
            ((0, 1), marks("111111", "1111")),
        ],
    );
    assert_eq!(Profile::read(&good.to_bytes().unwrap()).unwrap(), good);
    // That nothing ran is something else than that nobody looked.
    for nothing in [with(&["A"], []), with(&[], [])] {
        assert_eq!(Profile::read(&nothing.to_bytes().unwrap()).unwrap(), nothing);
    }
    let refused = |place, marks, words: &str| {
        let error = with(&["A"], [(place, marks)]).to_bytes().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(
        (0, 0),
        marks("11000", "0100"),
        "there are 5 blocks with coverage, but 6 blocks of the method",
    );
    refused(
        (0, 0),
        marks("110001", "010"),
        "there are 3 ways with coverage, but 4 ways of the method",
    );
    refused((0, 0), marks("110000", "0100"), "of which one did not run");
    refused((0, 2), marks("110001", "0100"), "method 2 of class 0");
}

#[test]
fn merging_keeps_what_ran_in_any_run() {
    let one = with(&["B"], [((0, 1), marks("110001", "0100"))]);
    let other = with(
        &["A", "B"],
        [
            ((1, 1), marks("111100", "1010")),
            ((0, 0), marks("100000", "0000")),
        ],
    );
    let merged = merge([&one, &other]).unwrap();
    assert_eq!(merged, merge([&other, &one]).unwrap());
    let found = &merged.coverage.as_ref().unwrap().methods;
    assert_eq!(found.len(), 2);
    assert_eq!(found[&(1, 1)], marks("111101", "1110"));
    assert_eq!(found[&(0, 0)], marks("100000", "0000"));
    // Of what another run counted in other ways it is not known what did not run.
    let mut counted = profile(Vec::new());
    counted.run.probe = "counters".to_owned();
    let error = merge([&one, &counted]).unwrap_err();
    assert!(matches!(error, MergeError::Unlike { .. }), "{error}");
}

#[test]
fn edges_have_a_count_where_they_were_followed() {
    let map = method("a");
    let plan = CoveragePlan::new(&map.graph, vec![true; 6]);
    let mut passed = vec![false; plan.probes() as usize];
    // Entry, header, once left, out: the probes on these ways.
    let ops = plan.plan(&map.graph);
    let mut pass = |op: trodden_numbering::EdgeOp| {
        if let trodden_numbering::Update::Run(probe) = op.update {
            passed[probe as usize] = true;
        }
    };
    pass(ops.entry);
    for (from, way) in [(0, 0), (1, 0), (2, 0), (3, 0), (1, 1)] {
        pass(ops.edges[from][way]);
    }
    let ran = plan.ran(&map.graph, |probe| passed[probe as usize]);
    let marks = MethodCovered::new(&map, &ran);
    assert_eq!(marks, self::marks("111101", "1110"));
    let edges = marks.edge_profile(&map);
    assert_eq!(edges.blocks, [1, 1, 1, 1, 0, 1]);
    let edges: Vec<&[u64]> = edges.edges.iter().collect();
    assert_eq!(edges, [&[1][..], &[1, 1], &[1, 0], &[1], &[0], &[]]);
}
