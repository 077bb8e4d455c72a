//! The checker notices what it is there to notice: each test breaks one thing in a sound numbering.

use trodden_numbering::checker::{
    CheckOptions, Rule, Violation, check_dag, check_heaviest, check_plan, check_same_paths,
};
use trodden_numbering::{
    BlockId, EdgeOp, EdgeRef, EdgeWeights, EndCause, FlowGraph, NumberingOptions, PathDag, PathStart, Plan,
    SilentEdge, SimpleGraph, StartKind, Update,
};

/// 0 -> 1 (loop header) -> {2 -> 1, 3 -> 1, 4 exit}.
fn graph() -> SimpleGraph {
    SimpleGraph::new(5, &[(0, 1), (1, 2), (1, 3), (1, 4), (2, 1), (3, 1)])
}

type Parts = (Vec<Option<EndCause>>, Vec<Vec<u64>>, Vec<PathStart>);

fn parts(graph: &SimpleGraph) -> Parts {
    let dag = PathDag::build(graph, &EdgeWeights::uniform(graph), &NumberingOptions::default()).unwrap();
    let blocks = || (0..graph.num_blocks()).map(BlockId::new);
    (
        blocks().map(|b| dag.end_cause(b)).collect(),
        blocks().map(|b| dag.values(b).to_vec()).collect(),
        dag.starts().to_vec(),
    )
}

fn broken(change: impl FnOnce(&mut Parts)) -> Option<Rule> {
    let graph = graph();
    let mut parts = parts(&graph);
    change(&mut parts);
    let dag = PathDag::from_parts(parts.0, parts.1, parts.2);
    let found: Result<(), Violation> = check_dag(&graph, &dag, 100, &CheckOptions::default());
    found.err().map(|v| v.rule)
}

#[test]
fn sound_parts_pass() {
    assert_eq!(broken(|_| ()), None);
}

#[test]
fn missing_header() {
    assert_eq!(broken(|p| p.0[1] = None), Some(Rule::Ends));
}

#[test]
fn cut_called_header() {
    assert_eq!(broken(|p| p.0[3] = Some(EndCause::Header)), Some(Rule::Ends));
}

#[test]
fn cut_without_start() {
    assert_eq!(broken(|p| p.0[3] = Some(EndCause::Cut)), Some(Rule::Starts));
}

#[test]
fn start_of_the_wrong_kind() {
    assert_eq!(broken(|p| p.2[1].kind = StartKind::Handler), Some(Rule::Starts));
}

#[test]
fn overlapping_values() {
    assert_eq!(broken(|p| p.1[1][2] = p.1[1][1]), Some(Rule::Dense));
}

#[test]
fn gap_between_values() {
    assert_eq!(broken(|p| p.1[1][2] += 1), Some(Rule::Dense));
}

#[test]
fn wrong_start_value() {
    assert_eq!(broken(|p| p.2[1].value += 1), Some(Rule::Dense));
}

#[test]
fn limit() {
    let graph = graph();
    let dag = PathDag::build(
        &graph,
        &EdgeWeights::uniform(&graph),
        &NumberingOptions::default(),
    )
    .unwrap();
    let found = check_dag(&graph, &dag, dag.num_paths() - 1, &CheckOptions::default());
    assert_eq!(found.unwrap_err().rule, Rule::Limit);
}

#[test]
fn heavier_than_zero() {
    let graph = graph();
    let dag = PathDag::build(
        &graph,
        &EdgeWeights::uniform(&graph),
        &NumberingOptions::default(),
    )
    .unwrap();
    let mut weights = EdgeWeights::uniform(&graph);
    assert_eq!(check_heaviest(&graph, &weights, &dag), Ok(()));
    let edge = EdgeRef {
        from: BlockId::new(1),
        index: 2,
    };
    weights.set(edge, 2.0);
    assert_eq!(
        check_heaviest(&graph, &weights, &dag).unwrap_err().rule,
        Rule::Heaviest
    );
}

fn broken_plan(change: impl FnOnce(&mut Plan)) -> Option<Rule> {
    let graph = SimpleGraph::new(4, &[(0, 1), (1, 2), (1, 3), (2, 1)]).with_extra_starts(&[3]);
    let dag = PathDag::build(
        &graph,
        &EdgeWeights::uniform(&graph),
        &NumberingOptions::default(),
    )
    .unwrap();
    let mut plan = Plan::new(&graph, &dag, true);
    assert_eq!(plan.silent.len(), 1);
    change(&mut plan);
    check_plan(&graph, &dag, &plan, &CheckOptions::default())
        .err()
        .map(|v| v.rule)
}

#[test]
fn sound_plan_passes() {
    assert_eq!(broken_plan(|_| ()), None);
}

#[test]
fn plans_that_are_wrong_somewhere() {
    let changes: [fn(&mut Plan); 7] = [
        |p| p.entry.update = Update::Keep,
        |p| p.entry.restart = Some(7),
        |p| p.edges[0][0].restart = None,
        |p| p.edges[1][1] = EdgeOp::default(),
        |p| p.edges[2][0].restart = Some(1),
        |p| p.silent[0].path += 1,
        |p| p.extra_starts[0].1 = EdgeOp::default(),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        assert_eq!(broken_plan(change), Some(Rule::Placement), "change {i}");
    }
    let not_retreating = EdgeRef {
        from: BlockId::new(0),
        index: 0,
    };
    let silent = SilentEdge {
        edge: not_retreating,
        path: 0,
    };
    assert_eq!(broken_plan(|p| p.silent.push(silent)), Some(Rule::Placement));
}

/// Rules 2 and 6 cannot be broken past the rules before them by what a numbering says; `src/checker/tests.rs`
/// breaks them one by one. Placement looks at regeneration too.
#[test]
fn regeneration_while_a_plan_is_walked() {
    let graph = graph();
    let walked = |change: fn(&mut Parts)| {
        let mut parts = parts(&graph);
        change(&mut parts);
        let dag = PathDag::from_parts(parts.0, parts.1, parts.2);
        // The plan says what the numbering says, so that only the way back is wrong.
        let plan = Plan::new(&graph, &dag, false);
        let checked = check_plan(&graph, &dag, &plan, &CheckOptions::default());
        checked.err().map(|v| v.rule)
    };
    assert_eq!(walked(|_| ()), None);
    assert_eq!(walked(|p| p.1[1][2] = p.1[1][1]), Some(Rule::Regeneration));
    assert_eq!(walked(|p| p.1[1][1] += 5), Some(Rule::Regeneration));
    assert_eq!(walked(|p| p.2[1].paths = 1), Some(Rule::Regeneration));
}

/// A numbering and a changed one, compared in either order.
fn differ(options: &CheckOptions, change: impl FnOnce(&mut Parts)) -> Option<Rule> {
    let graph = graph();
    let sound = parts(&graph);
    let mut changed = sound.clone();
    change(&mut changed);
    let [a, b] = [sound, changed].map(|(ends, values, starts)| PathDag::from_parts(ends, values, starts));
    let rule = |a, b| {
        check_same_paths(&graph, a, b, options)
            .err()
            .map(|v: Violation| v.rule)
    };
    assert_eq!(rule(&a, &b), rule(&b, &a));
    rule(&a, &b)
}

#[test]
fn other_paths() {
    let options = CheckOptions::default();
    assert_eq!(differ(&options, |_| ()), None);
    // Other numbers for the same paths.
    assert_eq!(differ(&options, |p| p.1[1].rotate_left(1)), None);
    // One path has two numbers, so another has none.
    assert_eq!(differ(&options, |p| p.1[1][2] = p.1[1][1]), Some(Rule::SamePaths));
    // Paths that start somewhere else, or as something else.
    assert_eq!(
        differ(&options, |p| p.2[0].block = BlockId::new(2)),
        Some(Rule::SamePaths)
    );
    assert_eq!(
        differ(&options, |p| p.2[1].kind = StartKind::Cut),
        Some(Rule::SamePaths)
    );
    // One path fewer, one more: reported even where they are too many to enumerate.
    for few in [
        &options,
        &CheckOptions {
            enumerate: 1,
            ..options
        },
    ] {
        assert_eq!(
            differ(few, |p| p.2.iter_mut().for_each(|s| s.paths -= 1)),
            Some(Rule::SamePaths)
        );
        assert_eq!(
            differ(few, |p| p.2.iter_mut().for_each(|s| s.paths += 1)),
            Some(Rule::SamePaths)
        );
    }
    // Paths that end elsewhere are not compared.
    assert_eq!(differ(&options, |p| p.0[3] = Some(EndCause::Cut)), None);
}
