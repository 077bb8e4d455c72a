//! Each heuristic alone, on the smallest graph it has something to say about; then their combination.

use trodden_numbering::heuristics::{
    BlockTraits, BranchTest, Condition, Heuristic, HeuristicVote, HintTable, Predictor, combine,
};
use trodden_numbering::{BlockId, EdgeRef, EdgeWeights, FlowGraph, NumberingOptions, PathDag, SimpleGraph};

/// Branch 0 -> {1, 2}, joining at 3.
const DIAMOND: [(usize, usize); 4] = [(0, 1), (0, 2), (1, 3), (2, 3)];
/// Branch 0 -> {1, 2}, 1 -> 2: block 2 is on the main road.
const IF_THEN: [(usize, usize); 4] = [(0, 1), (0, 2), (1, 2), (2, 3)];
/// while: header 1 -> {body 2, exit 3}.
const WHILE: [(usize, usize); 4] = [(0, 1), (1, 2), (1, 3), (2, 1)];

const NONE: BlockTraits = BlockTraits {
    returns: false,
    throws: false,
    calls: false,
    stores: false,
};
const RETURNS: BlockTraits = BlockTraits {
    returns: true,
    ..NONE
};
const THROWS: BlockTraits = BlockTraits { throws: true, ..NONE };
const CALLS: BlockTraits = BlockTraits { calls: true, ..NONE };
const STORES: BlockTraits = BlockTraits { stores: true, ..NONE };

fn graph(edges: &[(usize, usize)]) -> SimpleGraph {
    SimpleGraph::new(1 + edges.iter().map(|e| e.0.max(e.1)).max().unwrap(), edges)
}

fn hints(traits: &[(usize, BlockTraits)], test: Option<BranchTest>) -> HintTable {
    let mut table = HintTable {
        traits: vec![NONE; 10],
        tests: vec![test],
        ..HintTable::default()
    };
    for &(block, of) in traits {
        table.traits[block] = of;
    }
    table
}

/// The votes on `block`.
fn said(edges: &[(usize, usize)], hints: &HintTable, block: usize) -> Vec<(Heuristic, u32)> {
    let graph = graph(edges);
    let votes = Predictor::new(&graph, hints).votes(BlockId::new(block));
    votes
        .into_iter()
        .map(|HeuristicVote { heuristic, expects }| (heuristic, expects))
        .collect()
}

fn weight(graph: &SimpleGraph, hints: &HintTable, from: usize, index: u32) -> f64 {
    EdgeWeights::heuristic(graph, hints).get(EdgeRef {
        from: BlockId::new(from),
        index,
    })
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn nothing_known() {
    assert_eq!(said(&DIAMOND, &hints(&[], None), 0), []);
    assert!(close(weight(&graph(&DIAMOND), &hints(&[], None), 0, 1), 0.5));
}

#[test]
fn loop_branch_of_a_bottom_test() {
    // do: body 1 -> {1, 2}. It decides alone, whatever else there is to say.
    let edges = [(0, 1), (1, 1), (1, 2)];
    let hints = hints(&[(1, CALLS), (2, RETURNS)], None);
    assert_eq!(said(&edges, &hints, 1), [(Heuristic::LoopBranch, 0)]);
    assert!(close(weight(&graph(&edges), &hints, 1, 0), 0.88));
}

#[test]
fn loop_branch_of_a_top_test() {
    assert_eq!(said(&WHILE, &hints(&[], None), 1), [(Heuristic::LoopBranch, 0)]);
}

#[test]
fn loop_branch_is_not_spoilt_by_a_handler_in_the_loop() {
    let graph = SimpleGraph::new(5, &[(0, 1), (1, 2), (1, 3), (2, 1), (4, 2)]).with_extra_starts(&[4]);
    let hints = hints(&[], None);
    let votes = Predictor::new(&graph, &hints).votes(BlockId::new(1));
    assert_eq!(
        votes,
        [HeuristicVote {
            heuristic: Heuristic::LoopBranch,
            expects: 0
        }]
    );
}

#[test]
fn loop_exit() {
    // while (1) with a break at 2 -> 4 (before the latch 3).
    let edges = [(0, 1), (1, 2), (2, 4), (2, 3), (3, 1)];
    assert_eq!(said(&edges, &hints(&[], None), 2), [(Heuristic::LoopExit, 1)]);
}

#[test]
fn loop_header() {
    // if (..) while (..) {}: 0 -> {1 preheader, 4}, 1 -> 2 header -> {3, 4}.
    let edges = [(0, 4), (0, 1), (1, 2), (2, 3), (2, 4), (3, 2)];
    assert_eq!(said(&edges, &hints(&[], None), 0), [(Heuristic::LoopHeader, 1)]);
    let direct = [(0, 3), (0, 1), (1, 2), (1, 3), (2, 1)];
    assert_eq!(said(&direct, &hints(&[], None), 0), [(Heuristic::LoopHeader, 1)]);
    // A loop on the main road says nothing: 0 -> {1, 2}, 1 -> 2 header.
    let main = [(0, 1), (0, 2), (1, 2), (2, 2), (2, 3)];
    let main_road = said(&main, &hints(&[], None), 0);
    assert_eq!(
        main_road,
        [(Heuristic::LoopHeader, 0)],
        "1 is a preheader off the main road"
    );
}

#[test]
fn call() {
    assert_eq!(
        said(&DIAMOND, &hints(&[(1, CALLS)], None), 0),
        [(Heuristic::Call, 1)]
    );
    assert_eq!(said(&DIAMOND, &hints(&[(1, CALLS), (2, CALLS)], None), 0), []);
    assert_eq!(
        said(&IF_THEN, &hints(&[(2, CALLS)], None), 0),
        [],
        "on the main road"
    );
}

#[test]
fn store() {
    assert_eq!(
        said(&DIAMOND, &hints(&[(2, STORES)], None), 0),
        [(Heuristic::Store, 0)]
    );
    assert_eq!(
        said(&IF_THEN, &hints(&[(2, STORES)], None), 0),
        [],
        "on the main road"
    );
}

#[test]
fn return_() {
    let early = [(0, 1), (0, 2), (2, 3)];
    assert_eq!(
        said(&early, &hints(&[(1, RETURNS)], None), 0),
        [(Heuristic::Return, 1)]
    );
    // By a jump; and on both sides.
    let jump = [(0, 1), (0, 2), (1, 4), (2, 3), (3, 4)];
    assert_eq!(
        said(&jump, &hints(&[(4, RETURNS)], None), 0),
        [(Heuristic::Return, 1)]
    );
    assert_eq!(said(&DIAMOND, &hints(&[(3, RETURNS)], None), 0), []);
}

#[test]
fn guard() {
    let guards = |guards| {
        Some(BranchTest {
            guards,
            ..BranchTest::new(Condition::Other, 0)
        })
    };
    assert_eq!(
        said(&DIAMOND, &hints(&[], guards([false, true])), 0),
        [(Heuristic::Guard, 1)]
    );
    assert_eq!(said(&DIAMOND, &hints(&[], guards([true, true])), 0), []);
    assert_eq!(
        said(&IF_THEN, &hints(&[], guards([false, true])), 0),
        [],
        "on the main road"
    );
}

#[test]
fn pointer_and_opcode_with_orientation() {
    for (condition, heuristic) in [
        (Condition::PointerNull, Heuristic::Pointer),
        (Condition::PointerEqual, Heuristic::Pointer),
        (Condition::IntNegative, Heuristic::Opcode),
        (Condition::IntNonPositive, Heuristic::Opcode),
        (Condition::IntEqual, Heuristic::Opcode),
        (Condition::FloatEqual, Heuristic::Opcode),
    ] {
        for holds in [0, 1] {
            let hints = hints(&[], Some(BranchTest::new(condition, holds)));
            assert_eq!(said(&DIAMOND, &hints, 0), [(heuristic, 1 - holds)]);
            let unlikely = weight(&graph(&DIAMOND), &hints, 0, holds);
            assert!(close(unlikely, 1.0 - heuristic.probability()));
        }
    }
    assert_eq!(
        said(
            &DIAMOND,
            &hints(&[], Some(BranchTest::new(Condition::Other, 0))),
            0
        ),
        []
    );
}

#[test]
fn throw() {
    let edges = [(0, 1), (0, 2), (1, 3)];
    assert_eq!(
        said(&edges, &hints(&[(2, THROWS)], None), 0),
        [(Heuristic::Throw, 0)]
    );
    // Through a branch that throws on either way.
    let deep = [(0, 1), (0, 2), (1, 3), (1, 4)];
    let throws = hints(&[(3, THROWS), (4, THROWS)], None);
    assert_eq!(said(&deep, &throws, 0), [(Heuristic::Throw, 1)]);
    let one_way = hints(&[(3, THROWS)], None);
    assert_eq!(said(&deep, &one_way, 0), []);
}

#[test]
fn votes_are_combined() {
    assert!(close(combine(0.5, 0.7), 0.7));
    assert!(close(combine(0.7, 0.3), 0.5));
    assert!(close(
        combine(0.88, 0.78),
        0.88 * 0.78 / (0.88 * 0.78 + 0.12 * 0.22)
    ));
    assert!(close(combine(0.0, 1.0), 0.5), "contradiction of certainties");
    // Block 1 calls (0.22), but the pointer is not null there (0.60).
    let hints = hints(&[(1, CALLS)], Some(BranchTest::new(Condition::PointerNull, 1)));
    assert_eq!(
        said(&DIAMOND, &hints, 0),
        [(Heuristic::Call, 1), (Heuristic::Pointer, 0)]
    );
    assert!(close(weight(&graph(&DIAMOND), &hints, 0, 0), combine(0.22, 0.60)));
    assert_eq!(Heuristic::ALL.len(), 10);
}

#[test]
fn switch_is_uniform_per_key_but_for_throws() {
    let edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4)];
    let mut hints = hints(&[], None);
    hints.keys = vec![vec![6, 1, 1]];
    let graph = graph(&edges);
    assert!(close(weight(&graph, &hints, 0, 0), 6.0 / 8.0));
    assert!(close(weight(&graph, &hints, 0, 2), 1.0 / 8.0));
    hints.traits[1] = THROWS;
    assert!(weight(&graph, &hints, 0, 0) < 0.05);
    let sum: f64 = (0..3).map(|i| weight(&graph, &hints, 0, i)).sum();
    assert!(close(sum, 1.0));
}

#[test]
fn numbering_gives_the_zero_to_the_likely_edge() {
    // if (p == null) throw; the throw comes first in successor order.
    let graph = graph(&[(0, 1), (0, 2), (2, 3)]);
    let hints = hints(
        &[(1, THROWS), (3, RETURNS)],
        Some(BranchTest::new(Condition::PointerNull, 0)),
    );
    let weights = EdgeWeights::heuristic(&graph, &hints);
    let dag = PathDag::build(&graph, &weights, &NumberingOptions::default()).unwrap();
    assert_eq!(dag.values(BlockId::new(0)), [1, 0]);
    let sums = (0..graph.num_blocks()).map(|b| {
        let edges = 0..graph.successors(BlockId::new(b)).len() as u32;
        edges
            .map(|index| {
                weights.get(EdgeRef {
                    from: BlockId::new(b),
                    index,
                })
            })
            .sum::<f64>()
    });
    assert!(sums.into_iter().all(|sum| sum == 0.0 || close(sum, 1.0)));
}
