//! Path and edge profile against the reference and against the data model's own edge profile.

use std::cell::Cell;
use std::sync::Arc;

use proptest::prelude::*;
use trodden_analyses::{
    ExactCounts, MethodLookup, MethodRef, MethodTable, NullAnalysis, PathAnalysis, PathEdgeProfile,
    PathEvent, Schedule,
};
use trodden_numbering::{BlockId, EdgeWeights, FlowGraph, NumberingOptions, PathDag, SimpleGraph};
use trodden_profile::{BlockExit, BlockInfo, ClassMap, EdgeLabel, EdgeProfile, MethodMap};

fn method(name: &str, blocks: usize, edges: &[(usize, usize)]) -> MethodMap {
    let graph = SimpleGraph::new(blocks, edges);
    let dag = PathDag::build(
        &graph,
        &EdgeWeights::uniform(&graph),
        &NumberingOptions::default(),
    )
    .unwrap();
    let block = |index: usize| {
        let (exit, labels) = match graph.successors(BlockId::new(index)).len() {
            0 => (BlockExit::Return, vec![]),
            1 => (BlockExit::Goto, vec![EdgeLabel::Goto]),
            _ => (BlockExit::Branch, vec![EdgeLabel::Taken, EdgeLabel::NotTaken]),
        };
        let start = index as u32 * 4;
        BlockInfo {
            start,
            end: start + 4,
            last: start + 1,
            exit,
            labels: labels.into(),
        }
    };
    MethodMap {
        name: name.to_owned(),
        descriptor: "()V".to_owned(),
        code_length: blocks as u32 * 4,
        blocks: (0..blocks).map(block).collect(),
        graph,
        dag,
        lines: vec![],
        unobserved: vec![],
        inlined: Vec::new(),
        shape: None,
    }
}

/// Two classes: a diamond and a loop with a branch; two ifs in a row.
fn table() -> MethodTable {
    let diamond = method("diamond", 4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    let looped = method(
        "loop",
        6,
        &[(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 1), (4, 1)],
    );
    let two_ifs = method(
        "two",
        7,
        &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)],
    );
    let class = |name: &str, methods| {
        Arc::new(ClassMap {
            name: name.to_owned(),
            sha256: [0; 32],
            source_file: None,
            methods,
        })
    };
    let mut table = MethodTable::default();
    assert_eq!(table.add_class(class("z/First", vec![diamond, looped])), Some(0));
    assert_eq!(table.add_class(class("e/Empty", vec![])), Some(2));
    assert_eq!(table.add_class(class("a/Second", vec![two_ifs])), Some(2));
    table
}

/// Counts how often it is asked.
struct Counting<'a>(&'a MethodTable, Cell<u64>);

impl MethodLookup for Counting<'_> {
    fn method(&self, index: u32) -> Option<MethodRef> {
        self.1.set(self.1.get() + 1);
        self.0.method(index)
    }
}

fn event(method: u32, path: u64) -> PathEvent {
    PathEvent { method, path }
}

#[test]
fn the_table_finds_methods() {
    let table = table();
    let names: Vec<String> = (0..3)
        .map(|i| table.method(i).unwrap().map().name.clone())
        .collect();
    assert_eq!(names, ["diamond", "loop", "two"]);
    assert!(table.method(3).is_none() && MethodTable::default().method(0).is_none());
    assert_eq!(table.len(), 3);
    let classes = table.class_profiles(&NullAnalysis);
    let names: Vec<&str> = classes.iter().map(|c| c.map.name.as_str()).collect();
    assert_eq!(names, ["a/Second", "e/Empty", "z/First"]);
}

/// PEP section 4.3: edges are computed at a path's first sample only.
#[test]
fn edges_are_worked_out_once_per_path() {
    let table = table();
    let counting = Counting(&table, Cell::new(0));
    let mut profile = PathEdgeProfile::default();
    for _ in 0..1000 {
        profile.consume(&counting, &[event(0, 0), event(0, 1), event(2, 3), event(0, 0)]);
    }
    assert_eq!(
        (profile.regenerated(), counting.1.get(), profile.samples()),
        (3, 3, 4000)
    );
    assert_eq!(profile.method_counts(0).paths, [(0, 2000), (1, 1000)].into());
    let edges = profile.edges(0).unwrap();
    let map = table.method(0).unwrap();
    let branch = &edges.branches(map.map())[0];
    let first = map.map().dag.regenerate(&map.map().graph, 0).unwrap();
    let step = map.map().steps(&first.edges).next().unwrap();
    let taken = step.label == EdgeLabel::Taken;
    assert_eq!(branch.taken(), Some(if taken { 2000 } else { 1000 }));
    assert_eq!(branch.total(), 3000);
    assert!(profile.edges(1).is_none());
}

#[test]
fn nonsense_is_counted_and_nothing_else() {
    let table = table();
    let mut profile = PathEdgeProfile::default();
    profile.consume(
        &table,
        &[event(9, 0), event(0, 2), event(0, u64::MAX), event(0, 1)],
    );
    profile.sample_partial(&table, 0, 77, 0);
    assert_eq!((profile.unknown(), profile.samples()), (4, 1));
    assert_eq!(profile.method_counts(0).total(), 1);
    profile.reset();
    assert_eq!(
        (
            profile.unknown(),
            profile.samples(),
            profile.method_counts(0).total()
        ),
        (0, 0, 0)
    );
}

#[test]
fn partial_paths_count_the_edges_before_the_stop() {
    let table = table();
    let mut profile = PathEdgeProfile::default();
    profile.sample_partial(&table, 2, 3, 0);
    profile.sample_partial(&table, 2, 3, 0);
    let counts = profile.method_counts(2);
    assert_eq!((counts.paths.len(), counts.partial), (0, [((3, 0), 2)].into()));
    let edges = profile.edges(2).unwrap();
    let totals: Vec<u64> = edges
        .branches(table.method(2).unwrap().map())
        .iter()
        .map(|b| b.total())
        .collect();
    assert_eq!(totals, [2, 0]);
}

fn events() -> impl Strategy<Value = Vec<PathEvent>> {
    let one = (0..3u32).prop_flat_map(|m| {
        let most = table().method(m).unwrap().map().num_paths();
        (Just(m), 0..most).prop_map(|(m, p)| event(m, p))
    });
    prop::collection::vec(one, 0..300)
}

proptest! {
    #[test]
    fn agrees_with_the_reference_and_merges(events in events(), cut in any::<prop::sample::Index>()) {
        let table = table();
        let (mut whole, mut exact) = (PathEdgeProfile::default(), ExactCounts::default());
        whole.consume(&table, &events);
        exact.consume(&table, &events);
        let (left, right) = events.split_at(if events.is_empty() { 0 } else { cut.index(events.len()) });
        let (mut a, mut b) = (PathEdgeProfile::default(), PathEdgeProfile::default());
        a.consume(&table, left);
        b.consume(&table, right);
        a.merge(b);
        let (mut c, mut d) = (ExactCounts::default(), ExactCounts::default());
        c.consume(&table, right);
        d.consume(&table, left);
        c.merge(d);
        prop_assert_eq!(&c, &exact);
        prop_assert_eq!(exact.total(), events.len() as u64);
        prop_assert_eq!(whole.samples(), events.len() as u64);
        prop_assert_eq!(a.samples(), whole.samples());
        prop_assert_eq!(a.regenerated(), exact.distinct() as u64);
        for m in 0..3 {
            let counts = exact.method_counts(m);
            let found = table.method(m).unwrap();
            let expected = EdgeProfile::of(found.map(), &counts);
            for profile in [&whole, &a] {
                prop_assert_eq!(&profile.method_counts(m), &counts);
                let zero = || EdgeProfile::new(found.map());
                prop_assert_eq!(profile.edges(m).unwrap_or_else(zero), expected.clone());
            }
        }
    }

    /// Over many ticks every place in the stride is sampled equally often (PEP section 4.4's rotation).
    #[test]
    fn schedules_rotate_evenly(samples in 1..9u32, stride in 1..9u32, full in any::<bool>()) {
        let kind = if full { "ag" } else { "sag" };
        let schedule: Schedule = format!("{kind}:{samples}:{stride}").parse().unwrap();
        let mut firsts = vec![0; stride as usize];
        for tick in 0..u64::from(stride) * 3 {
            let indices: Vec<u64> = schedule.sample_indices(tick).collect();
            firsts[indices[0] as usize] += 1;
            let step = if full { u64::from(stride) } else { 1 };
            prop_assert!(indices.windows(2).all(|w| w[1] - w[0] == step));
        }
        prop_assert!(firsts.iter().all(|&n| n == 3));
    }
}
