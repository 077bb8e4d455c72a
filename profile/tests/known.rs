//! What is known where probes leave loops with a single path out, against runs that are followed edge by edge.

use std::collections::BTreeMap;

use crate::common::method_over;
use proptest::prelude::*;
use trodden_numbering::generate::{self, Choices};
use trodden_numbering::{BlockId, EdgeOp, EdgeRef, EdgeWeights, FlowGraph, Plan, Update};
use trodden_profile::{EdgeProfile, ExecutedMethod, MethodCounts, MethodMap};

/// A run of a method, as the edges that it followed.
type Run = Vec<EdgeRef>;

/// A run that ends at an exit; `None` if it found none in time.
fn run(map: &MethodMap, choices: &mut Choices<'_>, most: usize) -> Option<Run> {
    let mut at = map.graph.entry();
    let mut run = Run::new();
    while run.len() < most {
        let successors = map.graph.successors(at);
        if successors.is_empty() {
            return Some(run);
        }
        let index = choices.below(successors.len());
        run.push(EdgeRef {
            from: at,
            index: index as u32,
        });
        at = successors[index];
    }
    None
}

/// What the probes of a plan count in a run: the path register is followed step by step.
fn counted(map: &MethodMap, plan: &Plan, run: &Run) -> MethodCounts {
    let mut paths: BTreeMap<u64, u64> = BTreeMap::new();
    let mut register = 0;
    let mut step = |op: EdgeOp, register: &mut u64| {
        match op.update {
            Update::Keep => {}
            Update::Add(value) => *register += value,
            Update::Set(value) => *register = value,
            Update::Run(program) => panic!("program {program} in a plan for one register"),
        }
        if let Some(next) = op.restart {
            *paths.entry(*register).or_default() += 1;
            *register = next;
        }
    };
    step(plan.entry, &mut register);
    for &edge in run {
        step(plan.op(edge), &mut register);
    }
    *paths.entry(register).or_default() += 1;
    assert!(paths.keys().all(|number| *number < map.num_paths()));
    MethodCounts {
        paths,
        ..MethodCounts::default()
    }
}

/// How often each edge was followed: counted one by one.
fn followed(map: &MethodMap, run: &Run) -> Vec<Vec<u64>> {
    let blocks = (0..map.graph.num_blocks()).map(BlockId::new);
    let mut times: Vec<Vec<u64>> = blocks.map(|b| vec![0; map.graph.successors(b).len()]).collect();
    for edge in run {
        times[edge.from.index()][edge.index as usize] += 1;
    }
    times
}

/// How often each block ran: counted one by one.
fn visits(map: &MethodMap, run: &Run) -> Vec<u64> {
    let mut times = vec![0; map.graph.num_blocks()];
    times[map.graph.entry().index()] += 1;
    for edge in run {
        times[map.graph.successors(edge.from)[edge.index as usize].index()] += 1;
    }
    times
}

/// The method without probes in its loops with a single path, and the plan that leaves them out.
fn skipping(bytes: &[u8], limit: u64) -> Option<(MethodMap, Plan)> {
    let mut choices = Choices::new(bytes);
    let graph = generate::graph(&mut choices);
    let weights = generate::weights(&graph, &mut choices);
    let mut map = method_over("m", graph, &weights, limit)?;
    let plan = Plan::new(&map.graph, &map.dag, true);
    map.unobserved = plan.silent.iter().map(|silent| silent.path).collect();
    map.unobserved.sort_unstable();
    Some((map, plan))
}

/// The same run with one more iteration of a loop that is left out, right where the run first comes to its header.
fn with_one_more(map: &MethodMap, run: &Run, number: u64) -> Option<Run> {
    let path = map.dag.regenerate(&map.graph, number).unwrap();
    let at = if map.graph.entry() == path.first {
        0
    } else {
        let arrives = |edge: &EdgeRef| map.graph.successors(edge.from)[edge.index as usize] == path.first;
        1 + run.iter().position(arrives)?
    };
    let mut longer = run.clone();
    longer.splice(at..at, path.edges);
    Some(longer)
}

fn check(bytes: &[u8], turns: &[u8], limit: u64) -> Result<[u32; 2], TestCaseError> {
    let Some((map, plan)) = skipping(bytes, limit) else {
        return Ok([0; 2]);
    };
    let mut choices = Choices::new(turns);
    let mut found = [0; 2];
    // A run may take no choice at all.
    for _ in 0..20 {
        let Some(run) = run(&map, &mut choices, 400) else {
            break;
        };
        let counts = counted(&map, &plan, &run);
        let known = map.known_blocks(&counts);
        let (truth, shown) = (followed(&map, &run), EdgeProfile::of(&map, &counts));
        prop_assert_eq!(shown.unknown, 0);
        let ran = ExecutedMethod::new(&map, &counts);
        prop_assert_eq!(&ran.edges, &shown);
        prop_assert_eq!(&ran.known_blocks, &known);
        if map.unobserved.is_empty() {
            let visits = visits(&map, &run);
            prop_assert_eq!(ran.entries, 1);
            prop_assert_eq!(&ran.edges.blocks, &visits);
            let work = (0..)
                .zip(&visits)
                .map(|(block, times)| times * map.instructions(block));
            prop_assert_eq!(ran.work, work.sum::<u64>());
        }
        // What is called known is right.
        for (edge, _) in map.graph.edges() {
            let (block, index) = (edge.from.index(), edge.index as usize);
            if known[block] {
                prop_assert_eq!(&shown.edges[block], &truth[block]);
            }
            if map.known_edge(&known, edge) {
                prop_assert_eq!(shown.edges[block][index], truth[block][index]);
            }
        }
        found[0] += 1;
        // What is called unknown cannot be known: another run has the same counts, and other frequencies there.
        for &number in &map.unobserved {
            let Some(other) = with_one_more(&map, &run, number) else {
                continue;
            };
            prop_assert_eq!(&counted(&map, &plan, &other).paths, &counts.paths);
            let (before, after) = (followed(&map, &run), followed(&map, &other));
            for block in map.dag.regenerate(&map.graph, number).unwrap().blocks(&map.graph) {
                prop_assert_ne!(&before[block.index()], &after[block.index()]);
                prop_assert!(!known[block.index()]);
                found[1] += 1;
            }
        }
        // Nothing else is called unknown.
        let unobserved = map.unobserved.iter().flat_map(|&number| {
            let path = map.dag.regenerate(&map.graph, number).unwrap();
            path.blocks(&map.graph)
        });
        let unobserved: Vec<BlockId> = unobserved.collect();
        for (block, known) in known.iter().enumerate() {
            prop_assert!(*known || unobserved.contains(&BlockId::new(block)));
        }
    }
    Ok(found)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn known_is_right_and_unknown_is_unknowable(
        bytes in prop::collection::vec(any::<u8>(), 0..120),
        turns in prop::collection::vec(any::<u8>(), 1..400),
        limit in prop_oneof![Just(i32::MAX as u64), 2u64..40],
    ) {
        check(&bytes, &turns, limit)?;
    }
}

/// The property is worth something only if there are such loops, and runs through them.
#[test]
fn loops_are_left_out_and_run_through() {
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let bytes = prop::collection::vec(any::<u8>(), 60..120);
    let (mut runs, mut unknown) = (0, 0);
    for _ in 0..500 {
        let graph = bytes.new_tree(&mut runner).unwrap().current();
        let turns = bytes.new_tree(&mut runner).unwrap().current();
        let [some, none] = check(&graph, &turns, i32::MAX as u64).unwrap();
        runs += some;
        unknown += none;
    }
    assert!(
        runs > 300 && unknown > 100,
        "{runs} runs, {unknown} unknown blocks"
    );
}

/// A loop that is left at its test, 0 -> 1 -> {2 -> 1, 3}: the counts hold one exit, whatever the number of iterations.
#[test]
fn a_loop_with_its_test_at_the_top() {
    let graph = trodden_numbering::SimpleGraph::new(4, &[(0, 1), (1, 2), (1, 3), (2, 1)]);
    let mut map = method_over("m", graph.clone(), &EdgeWeights::uniform(&graph), 100).unwrap();
    let plan = Plan::new(&map.graph, &map.dag, true);
    map.unobserved = plan.silent.iter().map(|silent| silent.path).collect();
    let edge = |from: usize, index: u32| EdgeRef {
        from: BlockId::new(from),
        index,
    };
    let mut run = vec![edge(0, 0)];
    (0..27).for_each(|_| run.extend([edge(1, 0), edge(2, 0)]));
    run.push(edge(1, 1));
    let counts = counted(&map, &plan, &run);
    let known = map.known_blocks(&counts);
    assert_eq!(known, [true, false, false, true]);
    // 27 of 28, which the counts show as 0 of 1.
    assert_eq!(EdgeProfile::of(&map, &counts).edges[1], [0, 1]);
    assert_eq!(followed(&map, &run)[1], [27, 1]);
    assert!(map.known_edge(&known, edge(1, 1)) && !map.known_edge(&known, edge(1, 0)));
    // A method that was never called has no branch whose share is wrong.
    assert_eq!(map.known_blocks(&MethodCounts::default()), [true; 4]);
}

/// Counts whose numbers name no path are in no sum but that of unknown ones.
#[test]
fn unreadable_counts_are_in_no_sum() {
    let graph = trodden_numbering::SimpleGraph::new(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    let map = method_over("m", graph.clone(), &EdgeWeights::uniform(&graph), 100).unwrap();
    let counts = |paths: &[(u64, u64)], partial: &[((u32, u64), u64)]| MethodCounts {
        paths: paths.iter().copied().collect(),
        partial: partial.iter().copied().collect(),
    };
    let good = counts(&[(0, 3)], &[]);
    let bad = counts(
        &[(0, 3), (map.num_paths(), 5)],
        &[((3, u64::MAX), 7), ((1, u64::MAX), 0)],
    );
    let [good, bad] = [good, bad].map(|counts| ExecutedMethod::new(&map, &counts));
    assert_eq!((good.edges.unknown, bad.edges.unknown), (0, 12));
    assert_eq!(
        (good.edges.edges, good.edges.blocks),
        (bad.edges.edges, bad.edges.blocks)
    );
    assert_eq!((good.entries, good.work), (bad.entries, bad.work));
    assert_eq!(good.entries, 3);
}
