//! Rules that a numbering cannot break alone, because another one is checked before: each rule alone.

use super::*;
use crate::dag::PathStart;
use crate::graph::SimpleGraph;

/// 0 -> 1 (loop header) -> {2 -> 1, 3 exit}, and a diamond in the loop: 2 -> {4, 5} -> 1.
fn graph() -> SimpleGraph {
    SimpleGraph::new(6, &[(0, 1), (1, 2), (1, 3), (2, 4), (2, 5), (4, 1), (5, 1)])
}

fn dag_with(
    graph: &SimpleGraph,
    change: impl FnOnce(&mut Vec<Option<EndCause>>, &mut Vec<Vec<u64>>, &mut Vec<PathStart>),
) -> PathDag {
    let dag = PathDag::build(graph, &EdgeWeights::uniform(graph), &NumberingOptions::default()).unwrap();
    let blocks = || (0..graph.num_blocks()).map(BlockId::new);
    let mut ends = blocks().map(|b| dag.end_cause(b)).collect();
    let mut values = blocks().map(|b| dag.values(b).to_vec()).collect();
    let mut starts = dag.starts().to_vec();
    change(&mut ends, &mut values, &mut starts);
    PathDag::from_parts(ends, values, starts)
}

fn acyclic(graph: &SimpleGraph, dag: &PathDag) -> Result<usize, Rule> {
    let order = check_acyclic(graph, dag, &SlowWalk::new(graph));
    order.map(|o| o.len()).map_err(|v| v.rule)
}

#[test]
fn a_loop_without_a_header_is_a_cycle() {
    let graph = graph();
    assert_eq!(acyclic(&graph, &dag_with(&graph, |_, _, _| ())), Ok(6));
    let uncut = dag_with(&graph, |ends, _, _| ends[1] = None);
    assert_eq!(acyclic(&graph, &uncut), Err(Rule::Acyclic));
    // Cut elsewhere, but not on either way around.
    let one_way = dag_with(&graph, |ends, _, _| {
        ends[1] = None;
        ends[4] = Some(EndCause::Cut);
    });
    assert_eq!(acyclic(&graph, &one_way), Err(Rule::Acyclic));
    let both_ways = dag_with(&graph, |ends, _, _| {
        ends[1] = None;
        ends[4] = Some(EndCause::Cut);
        ends[5] = Some(EndCause::Cut);
    });
    assert_eq!(acyclic(&graph, &both_ways), Ok(6));
}

#[test]
fn a_self_loop_and_an_irreducible_loop_are_cycles() {
    let own = SimpleGraph::new(3, &[(0, 1), (1, 1), (1, 2)]);
    let uncut = dag_with(&own, |ends, _, _| ends[1] = None);
    assert_eq!(acyclic(&own, &uncut), Err(Rule::Acyclic));
    // Two entries, 1 and 2, into the loop 1 <-> 2.
    let irreducible = SimpleGraph::new(4, &[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)]);
    let sound = dag_with(&irreducible, |_, _, _| ());
    assert_eq!(acyclic(&irreducible, &sound), Ok(4));
    let uncut = dag_with(&irreducible, |ends, _, _| ends.fill(None));
    assert_eq!(acyclic(&irreducible, &uncut), Err(Rule::Acyclic));
    // A cycle that is never reached does not matter.
    let unreached = SimpleGraph::new(4, &[(0, 1), (2, 3), (3, 2)]);
    assert_eq!(acyclic(&unreached, &dag_with(&unreached, |_, _, _| ())), Ok(2));
}

fn regeneration(graph: &SimpleGraph, dag: &PathDag, path: &Path) -> Option<Rule> {
    check_regeneration(graph, dag, path).err().map(|v| v.rule)
}

#[test]
fn numbers_that_lead_elsewhere_do_not_regenerate() {
    let graph = graph();
    let sound = dag_with(&graph, |_, _, _| ());
    let paths = enumerate(&graph, &sound);
    assert_eq!(paths.len() as u64, sound.num_paths());
    for path in &paths {
        assert_eq!(regeneration(&graph, &sound, path), None);
    }
    let spoilt = |dag: &PathDag| {
        let broken = paths.iter().map(|p| regeneration(&graph, dag, p));
        broken.flatten().collect::<Vec<_>>()
    };
    // The two ways out of block 2 have one value: one of the two paths through there is not found again.
    let ambiguous = dag_with(&graph, |_, values, _| values[2] = vec![0, 0]);
    assert_eq!(spoilt(&ambiguous), [Rule::Regeneration]);
    // A value that no sum reaches: the blocks behind are not found from the number.
    let gap = dag_with(&graph, |_, values, _| values[1][1] += 10);
    assert!(spoilt(&gap).contains(&Rule::Regeneration));
    // A start whose range is empty, and one that starts at another's number.
    let empty = dag_with(&graph, |_, _, starts| starts[1].paths = 0);
    assert!(spoilt(&empty).contains(&Rule::Regeneration));
    let shifted = dag_with(&graph, |_, _, starts| starts[1].value = starts[0].value);
    assert!(spoilt(&shifted).contains(&Rule::Regeneration));
    // All values exchanged for another sound numbering: it is sound as well.
    let exchanged = dag_with(&graph, |_, values, _| values[2].reverse());
    assert_eq!(spoilt(&exchanged), []);
}

#[test]
fn a_path_that_is_none_does_not_regenerate() {
    let graph = graph();
    let dag = dag_with(&graph, |_, _, _| ());
    let paths = enumerate(&graph, &dag);
    let around = paths.iter().find(|p| p.edges.len() == 3).unwrap();
    let mut short = around.clone();
    short.edges.pop();
    let mut longer = around.clone();
    longer
        .edges
        .extend(paths.iter().find(|p| p.edges.len() == 1).unwrap().edges.clone());
    let mut elsewhere = around.clone();
    elsewhere.end = PathEnd::Exit(BlockId::new(3));
    let mut no_start = around.clone();
    no_start.start = StartKind::Handler;
    for wrong in [short, longer, elsewhere, no_start] {
        assert_eq!(
            regeneration(&graph, &dag, &wrong),
            Some(Rule::Regeneration),
            "{wrong:?}"
        );
    }
}

#[test]
fn a_prefix_that_stopped_elsewhere_does_not_regenerate() {
    let graph = graph();
    let dag = dag_with(&graph, |_, _, _| ());
    let header = begin(StartKind::Header, BlockId::new(1));
    let prefix = extend(&graph, &header, BlockId::new(1), 0);
    let rule = |at: usize| {
        let checked = check_partial(&graph, &dag, &prefix, BlockId::new(at));
        checked.err().map(|v| v.rule)
    };
    assert_eq!(rule(2), None);
    for at in [0, 1, 3, 4, 5] {
        assert_eq!(rule(at), Some(Rule::Regeneration), "block {at}");
    }
}
