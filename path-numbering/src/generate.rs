//! Graphs made from arbitrary bytes, for tests and fuzzing.
//!
//! Every byte string makes a well-formed graph, and shorter strings make smaller ones, so that proptest
//! shrinks and a fuzzer mutates usefully. Structured graphs look like what compilers emit (loops of all
//! kinds, `break`, `continue`, switches with several keys per target, handlers, dead code, an entry that is a
//! loop's header); wild ones have any edge at all, irreducible loops and self loops among them.

use crate::graph::{BlockId, EdgeWeights, FlowGraph, SimpleGraph};

/// A string of bytes read as decisions; after its end every decision is 0.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    rest: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Reads decisions from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Choices { rest: bytes }
    }

    /// A number below `bound` (at most 256; 0 where `bound` is 0).
    pub fn below(&mut self, bound: usize) -> usize {
        let Some((&first, rest)) = self.rest.split_first() else {
            return 0;
        };
        self.rest = rest;
        usize::from(first) % bound.max(1)
    }

    /// Returns true if no choice is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

/// A graph of either kind.
pub fn graph(choices: &mut Choices<'_>) -> SimpleGraph {
    match choices.below(3) {
        0 => structured(choices, 0),
        1 => {
            let jumps = 1 + choices.below(3);
            structured(choices, jumps)
        }
        _ => wild(choices),
    }
}

/// Weights from 0 to 7 for every edge of a graph.
pub fn weights(graph: &impl FlowGraph, choices: &mut Choices<'_>) -> EdgeWeights {
    let blocks = (0..graph.num_blocks()).map(BlockId::new);
    EdgeWeights::from_parts(
        blocks
            .map(|b| {
                let edges = graph.successors(b).iter();
                edges.map(|_| choices.below(8) as f64).collect()
            })
            .collect(),
    )
}

/// Any edges between up to 16 blocks, with up to 3 handlers.
pub fn wild(choices: &mut Choices<'_>) -> SimpleGraph {
    let blocks = 1 + choices.below(16);
    let entry = BlockId::new(choices.below(4) % blocks);
    let mut handlers: Vec<BlockId> = Vec::new();
    for _ in 0..choices.below(4) {
        let handler = BlockId::new(choices.below(blocks));
        if handler != entry && !handlers.contains(&handler) {
            handlers.push(handler);
        }
    }
    let successors = (0..blocks)
        .map(|_| {
            let degree = [0, 1, 2, 2, 2, 1, 3, 4][choices.below(8)];
            (0..degree).map(|_| BlockId::new(choices.below(blocks))).collect()
        })
        .collect();
    SimpleGraph::from_parts(entry, successors, handlers)
}

/// A graph of nested statements, with `jumps` extra edges from anywhere to anywhere (which make it
/// irreducible).
pub fn structured(choices: &mut Choices<'_>, jumps: usize) -> SimpleGraph {
    let mut builder = Builder {
        choices,
        successors: vec![Vec::new()],
        handlers: Vec::new(),
        loops: Vec::new(),
    };
    builder.statements(0, 0);
    let blocks = builder.successors.len();
    for _ in 0..jumps {
        let from = builder.choices.below(blocks);
        let to = builder.choices.below(blocks);
        builder.edge(from, to);
    }
    let successors = builder
        .successors
        .iter()
        .map(|to| to.iter().map(|&t| BlockId::new(t)).collect())
        .collect();
    let handlers = builder.handlers.iter().map(|&h| BlockId::new(h)).collect();
    SimpleGraph::from_parts(BlockId::new(0), successors, handlers)
}

struct Builder<'a, 'b> {
    choices: &'a mut Choices<'b>,
    successors: Vec<Vec<usize>>,
    handlers: Vec<usize>,
    /// Around the current statement: where `continue` and `break` go.
    loops: Vec<(usize, usize)>,
}

const MAX_BLOCKS: usize = 120;

impl Builder<'_, '_> {
    fn block(&mut self) -> usize {
        self.successors.push(Vec::new());
        self.successors.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.successors[from].push(to);
    }

    /// The two ways of a branch, in either order.
    fn branch(&mut self, from: usize, a: usize, b: usize) {
        let swap = self.choices.below(2) == 1;
        let (a, b) = if swap { (b, a) } else { (a, b) };
        self.edge(from, a);
        self.edge(from, b);
    }

    /// Statements from block `at` on; the block in which they end, unless they cannot complete.
    fn statements(&mut self, mut at: usize, depth: usize) -> Option<usize> {
        for _ in 0..1 + self.choices.below(4) {
            if self.choices.is_empty() || self.successors.len() > MAX_BLOCKS || depth > 6 {
                break;
            }
            match self.statement(at, depth) {
                Some(next) => at = next,
                // Dead code follows, now and then.
                None if self.choices.below(4) == 3 => at = self.block(),
                None => return None,
            }
        }
        Some(at)
    }

    fn nested(&mut self, at: usize, depth: usize, to: usize) {
        if let Some(end) = self.statements(at, depth + 1) {
            self.edge(end, to);
        }
    }

    fn statement(&mut self, at: usize, depth: usize) -> Option<usize> {
        match self.choices.below(12) {
            0 => {
                let (then, join) = (self.block(), self.block());
                self.branch(at, then, join);
                self.nested(then, depth, join);
                Some(join)
            }
            1 => {
                let (a, b, join) = (self.block(), self.block(), self.block());
                self.branch(at, a, b);
                self.nested(a, depth, join);
                self.nested(b, depth, join);
                Some(join)
            }
            2 => {
                let (header, body, exit) = (self.block(), self.block(), self.block());
                self.edge(at, header);
                self.branch(header, body, exit);
                self.in_loop(header, exit, |b| b.nested(body, depth, header));
                Some(exit)
            }
            3 => {
                let (body, test, exit) = (self.block(), self.block(), self.block());
                self.edge(at, body);
                self.in_loop(test, exit, |b| b.nested(body, depth, test));
                self.branch(test, body, exit);
                Some(exit)
            }
            4 => {
                let (body, exit) = (self.block(), self.block());
                self.edge(at, body);
                self.in_loop(body, exit, |b| b.nested(body, depth, body));
                Some(exit)
            }
            5 => {
                let join = self.block();
                let targets: Vec<usize> = (0..1 + self.choices.below(3)).map(|_| self.block()).collect();
                for _ in 0..1 + self.choices.below(6) {
                    let case = self.choices.below(targets.len() + 1);
                    self.edge(at, targets.get(case).copied().unwrap_or(join));
                }
                for (i, &target) in targets.iter().enumerate() {
                    let falls = self.choices.below(3) == 0;
                    let next = targets.get(i + 1).copied().filter(|_| falls);
                    self.nested(target, depth, next.unwrap_or(join));
                }
                Some(join)
            }
            6 => {
                let (handler, join) = (self.block(), self.block());
                self.handlers.push(handler);
                let body = self.block();
                self.edge(at, body);
                self.nested(body, depth, join);
                self.nested(handler, depth, join);
                Some(join)
            }
            7 if !self.loops.is_empty() => {
                let level = self.choices.below(self.loops.len());
                let (next, leave) = self.loops[level];
                let to = if self.choices.below(2) == 0 { next } else { leave };
                self.edge(at, to);
                None
            }
            8 => None,
            9 => {
                let next = self.block();
                self.branch(at, at, next);
                Some(next)
            }
            10 => {
                let next = self.block();
                self.branch(at, 0, next);
                Some(next)
            }
            _ => {
                let next = self.block();
                self.edge(at, next);
                Some(next)
            }
        }
    }

    fn in_loop(&mut self, next: usize, leave: usize, body: impl FnOnce(&mut Self)) {
        self.loops.push((next, leave));
        body(self);
        self.loops.pop();
    }
}
