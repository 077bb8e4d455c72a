//! Walks over random graphs, told as HotSpot tells them, against sums of edge values; and what HotSpot keeps
//! to itself.

use std::sync::Arc;

use trodden_instrumenter::MethodId;
use trodden_numbering::generate::{Choices, graph};
use trodden_numbering::{BlockId, EdgeWeights, FlowGraph, NumberingOptions, PathDag, SimpleGraph, StartKind};
use trodden_profile::events::{Event, Word};
use trodden_profile::{BlockExit, BlockInfo, ClassMap, MethodMap};

use super::follow::{Follower, Route};

const METHOD: u32 = 5;
/// Where an activation's frame is; its callee's is lower.
const FRAME: usize = 1000;
/// Bytes of a block. It has instructions at the first three.
const SIZE: u32 = 4;

/// A random generator that needs no crate.
struct Lots(u64);

impl Lots {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

fn exit(graph: &SimpleGraph, block: usize) -> BlockExit {
    match graph.successors(BlockId::new(block)) {
        [] if block.is_multiple_of(2) => BlockExit::Return,
        [] => BlockExit::Throw,
        [next] if next.index() == block + 1 => BlockExit::FallThrough,
        [_] => BlockExit::Goto,
        [_, _] => BlockExit::Branch,
        _ => BlockExit::Switch,
    }
}

fn class(graph: SimpleGraph) -> Arc<ClassMap> {
    let options = NumberingOptions {
        limit: 1 << 20,
        smart: true,
    };
    let dag = PathDag::build(&graph, &EdgeWeights::uniform(&graph), &options).unwrap();
    let blocks = (0..graph.num_blocks()).map(|block| BlockInfo {
        start: block as u32 * SIZE,
        end: (block as u32 + 1) * SIZE,
        last: block as u32 * SIZE + 2,
        exit: exit(&graph, block),
        labels: Vec::new().into(),
    });
    let method = MethodMap {
        name: "m".to_owned(),
        descriptor: "()V".to_owned(),
        code_length: graph.num_blocks() as u32 * SIZE,
        blocks: blocks.collect(),
        graph,
        dag,
        lines: Vec::new(),
        inlined: Vec::new(),
        unobserved: Vec::new(),
        shape: None,
    };
    Arc::new(ClassMap {
        name: "C".to_owned(),
        sha256: [0; 32],
        source_file: None,
        methods: vec![method],
    })
}

fn route(class: &Arc<ClassMap>) -> Arc<Route> {
    Arc::new(Route::new(MethodId(METHOD), Arc::clone(class), 0, false))
}

/// The paths of a walk, by the P-DAG's values alone.
struct Sums<'c> {
    map: &'c MethodMap,
    sum: Option<u64>,
    paths: Vec<u64>,
}

impl Sums<'_> {
    /// A path that has come this far arrives at a block.
    fn arrive(&mut self, sum: Option<u64>, block: BlockId) {
        self.sum = sum;
        if self.map.dag.end_cause(block).is_some() {
            self.paths.extend(sum);
            self.sum = self.map.dag.restart(block).map(|start| start.value);
        }
    }
}

#[test]
fn walks_end_the_paths_that_sums_of_edges_end() {
    let (mut told, mut hidden, mut unknown) = (0, 0, 0);
    for seed in 0..4000 {
        let mut lots = Lots(seed);
        let bytes: Vec<u8> = (0..lots.below(60)).map(|_| lots.below(256) as u8).collect();
        let class = class(graph(&mut Choices::new(&bytes)));
        let (map, route) = (&class.methods[0], route(&class));
        let handlers = map.graph.extra_starts();
        let mut follower = Follower::default();
        follower.restart(false, false);
        let mut found = Vec::new();
        let mut tell = |word: Word| match word.decode() {
            Ok(Event::PathEnd { method: METHOD, path }) => found.push(u64::from(path)),
            other => panic!("{other:?}"),
        };
        let mut sums = Sums {
            map,
            sum: None,
            paths: Vec::new(),
        };
        let mut block = map.graph.entry();
        follower.enter(&route, FRAME, &mut tell);
        sums.arrive(Some(map.dag.starts()[0].value), block);
        let mut is_hidden = false;
        for turn in 0.. {
            let first = block.index() as u32 * SIZE;
            if !is_hidden {
                follower.step(&route, first, FRAME, &mut tell);
            }
            is_hidden = false;
            follower.step(&route, first + 1, FRAME, &mut tell);
            if turn == 100 {
                break;
            }
            if !handlers.is_empty() && lots.below(8) == 0 {
                let handler = handlers[lots.below(handlers.len())];
                let start =
                    (map.dag.starts().iter()).find(|s| s.block == handler && s.kind == StartKind::Handler);
                // From a block that may run on into the handler nobody knows which of the two it was.
                let runs_on = map.blocks[block.index()].exit == BlockExit::FallThrough
                    && map.graph.successors(block)[0] == handler;
                sums.arrive(start.filter(|_| !runs_on).map(|start| start.value), handler);
                block = handler;
                continue;
            }
            follower.step(&route, first + 2, FRAME, &mut tell);
            let successors = map.graph.successors(block);
            if successors.is_empty() {
                sums.paths.extend(sums.sum);
                break;
            }
            let index = lots.below(successors.len());
            let next = successors[index];
            let runs_on = map.blocks[block.index()].exit == BlockExit::FallThrough;
            let twice = successors.iter().filter(|&&other| other == next).count() > 1;
            let sum = sums.sum.map(|sum| sum + map.dag.values(block)[index]);
            let is_known = !(twice || runs_on && handlers.contains(&next));
            unknown += u32::from(!is_known);
            sums.arrive(sum.filter(|_| is_known), next);
            is_hidden = runs_on && lots.below(2) == 0;
            hidden += u32::from(is_hidden);
            block = next;
        }
        assert_eq!(found, sums.paths, "seed {seed}: {map:#?}");
        told += found.len();
    }
    // There was something to compare.
    assert!(
        told > 10_000 && hidden > 500 && unknown > 100,
        "{told} {hidden} {unknown}"
    );
}

/// Entry, which decides, and two blocks that return.
fn decides() -> Arc<ClassMap> {
    class(SimpleGraph::new(3, &[(0, 1), (0, 2)]))
}

fn words(activations: bool, run: impl FnOnce(&mut Follower, &mut dyn FnMut(Word))) -> Vec<Event> {
    let mut follower = Follower::default();
    follower.restart(activations, false);
    let mut words = Vec::new();
    run(&mut follower, &mut |word| words.push(word.decode().unwrap()));
    words
}

/// One activation returns into another of its method, which returns at once: HotSpot keeps that step.
#[test]
fn a_step_at_the_same_instruction_is_not_told_twice() {
    let (route, caller) = (route(&decides()), route(&decides()));
    let told = words(true, |follower, mut tell| {
        for frame in [FRAME - 1, FRAME - 2, FRAME - 3] {
            follower.enter(&route, frame, &mut tell);
            for bci in [0, 1, 2, 2 * SIZE, 2 * SIZE + 1] {
                follower.step(&route, bci, frame, &mut tell);
            }
        }
        follower.step(&route, 2 * SIZE + 2, FRAME - 3, &mut tell);
        follower.step(&caller, 1, FRAME, &mut tell);
    });
    let last = |event: &&Event| matches!(event, Event::LastPath { .. });
    assert_eq!(told.len(), 7, "{told:?}");
    assert_eq!(told.iter().filter(last).count(), 3, "{told:?}");
    assert!(told[3] == told[4] && told[4] == told[5], "{told:?}");
}

/// What threw in between was another method: the outer activation ended by an exception, without a path.
#[test]
fn nothing_is_kept_if_another_method_had_steps() {
    let (route, caller) = (route(&decides()), route(&decides()));
    let told = words(true, |follower, mut tell| {
        for frame in [FRAME - 1, FRAME - 2] {
            follower.enter(&route, frame, &mut tell);
            for bci in [0, 1, 2, 2 * SIZE, 2 * SIZE + 1] {
                follower.step(&route, bci, frame, &mut tell);
            }
        }
        follower.step(&route, 2 * SIZE + 2, FRAME - 2, &mut tell);
        follower.elsewhere();
        follower.step(&caller, 1, FRAME, &mut tell);
    });
    let last = |event: &&Event| matches!(event, Event::LastPath { .. });
    assert_eq!(told.iter().filter(last).count(), 1, "{told:?}");
    assert!(matches!(told[3], Event::Exit { .. }), "{told:?}");
}

/// By an exception it ends without a path, and its frame says which activation has caught it.
#[test]
fn an_exception_ends_no_path() {
    let route = route(&decides());
    let told = words(true, |follower, mut tell| {
        for frame in [FRAME, FRAME - 1, FRAME - 2] {
            follower.enter(&route, frame, &mut tell);
            follower.step(&route, 0, frame, &mut tell);
        }
        follower.step(&route, 1, FRAME, &mut tell);
        // A new activation has the place of one that has ended.
        follower.enter(&route, FRAME - 1, &mut tell);
        follower.enter(&route, FRAME - 1, &mut tell);
    });
    let exits: Vec<bool> = told
        .iter()
        .map(|event| matches!(event, Event::Exit { .. }))
        .collect();
    assert_eq!(
        exits,
        [false, false, false, true, true, false, true, false],
        "{told:?}"
    );
    assert!(
        exits
            .iter()
            .zip(&told)
            .all(|(exit, event)| *exit || matches!(event, Event::Enter { .. }))
    );
}

/// A virtual thread that was parked goes on in another frame, and its path with it.
#[test]
fn an_activation_goes_on_in_another_frame() {
    let (outer, inner) = (route(&decides()), route(&decides()));
    let told = words(true, |follower, mut tell| {
        follower.restart(true, true);
        follower.enter(&outer, FRAME, &mut tell);
        follower.step(&outer, 0, FRAME, &mut tell);
        follower.enter(&inner, FRAME - 9, &mut tell);
        follower.step(&inner, 0, FRAME - 9, &mut tell);
        follower.elsewhere();
        for (route, frame) in [(&inner, FRAME - 1), (&outer, FRAME - 2)] {
            for bci in [1, 2, 2 * SIZE, 2 * SIZE + 1, 2 * SIZE + 2] {
                follower.step(route, bci, frame, &mut tell);
            }
        }
    });
    let paths = told
        .iter()
        .filter(|event| matches!(event, Event::LastPath { .. }));
    assert_eq!((told.len(), paths.count()), (4, 2), "{told:?}");
}

/// Of an activation from before the burst the next path is known, from a loop's header on.
#[test]
fn activations_from_before_are_known_from_a_header_on() {
    let class = class(SimpleGraph::new(4, &[(0, 1), (1, 2), (1, 3), (2, 1)]));
    let route = route(&class);
    let told = words(false, |follower, mut tell| {
        for block in [2, 1, 2, 1, 3] {
            for bci in 0..3 {
                follower.step(&route, block * SIZE + bci, FRAME - 1, &mut tell);
            }
        }
        // And what called it, where it stands.
        follower.step(&route, 2 * SIZE + 1, FRAME, &mut tell);
    });
    let map = &class.methods[0];
    let round = map.dag.restart(BlockId::new(1)).unwrap().value;
    let around = round + map.dag.values(BlockId::new(1))[0] + map.dag.values(BlockId::new(2))[0];
    let out = round + map.dag.values(BlockId::new(1))[1];
    let paths: Vec<u64> = (told.iter())
        .filter_map(|event| match event {
            Event::PathEnd { path, .. } => Some(u64::from(*path)),
            _ => None,
        })
        .collect();
    assert_eq!(paths, [around, out]);
}
