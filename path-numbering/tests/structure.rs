//! Structure graphs: the paper's example, and everything again by definition on random graphs and walks.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trodden_numbering::checker::{CheckOptions, check_graph};
use trodden_numbering::generate::{self, Choices};
use trodden_numbering::structure::{Node, Structure, Walker};
use trodden_numbering::{
    BlockId, EdgeRef, EdgeWeights, FlowGraph, NumberingError, NumberingOptions, PathDag, SimpleGraph,
};

/// SPP figure 1; block 0 is not used, so that the blocks have the paper's numbers. (The reader starts at
/// block 1.)
fn example() -> SimpleGraph {
    let edges = [(1, 2), (2, 3), (3, 4), (3, 6), (4, 3), (4, 5), (6, 2), (6, 7)];
    let mut successors = vec![Vec::new(); 8];
    for (from, to) in edges {
        successors[from].push(BlockId::new(to));
    }
    SimpleGraph::from_parts(BlockId::new(1), successors, Vec::new())
}

fn structure(graph: &SimpleGraph) -> Structure {
    Structure::build(graph, &EdgeWeights::uniform(graph), &NumberingOptions::default()).unwrap()
}

/// The paths of a graph by their text.
fn paths(structure: &Structure, graph: usize) -> BTreeMap<String, u64> {
    let of = &structure.graphs()[graph];
    (0..of.dag().num_paths())
        .map(|number| (of.path(number).unwrap().to_string(), number))
        .collect()
}

/// SPP figure 7: all 14 paths, and their global counts as printed.
#[test]
fn figure_7() {
    let structure = structure(&example());
    // Our names say where a loop is left to; the paper's X2 of path 6 leads to block 5, that of path 7 to
    // block 7.
    let figure: [&[(&str, u64, &str)]; 3] = [
        &[("E1-1-L1-7", 100, "100.0"), ("E1-1-L1-5", 0, "0.0")],
        &[
            ("E2-2-L2-X5", 0, "0.0"),
            ("E2-2-L2-6-X7", 50, "98.0"),
            ("E2-2-L2-6-(2)", 1, "2.0"),
            ("(2)-2-L2-X5", 0, "0.0"),
            ("(2)-2-L2-6-X7", 1, "2.0"),
            ("(2)-2-L2-6-(2)", 48, "94.1"),
        ],
        &[
            ("E3-3-4-X5", 0, "0.0"),
            ("E3-3-4-(3)", 2, "6.8"),
            ("E3-3-X6", 56, "189.3"),
            ("(3)-3-4-X5", 0, "0.0"),
            ("(3)-3-4-(3)", 40, "135.2"),
            ("(3)-3-X6", 2, "6.8"),
        ],
    ];
    assert_eq!(structure.graphs().len(), 3);
    assert_eq!(structure.num_paths(), 14);
    let mut local = Vec::new();
    for (graph, rows) in figure.iter().enumerate() {
        let numbers = paths(&structure, graph);
        let expected: Vec<&str> = rows.iter().map(|r| r.0).collect();
        let mut found: Vec<&str> = numbers.keys().map(String::as_str).collect();
        found.sort_by_key(|path| expected.iter().position(|e| e == path));
        assert_eq!(found, expected);
        local.push(
            rows.iter()
                .map(|(path, count, _)| (numbers[*path], *count))
                .collect(),
        );
    }
    let global = structure.global(&local).unwrap();
    for (graph, rows) in figure.iter().enumerate() {
        let numbers = paths(&structure, graph);
        for (path, _, printed) in *rows {
            assert_eq!(
                &format!("{:.1}", global[graph][&numbers[*path]]),
                printed,
                "{path}"
            );
        }
    }
    // The figure's total, made of the numbers before they were rounded.
    let total: f64 = global.iter().flat_map(|g| g.values()).sum();
    assert_eq!(format!("{total:.1}"), "634.1");
}

#[test]
fn global_counts_refuse_what_does_not_fit() {
    let structure = structure(&example());
    let nothing = BTreeMap::new();
    assert_eq!(
        structure
            .global(std::slice::from_ref(&nothing))
            .unwrap_err()
            .to_string(),
        "counts of 1 graphs for a method with 3"
    );
    let foreign = BTreeMap::from([(99, 1)]);
    assert_eq!(
        structure
            .global(&[nothing.clone(), foreign, nothing])
            .unwrap_err()
            .to_string(),
        "structure graph 1: path number 99 is not below the number of paths, 6"
    );
}

/// A step of an activation.
#[derive(Clone, Copy, Debug)]
enum Step {
    Follow(EdgeRef),
    Handler(BlockId),
    Exit(BlockId),
}

fn random_walk(graph: &SimpleGraph, choices: &mut Choices<'_>) -> Vec<Step> {
    let mut at = graph.entry();
    let mut steps = Vec::new();
    while steps.len() < 200 && !choices.is_empty() {
        let handlers = graph.extra_starts();
        let successors = graph.successors(at);
        if !handlers.is_empty() && choices.below(12) == 0 {
            at = handlers[choices.below(handlers.len())];
            steps.push(Step::Handler(at));
        } else if successors.is_empty() {
            steps.push(Step::Exit(at));
            break;
        } else {
            let index = choices.below(successors.len());
            steps.push(Step::Follow(EdgeRef {
                from: at,
                index: index as u32,
            }));
            at = successors[index];
        }
    }
    steps
}

/// The paths of one graph that a walk completes, by definition.
fn by_definition(structure: &Structure, graph: &SimpleGraph, index: usize, steps: &[Step]) -> Vec<Vec<Node>> {
    let inside = |block: BlockId| structure.graphs_around(block).contains(&index);
    let node = |block: BlockId| {
        let around = structure.graphs_around(block);
        match around.iter().skip_while(|&&g| g != index).nth(1) {
            Some(&inner) => Node::Loop(inner),
            None => Node::Block(block),
        }
    };
    let header = structure.graphs()[index].header();
    let entry = graph.entry();
    let mut path = inside(entry).then(|| vec![Node::Enter(entry), node(entry)]);
    let mut paths = Vec::new();
    for step in steps {
        match *step {
            Step::Follow(edge) => {
                let to = graph.successors(edge.from)[edge.index as usize];
                if !inside(edge.from) {
                    if inside(to) {
                        path = Some(vec![Node::Enter(to), node(to)]);
                    }
                    continue;
                }
                // No path is in progress if the walk came to this loop by a handler outside.
                let Some(nodes) = &mut path else {
                    panic!("in a loop without having entered it")
                };
                if Some(to) == header {
                    nodes.push(Node::Back(to));
                    paths.extend(path.replace(vec![Node::Again(to), node(to)]));
                } else if !inside(to) {
                    nodes.push(Node::Leave(to));
                    paths.extend(path.take());
                } else if node(edge.from) != node(to) || node(to) == Node::Block(to) {
                    nodes.push(node(to));
                }
            }
            Step::Handler(to) => path = inside(to).then(|| vec![node(to)]),
            Step::Exit(_) => paths.extend(path.take()),
        }
    }
    paths
}

/// The same from the registers, with the pieces of cut paths joined again.
fn by_registers(structure: &Structure, graph: &SimpleGraph, steps: &[Step]) -> Vec<Vec<Vec<Node>>> {
    let mut paths = vec![Vec::new(); structure.graphs().len()];
    let mut cut: Vec<Vec<Node>> = paths.iter().map(|_| Vec::new()).collect();
    let mut walker = Walker::new(structure, graph);
    let mut ended = Vec::new();
    walker.enter(|graph, number| ended.push((graph, number)));
    for step in std::iter::once(None).chain(steps.iter().map(Some)) {
        let end = |graph, number| ended.push((graph, number));
        match step {
            Some(Step::Follow(edge)) => walker.follow(*edge, end),
            Some(Step::Handler(block)) => walker.handler(*block, end),
            Some(Step::Exit(block)) => walker.exit(*block, end),
            None => {}
        }
        if let Some(Step::Handler(_)) = step {
            cut.iter_mut().for_each(Vec::clear);
        }
        for (graph, number) in ended.drain(..) {
            let path = structure.graphs()[graph].path(number).unwrap();
            cut[graph].extend(&path.nodes);
            if path.cut.is_none() {
                paths[graph].push(std::mem::take(&mut cut[graph]));
            }
        }
    }
    paths
}

/// Which blocks each block reaches within `region` without an edge to `header`, in one step or more.
fn reaches(
    graph: &SimpleGraph,
    region: &[BlockId],
    header: Option<BlockId>,
) -> BTreeMap<BlockId, Vec<BlockId>> {
    let all = |from: BlockId| {
        let mut found: Vec<BlockId> = Vec::new();
        let mut work = vec![from];
        while let Some(at) = work.pop() {
            for &to in graph.successors(at) {
                if Some(to) != header && region.contains(&to) && !found.contains(&to) {
                    found.push(to);
                    work.push(to);
                }
            }
        }
        found
    };
    region.iter().map(|&block| (block, all(block))).collect()
}

/// Loops are exactly the blocks that are on a common cycle, at every level.
fn loops_are_cycles(structure: &Structure, graph: &SimpleGraph) {
    let blocks: Vec<BlockId> = (0..graph.num_blocks()).map(BlockId::new).collect();
    for (index, of) in structure.graphs().iter().enumerate() {
        let around = |block: &BlockId| structure.graphs_around(*block);
        let region: Vec<BlockId> = blocks
            .iter()
            .copied()
            .filter(|b| around(b).contains(&index))
            .collect();
        assert!(!region.is_empty());
        assert!(of.header().is_none_or(|h| structure.graph_of(h) == Some(index)));
        let reaches = reaches(graph, &region, of.header());
        for a in &region {
            let inner = |b: &BlockId| around(b).into_iter().skip_while(|&g| g != index).nth(1);
            assert_eq!(
                inner(a).is_some(),
                reaches[a].contains(a),
                "{a:?} on a cycle of graph {index}"
            );
            for b in &region {
                if a != b {
                    let together = inner(a).is_some() && inner(a) == inner(b);
                    let cycle = reaches[a].contains(b) && reaches[b].contains(a);
                    assert_eq!(together, cycle, "{a:?} and {b:?} in graph {index}");
                }
            }
        }
    }
}

fn check(graph: &SimpleGraph, limit: u64, walk: &[u8]) -> Result<(), TestCaseError> {
    let options = NumberingOptions { limit, smart: true };
    let structure = match Structure::build(graph, &EdgeWeights::uniform(graph), &options) {
        Ok(structure) => structure,
        // Some graphs have more edges than that.
        Err(NumberingError::LimitTooLow { .. }) if limit < 100 => return Ok(()),
        Err(e) => panic!("{e}"),
    };
    loops_are_cycles(&structure, graph);
    for of in structure.graphs() {
        let uniform = EdgeWeights::uniform(of.graph());
        prop_assert_eq!(
            check_graph(of.graph(), &uniform, limit, &CheckOptions::default()),
            Ok(())
        );
    }
    let steps = random_walk(graph, &mut Choices::new(walk));
    let registers = by_registers(&structure, graph, &steps);
    for (index, found) in registers.iter().enumerate() {
        prop_assert_eq!(
            found,
            &by_definition(&structure, graph, index, &steps),
            "graph {}",
            index
        );
    }
    Ok(())
}

/// Follows whole activations through the structure graphs and the Ball-Larus paths of a graph, numbered with
/// a limit each, and maps the ones to the others.
fn mapped(graph: &SimpleGraph, limits: [u64; 2], walks: &[Vec<u8>]) -> Result<(), TestCaseError> {
    let weights = EdgeWeights::uniform(graph);
    let [structural, plain] = limits.map(|limit| NumberingOptions { limit, smart: true });
    let structure = Structure::build(graph, &weights, &structural);
    let (structure, dag) = match (structure, PathDag::build(graph, &weights, &plain)) {
        (Ok(structure), Ok(dag)) => (structure, dag),
        // Some graphs have more edges than that.
        (Err(NumberingError::LimitTooLow { .. }), _) | (_, Err(NumberingError::LimitTooLow { .. }))
            if limits.iter().any(|&limit| limit < 100) =>
        {
            return Ok(());
        }
        (structure, dag) => panic!("{:?} {:?}", structure.err(), dag.err()),
    };
    let mut local = vec![BTreeMap::new(); structure.graphs().len()];
    let mut followed: BTreeMap<EdgeRef, f64> = BTreeMap::new();
    let mut ball_larus: BTreeMap<u64, f64> = BTreeMap::new();
    for walk in walks {
        let steps = random_walk(graph, &mut Choices::new(walk));
        if steps.iter().any(|s| matches!(s, Step::Handler(_))) || !matches!(steps.last(), Some(Step::Exit(_)))
        {
            continue;
        }
        let mut walker = Walker::new(&structure, graph);
        let mut count = |graph: usize, number: u64| *local[graph].entry(number).or_insert(0) += 1;
        walker.enter(&mut count);
        let mut register = dag.starts()[0].value;
        let arrive = |at: BlockId, register: &mut u64, paths: &mut BTreeMap<u64, f64>| {
            if let Some(restart) = dag.restart(at) {
                *paths.entry(*register).or_default() += 1.0;
                *register = restart.value;
            }
        };
        arrive(graph.entry(), &mut register, &mut ball_larus);
        for step in steps {
            match step {
                Step::Follow(edge) => {
                    walker.follow(edge, &mut count);
                    *followed.entry(edge).or_default() += 1.0;
                    register += dag.value(edge);
                    arrive(
                        graph.successors(edge.from)[edge.index as usize],
                        &mut register,
                        &mut ball_larus,
                    );
                }
                Step::Exit(block) => {
                    walker.exit(block, &mut count);
                    *ball_larus.entry(register).or_default() += 1.0;
                }
                Step::Handler(_) => unreachable!(),
            }
        }
    }
    let global = structure.global(&local).unwrap();
    let mapped = structure.ball_larus(graph, &dag, &global).unwrap();
    // Ways of which there is one in a million are not kept.
    let total: f64 = ball_larus.values().sum();
    prop_assert!(
        mapped.unmapped <= 1e-3 * total,
        "{} unmapped of {total}",
        mapped.unmapped
    );
    let near = |found: f64, expected: f64| (found - expected).abs() <= mapped.unmapped + 1e-6;
    let found: f64 = mapped.paths.values().sum();
    prop_assert!(near(found, total), "{found} paths for {total}");
    let mut edges: BTreeMap<EdgeRef, f64> = BTreeMap::new();
    for (&number, &weight) in &mapped.paths {
        for edge in dag.regenerate(graph, number).unwrap().edges {
            *edges.entry(edge).or_default() += weight;
        }
    }
    for edge in edges.keys().chain(followed.keys()) {
        let [found, times] = [&edges, &followed].map(|all| all.get(edge).copied().unwrap_or(0.0));
        prop_assert!(near(found, times), "{edge:?}: {found} for {times}");
    }
    // Exact where nothing is between a loop and the path's end: all blocks are in the loop that the path
    // begins in, and in none that is entered elsewhere than at its header.
    let inside = |block: BlockId, around: &[usize]| structure.graphs_around(block).starts_with(around);
    for (&number, &times) in &ball_larus {
        let path = dag.regenerate(graph, number).unwrap();
        let around = structure.graphs_around(path.first);
        let same = |block: &BlockId| structure.graphs_around(*block) == around;
        let to = path
            .edges
            .last()
            .map(|e| graph.successors(e.from)[e.index as usize]);
        let is_cut = limits.iter().any(|&limit| limit < 100);
        if !is_cut && path.blocks(graph).iter().all(same) && to.is_none_or(|to| inside(to, &around)) {
            let found = mapped.paths.get(&number).copied().unwrap_or(0.0);
            prop_assert!(near(found, times), "path {number}: {found} for {times}");
        }
    }
    Ok(())
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_graph(bytes in bytes(160), walk in bytes(300)) {
        check(&generate::graph(&mut Choices::new(&bytes)), i32::MAX as u64, &walk)?;
    }

    #[test]
    fn wild_graphs(bytes in bytes(160), walk in bytes(300)) {
        check(&generate::wild(&mut Choices::new(&bytes)), i32::MAX as u64, &walk)?;
    }

    #[test]
    fn with_cuts(bytes in bytes(160), walk in bytes(300), limit in 64u64..100) {
        check(&generate::graph(&mut Choices::new(&bytes)), limit, &walk)?;
    }

    /// Mapped to Ball-Larus paths, the counts of whole activations take every edge as often as the
    /// activations did, and paths that no loop is left on are counted exactly.
    #[test]
    fn mapped_paths_keep_the_frequencies_of_edges(
        bytes in bytes(160),
        walks in prop::collection::vec(bytes(200), 1..6),
    ) {
        let graph = generate::structured(&mut Choices::new(&bytes), 0);
        mapped(&graph, [i32::MAX as u64; 2], &walks)?;
    }

    /// As above, for loops that are entered at several places, where Ball-Larus paths run on into the loop.
    #[test]
    fn mapped_paths_of_any_graph(bytes in bytes(160), walks in prop::collection::vec(bytes(200), 1..6)) {
        let graph = generate::graph(&mut Choices::new(&bytes));
        mapped(&graph, [i32::MAX as u64; 2], &walks)?;
    }

    #[test]
    fn mapped_paths_of_wild_graphs(bytes in bytes(160), walks in prop::collection::vec(bytes(200), 1..6)) {
        let graph = generate::wild(&mut Choices::new(&bytes));
        mapped(&graph, [i32::MAX as u64; 2], &walks)?;
    }

    /// As above, for paths that are cut, of either kind and of both.
    #[test]
    fn mapped_paths_with_cuts(
        bytes in bytes(160),
        walks in prop::collection::vec(bytes(200), 1..6),
        limits in [64u64..100, 64u64..100],
        cut in 0..3,
    ) {
        let graph = generate::graph(&mut Choices::new(&bytes));
        let many = i32::MAX as u64;
        let limits = match cut {
            0 => limits,
            1 => [limits[0], many],
            _ => [many, limits[1]],
        };
        mapped(&graph, limits, &walks)?;
    }

    /// Counted over the same whole run, local counts are global ones: every coefficient is 1.
    #[test]
    fn whole_windows_are_global(bytes in bytes(160), walks in prop::collection::vec(bytes(200), 1..6)) {
        let graph = generate::structured(&mut Choices::new(&bytes), 2);
        let structure = structure(&graph);
        let mut local = vec![BTreeMap::new(); structure.graphs().len()];
        for walk in &walks {
            let steps = random_walk(&graph, &mut Choices::new(walk));
            // Only whole activations without exceptions: others leave paths unfinished.
            if steps.iter().any(|s| matches!(s, Step::Handler(_))) || !matches!(steps.last(), Some(Step::Exit(_))) {
                continue;
            }
            let mut walker = Walker::new(&structure, &graph);
            let mut count = |graph: usize, number: u64| *local[graph].entry(number).or_insert(0) += 1;
            walker.enter(&mut count);
            for step in steps {
                match step {
                    Step::Follow(edge) => walker.follow(edge, &mut count),
                    Step::Exit(block) => walker.exit(block, &mut count),
                    Step::Handler(_) => unreachable!(),
                }
            }
        }
        let global = structure.global(&local).unwrap();
        for (local, global) in local.iter().zip(&global) {
            for (number, &count) in local {
                prop_assert_eq!(global[number], count as f64);
            }
        }
    }
}
