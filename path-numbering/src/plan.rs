//! Placement: what happens to the path register on each edge.
//!
//! The plan is stated per edge, in full; an emitter is free to merge what all edges into a block share (a
//! header's "end the path, start the next") into one place at the block's top.

use crate::dag::{PathDag, PathStart, StartKind};
use crate::graph::{BlockId, EdgeRef, FlowGraph};
use crate::rows::Rows;
use crate::walk::DepthFirst;

/// How the path register changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Update {
    /// Not at all.
    #[default]
    Keep,
    /// By adding an edge's value, never 0.
    Add(u64),
    /// By starting afresh: a start's value.
    Set(u64),
    /// By the program of this number, a row of steps that its maker keeps: for plans with several registers,
    /// which structural profiles have. [`Plan::new`] makes none.
    Run(u32),
}

/// The operation on the path register when an edge is followed: first `update`, then, if there is a
/// `restart`, report the register (a path ends here) and set it to the restart's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeOp {
    /// Change before anything else.
    pub update: Update,
    /// The path ends here, and the next one starts with this value.
    pub restart: Option<u64>,
}

impl EdgeOp {
    /// Returns true if the operation does nothing.
    pub fn is_none(&self) -> bool {
        *self == EdgeOp::default()
    }
}

/// A loop edge that reports nothing, and the one path that is not observed because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SilentEdge {
    /// The retreating edge.
    pub edge: EdgeRef,
    /// Number of the only path that follows it: one iteration of the loop.
    pub path: u64,
}

/// Where the path register is changed and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// On entry, before the first block.
    pub entry: EdgeOp,
    /// Per block and successor.
    pub edges: Rows<EdgeOp>,
    /// Per extra start (in the graph's order): the block, and what to do when execution appears there.
    pub extra_starts: Vec<(BlockId, EdgeOp)>,
    /// Loop edges that report nothing.
    pub silent: Vec<SilentEdge>,
}

impl Plan {
    /// The plan of a P-DAG. A block without successors ends its path when it is left; that needs no entry
    /// here.
    ///
    /// With `skip_single_path_loops` the retreating edge of a loop that has only one path per iteration (no
    /// inner loop, no branch but exits) reports nothing; the loop is still entered and left by observed
    /// paths.
    pub fn new(graph: &impl FlowGraph, dag: &PathDag, skip_single_path_loops: bool) -> Self {
        let walk = skip_single_path_loops.then(|| DepthFirst::new(graph));
        Self::from_walk(graph, dag, walk.as_ref(), &mut Vec::new())
    }

    /// Like [`Self::new`], but with a walk of the graph, if single-path loops are to be skipped.
    pub(crate) fn from_walk(
        graph: &impl FlowGraph,
        dag: &PathDag,
        walk: Option<&DepthFirst>,
        restarts: &mut Vec<Option<u64>>,
    ) -> Self {
        // Per block: the value that a path has which starts in its lower half.
        restarts.clear();
        restarts.resize(graph.num_blocks(), None);
        for start in dag.starts() {
            if matches!(start.kind, StartKind::Header | StartKind::Cut)
                && dag.end_cause(start.block).is_some()
            {
                restarts[start.block.index()] = Some(start.value);
            }
        }
        let restart = |block: BlockId| restarts[block.index()];
        let blocks = graph.num_blocks();
        let last = blocks.checked_sub(1).map(BlockId::new);
        let count = last.map_or(0, |b| graph.first_edge(b) + graph.successors(b).len());
        let mut edges = Rows::with_capacity(blocks, count);
        for from in (0..blocks).map(BlockId::new) {
            for (value, &to) in dag.values(from).iter().zip(graph.successors(from)) {
                edges.push(EdgeOp {
                    update: if *value == 0 {
                        Update::Keep
                    } else {
                        Update::Add(*value)
                    },
                    restart: restart(to),
                });
            }
            edges.end_row();
        }
        let silent = walk.map_or_else(Vec::new, |walk| single_path_loops(graph, dag, walk));
        for &SilentEdge { edge, path } in &silent {
            let header = graph.successors(edge.from)[edge.index as usize];
            let start = restart(header).expect("a retreating edge leads to a header");
            // The register already holds the start's value unless something was added on the way.
            let update = if path == start {
                Update::Keep
            } else {
                Update::Set(start)
            };
            edges[edge.from.index()][edge.index as usize] = EdgeOp {
                update,
                restart: None,
            };
        }
        let appear = |s: &PathStart| EdgeOp {
            update: Update::Set(s.value),
            restart: restart(s.block),
        };
        let of_kind = |kind| dag.starts().iter().filter(move |s| s.kind == kind);
        Plan {
            entry: of_kind(StartKind::Entry).map(appear).next().unwrap_or_default(),
            edges,
            extra_starts: of_kind(StartKind::Handler)
                .map(|s| (s.block, appear(s)))
                .collect(),
            silent,
        }
    }

    /// The plan where no path is reported: nothing happens anywhere.
    pub fn idle(graph: &impl FlowGraph) -> Self {
        let mut edges = Rows::default();
        for from in (0..graph.num_blocks()).map(BlockId::new) {
            for _ in graph.successors(from) {
                edges.push(EdgeOp::default());
            }
            edges.end_row();
        }
        let nothing = |&block: &BlockId| (block, EdgeOp::default());
        Plan {
            entry: EdgeOp::default(),
            edges,
            extra_starts: graph.extra_starts().iter().map(nothing).collect(),
            silent: Vec::new(),
        }
    }

    /// The operation when `edge` is followed.
    pub fn op(&self, edge: EdgeRef) -> EdgeOp {
        self.edges[edge.from.index()][edge.index as usize]
    }
}

/// The loops with exactly one path per iteration: the header has one retreating edge, and the only path of
/// the whole P-DAG that follows it starts in the header's lower half.
fn single_path_loops(graph: &impl FlowGraph, dag: &PathDag, walk: &DepthFirst) -> Vec<SilentEdge> {
    if walk.retreating.is_empty() {
        return Vec::new();
    }
    // (number of paths from any start to the top of the block's body, number of one of them, its first block)
    let mut into: Vec<(u64, u64, BlockId)> =
        (0..graph.num_blocks()).map(|b| (0, 0, BlockId::new(b))).collect();
    for start in dag.starts() {
        let restarts = matches!(start.kind, StartKind::Header | StartKind::Cut);
        if restarts || dag.end_cause(start.block).is_none() {
            let entry = &mut into[start.block.index()];
            *entry = (entry.0 + 1, start.value, start.block);
        }
    }
    for &block in walk.postorder.iter().rev() {
        let (paths, number, first) = into[block.index()];
        for (&to, &value) in graph.successors(block).iter().zip(dag.values(block)) {
            if paths > 0 && dag.end_cause(to).is_none() {
                let entry = &mut into[to.index()];
                *entry = (entry.0.saturating_add(paths), number.saturating_add(value), first);
            }
        }
    }
    let mut retreating_into = vec![0u32; graph.num_blocks()];
    for (_, header) in &walk.retreating {
        retreating_into[header.index()] += 1;
    }
    let single = |&(edge, header): &(EdgeRef, BlockId)| {
        let (paths, number, first) = into[edge.from.index()];
        (paths == 1
            && first == header
            && retreating_into[header.index()] == 1
            && dag.restart(header).is_some())
        .then(|| SilentEdge {
            edge,
            path: number + dag.value(edge),
        })
    };
    walk.retreating.iter().filter_map(single).collect()
}
