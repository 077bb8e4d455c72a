//! Random methods for tests of the criteria.

use std::borrow::Cow;

use trodden_numbering::{BlockId, EdgeWeights, FlowGraph, NumberingOptions, PathDag, SimpleGraph};
use trodden_profile::{BlockExit, BlockInfo, EdgeLabel, MethodMap};

/// Numbers that look random, the same in each run (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

/// A method of a graph.
pub fn map(graph: SimpleGraph) -> MethodMap {
    let block = |index: usize| {
        let ways = graph.successors(BlockId::new(index)).len();
        let (exit, labels): (_, &[EdgeLabel]) = match ways {
            0 => (BlockExit::Return, &[]),
            1 => (BlockExit::FallThrough, &[EdgeLabel::FallThrough]),
            _ => (BlockExit::Branch, &[EdgeLabel::Taken, EdgeLabel::NotTaken]),
        };
        let start = index as u32 * 4;
        BlockInfo {
            start,
            end: start + 4,
            last: start + 3,
            exit,
            labels: Cow::Borrowed(labels),
        }
    };
    MethodMap {
        name: "m".to_owned(),
        descriptor: "()V".to_owned(),
        code_length: graph.num_blocks() as u32 * 4,
        blocks: (0..graph.num_blocks()).map(block).collect(),
        dag: PathDag::build(
            &graph,
            &EdgeWeights::uniform(&graph),
            &NumberingOptions::default(),
        )
        .unwrap(),
        graph,
        lines: Vec::new(),
        inlined: Vec::new(),
        unobserved: Vec::new(),
        shape: None,
    }
}

/// A small random method: up to eight blocks, up to two ways out of each.
pub fn map_of(random: &mut Random) -> MethodMap {
    let blocks = 2 + random.below(7);
    let mut edges = Vec::new();
    for from in 0..blocks - 1 {
        for _ in 0..1 + random.below(2) {
            edges.push((from, random.below(blocks)));
        }
    }
    map(SimpleGraph::new(blocks, &edges))
}
