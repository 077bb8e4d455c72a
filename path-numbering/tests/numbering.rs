//! Small graphs whose numbers are worked out by hand.

use trodden_numbering::checker::{CheckOptions, check_graph};
use trodden_numbering::{
    BlockId, EdgeRef, EdgeWeights, EndCause, FlowGraph, NumberingError, NumberingOptions, PathDag, Plan,
    RegenerateError, SimpleGraph, StartKind, Update,
};

fn b(index: usize) -> BlockId {
    BlockId::new(index)
}

fn edge(from: usize, index: u32) -> EdgeRef {
    EdgeRef { from: b(from), index }
}

fn number(graph: &SimpleGraph, limit: u64) -> Result<PathDag, NumberingError> {
    let weights = EdgeWeights::uniform(graph);
    assert_eq!(
        check_graph(graph, &weights, limit, &CheckOptions::default()),
        Ok(())
    );
    PathDag::build(graph, &weights, &NumberingOptions { limit, smart: true })
}

fn numbered(edges: &[(usize, usize)], handlers: &[usize]) -> (SimpleGraph, PathDag) {
    let blocks = 1 + edges.iter().map(|e| e.0.max(e.1)).max().unwrap();
    let graph = SimpleGraph::new(blocks, edges).with_extra_starts(handlers);
    let dag = number(&graph, 1000).unwrap();
    (graph, dag)
}

/// Sources of the edges that `skip_single_path_loops` silences.
fn silent(edges: &[(usize, usize)], handlers: &[usize]) -> Vec<usize> {
    let (graph, dag) = numbered(edges, handlers);
    let plan = Plan::new(&graph, &dag, true);
    assert!(Plan::new(&graph, &dag, false).silent.is_empty());
    plan.silent.iter().map(|s| s.edge.from.index()).collect()
}

/// Two diamonds in a row inside a loop, entered past an if: the shape of PEP's figures 1 and 3.
///
/// 0 -> 1 (header) -> {2, 3} -> 4 -> {5, 6}; 5 -> 1 (retreating), 6 exit.
#[test]
fn two_branches_in_a_loop() {
    let (graph, dag) = numbered(
        &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (4, 6), (5, 1)],
        &[],
    );
    assert_eq!(dag.end_cause(b(1)), Some(EndCause::Header));
    // Entry to header: 1 path. From the header: 2 x 2.
    assert_eq!(dag.num_paths(), 5);
    assert_eq!(dag.values(b(1)), [0, 2]);
    assert_eq!(dag.values(b(4)), [0, 1]);
    let starts: Vec<_> = dag
        .starts()
        .iter()
        .map(|s| (s.kind, s.block, s.value, s.paths))
        .collect();
    assert_eq!(
        starts,
        [(StartKind::Entry, b(0), 0, 1), (StartKind::Header, b(1), 1, 4)]
    );
    let blocks = |n| dag.regenerate(&graph, n).unwrap().blocks(&graph);
    assert_eq!(blocks(0), [b(0)]);
    assert_eq!(blocks(1), [b(1), b(2), b(4), b(5)]);
    assert_eq!(blocks(2), [b(1), b(2), b(4), b(6)]);
    assert_eq!(blocks(3), [b(1), b(3), b(4), b(5)]);
    assert_eq!(blocks(4), [b(1), b(3), b(4), b(6)]);
    assert_eq!(
        dag.regenerate(&graph, 5),
        Err(RegenerateError::OutOfRange { number: 5, paths: 5 })
    );
    // Register 3 at the top of block 4: it came through block 3.
    let prefix = dag.regenerate_partial(&graph, 3, b(4)).unwrap();
    assert_eq!(prefix.blocks(&graph), [b(1), b(3)]);
    assert_eq!(
        dag.regenerate_partial(&graph, 3, b(2)),
        Err(RegenerateError::NotOnPath { number: 3, block: 2 })
    );
    let plan = Plan::new(&graph, &dag, true);
    assert_eq!((plan.entry.update, plan.entry.restart), (Update::Set(0), None));
    assert_eq!(plan.op(edge(0, 0)).restart, Some(1));
    assert_eq!(plan.op(edge(1, 1)).update, Update::Add(2));
    assert_eq!(
        (plan.op(edge(5, 0)).update, plan.op(edge(5, 0)).restart),
        (Update::Keep, Some(1))
    );
    assert!(plan.op(edge(1, 0)).is_none());
    assert!(plan.silent.is_empty());
}

#[test]
fn smart_numbering_moves_the_zero() {
    let graph = SimpleGraph::new(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    let weights = EdgeWeights::from_parts(vec![vec![1.0, 9.0]]);
    let values = |smart| {
        let options = NumberingOptions {
            smart,
            ..NumberingOptions::default()
        };
        PathDag::build(&graph, &weights, &options)
            .unwrap()
            .values(b(0))
            .to_vec()
    };
    assert_eq!(values(true), [1, 0]);
    assert_eq!(values(false), [0, 1]);
}

/// `n` diamonds in a row: 3 blocks each, the join being the next one's branch.
fn diamonds(n: usize) -> SimpleGraph {
    let edges: Vec<_> = (0..n)
        .flat_map(|i| {
            let at = 3 * i;
            [(at, at + 1), (at, at + 2), (at + 1, at + 3), (at + 2, at + 3)]
        })
        .collect();
    SimpleGraph::new(3 * n + 1, &edges)
}

#[test]
fn cuts_are_made_at_merges() {
    let graph = diamonds(10);
    assert_eq!(number(&graph, 1024).unwrap().num_paths(), 1024);
    let dag = number(&graph, 1023).unwrap();
    let cuts = |dag: &PathDag| -> Vec<usize> {
        (0..31)
            .filter(|&i| dag.end_cause(b(i)) == Some(EndCause::Cut))
            .collect()
    };
    assert_eq!(cuts(&dag), [3]);
    assert_eq!(dag.num_paths(), 2 + 512);
    // The least there can be: 2 or (no worse) 2 x 2 paths between one cut and the next.
    let dag = number(&graph, 20).unwrap();
    assert_eq!(cuts(&dag), [6, 9, 12, 18, 21, 24]);
    assert_eq!(dag.num_paths(), 20);
    assert_eq!(number(&graph, 19), Err(NumberingError::LimitTooLow { limit: 19 }));
}

#[test]
fn astronomically_many_paths() {
    let graph = diamonds(200);
    for limit in [i32::MAX as u64, u64::MAX] {
        let dag = number(&graph, limit).unwrap();
        assert!(dag.num_paths() <= limit && dag.num_paths() > limit / 8);
    }
}

#[test]
fn limit_of_three() {
    let diamond = diamonds(1);
    assert_eq!(number(&diamond, 3).unwrap().num_paths(), 2);
    assert_eq!(
        number(&diamonds(2), 3),
        Err(NumberingError::LimitTooLow { limit: 3 })
    );
    assert_eq!(
        number(&diamonds(2), 0),
        Err(NumberingError::LimitTooLow { limit: 0 })
    );
    let line = SimpleGraph::new(3, &[(0, 1), (1, 2)]);
    assert_eq!(number(&line, 1).unwrap().num_paths(), 1);
}

#[test]
fn blocks_that_do_not_exist() {
    let bad = SimpleGraph::from_parts(b(0), vec![vec![b(7)]], vec![]);
    let built = PathDag::build(
        &bad,
        &EdgeWeights::from_parts(vec![]),
        &NumberingOptions::default(),
    );
    assert_eq!(built, Err(NumberingError::NoSuchBlock { block: 7, blocks: 1 }));
    let empty = SimpleGraph::new(0, &[]);
    let built = PathDag::build(
        &empty,
        &EdgeWeights::uniform(&empty),
        &NumberingOptions::default(),
    );
    assert_eq!(built, Err(NumberingError::NoSuchBlock { block: 0, blocks: 0 }));
}

#[test]
fn handler_is_a_start_of_its_own() {
    let (graph, dag) = numbered(&[(0, 1), (2, 3), (2, 1)], &[2]);
    assert_eq!(dag.num_paths(), 3);
    assert_eq!(dag.starts()[1].kind, StartKind::Handler);
    assert_eq!(dag.regenerate(&graph, 2).unwrap().blocks(&graph), [b(2), b(1)]);
    let plan = Plan::new(&graph, &dag, false);
    assert_eq!(
        (plan.extra_starts[0].0, plan.extra_starts[0].1.update),
        (b(2), Update::Set(1))
    );
}

#[test]
fn entry_that_is_a_header_ends_at_once() {
    let (graph, dag) = numbered(&[(0, 0), (0, 1)], &[]);
    let arrival = dag.regenerate(&graph, 0).unwrap();
    assert!(arrival.edges.is_empty() && arrival.blocks(&graph).is_empty());
    assert_eq!(Plan::new(&graph, &dag, false).entry.restart, Some(1));
}

#[test]
fn single_path_loops_are_silent() {
    // while: header 1, body 2.
    assert_eq!(silent(&[(0, 1), (1, 2), (1, 3), (2, 1)], &[]), [2]);
    // Self loop.
    assert_eq!(silent(&[(0, 1), (1, 1), (1, 2)], &[]), [1]);
    // With inner exits (break, return) still one path per iteration.
    assert_eq!(
        silent(
            &[(0, 1), (1, 2), (1, 5), (2, 3), (2, 5), (3, 4), (3, 6), (4, 1)],
            &[]
        ),
        [4]
    );
    // A handler that leads out of the loop.
    assert_eq!(silent(&[(0, 1), (1, 2), (1, 3), (2, 1), (4, 3)], &[4]), [2]);
    // A loop on the far side of the branch: adds on the way, so the register is set back.
    let edges = [(0, 1), (1, 3), (1, 2), (2, 1)];
    let (graph, dag) = numbered(&edges, &[]);
    let plan = Plan::new(&graph, &dag, true);
    let start = dag.restart(b(1)).unwrap().value;
    assert_eq!(plan.op(edge(2, 0)).update, Update::Set(start));
    assert_eq!(plan.silent[0].path, start + 1);
}

#[test]
fn nested_loops_silence_the_inner_only() {
    // for { for {} }: 1 outer header, 2 inner header, 3 inner body, 4 outer latch, 5 exit.
    assert_eq!(
        silent(&[(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 2), (4, 1)], &[]),
        [3]
    );
}

#[test]
fn loops_with_choices_are_not_silent() {
    // An if inside.
    assert_eq!(
        silent(&[(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 4), (4, 1)], &[]),
        [0usize; 0]
    );
    // `continue`: two retreating edges.
    assert_eq!(
        silent(&[(0, 1), (1, 2), (1, 4), (2, 1), (2, 3), (3, 1)], &[]),
        [0usize; 0]
    );
    // A switch with two keys for the body: two parallel edges, two paths.
    assert_eq!(
        silent(&[(0, 1), (1, 2), (1, 2), (1, 3), (2, 1)], &[]),
        [0usize; 0]
    );
    // A handler that goes back to the loop's latch.
    assert_eq!(
        silent(&[(0, 1), (1, 2), (1, 3), (2, 1), (4, 2)], &[4]),
        [0usize; 0]
    );
    // Irreducible: 1 <-> 2, both entered from 0. The retreating edge 2 -> 1 is also reached by 0 -> 2.
    assert_eq!(
        silent(&[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)], &[]),
        [0usize; 0]
    );
}

#[test]
fn unreachable_blocks_have_no_paths() {
    let (graph, dag) = numbered(&[(0, 1), (2, 2), (2, 1)], &[]);
    assert_eq!(dag.num_paths(), 1);
    assert_eq!(dag.end_cause(b(2)), None);
    assert!(graph.num_blocks() == 3 && dag.regenerate_partial(&graph, 0, b(2)).is_err());
}

#[test]
fn damaged_parts_are_errors() {
    let (graph, dag) = numbered(&[(0, 1), (0, 2), (1, 3), (2, 3)], &[]);
    let values = vec![vec![0, 5], vec![0], vec![0], vec![]];
    let damaged = PathDag::from_parts(vec![None; 4], values, dag.starts().to_vec());
    assert!(matches!(
        damaged.regenerate(&graph, 1),
        Err(RegenerateError::Inconsistent { number: 1, .. })
    ));
    let none = PathDag::from_parts(vec![], vec![], dag.starts().to_vec());
    assert!(matches!(
        none.regenerate(&graph, 1),
        Err(RegenerateError::Inconsistent { .. })
    ));
}
