//! From path number back to path (PEP sections 3.2 and 3.3): the greedy walk.

use crate::dag::{EndCause, PathDag, StartKind};
use crate::graph::{BlockId, EdgeRef, FlowGraph};

/// Where and why a path ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathEnd {
    /// Left the graph from this block, which has no successors.
    Exit(BlockId),
    /// Arrived at this block, at which paths end.
    At(BlockId, EndCause),
    /// Stopped before the end, at the top of this block (partial regeneration).
    Stopped(BlockId),
}

/// A regenerated path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// The kind of start that it has.
    pub start: StartKind,
    /// Its first block. If the path ends on arrival ([`PathEnd::At`] this very block, no edges), nothing of
    /// the block's body belongs to it.
    pub first: BlockId,
    /// The edges it follows, in order.
    pub edges: Vec<EdgeRef>,
    /// Where it ends.
    pub end: PathEnd,
}

impl Path {
    /// The blocks whose bodies the path runs through, in order. The block it ends [`at`](PathEnd::At) or
    /// [`stopped`](PathEnd::Stopped) at is not among them: its body belongs to the next path.
    pub fn blocks(&self, graph: &impl FlowGraph) -> Vec<BlockId> {
        let mut blocks = vec![self.first];
        blocks.extend(
            self.edges
                .iter()
                .map(|e| graph.successors(e.from)[e.index as usize]),
        );
        if !matches!(self.end, PathEnd::Exit(_)) {
            blocks.pop();
        }
        blocks
    }
}

/// Why a number names no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegenerateError {
    /// The number is not below the number of paths.
    #[error("path number {number} is not below the number of paths, {paths}")]
    OutOfRange {
        /// The number asked for.
        number: u64,
        /// Number of paths of the P-DAG.
        paths: u64,
    },
    /// The path of that number does not pass the block where it is said to have stopped.
    #[error("the path of partial number {number} does not pass block {block}")]
    NotOnPath {
        /// The partial number.
        number: u64,
        /// The block.
        block: usize,
    },
    /// Values and graph do not fit each other (a damaged path map).
    #[error("path number {number} leads nowhere at block {block}: the path map is damaged")]
    Inconsistent {
        /// The number asked for.
        number: u64,
        /// Where the walk got stuck.
        block: usize,
    },
}

impl PathDag {
    /// The path of a number.
    ///
    /// # Errors
    /// [`RegenerateError::OutOfRange`], or [`RegenerateError::Inconsistent`] for a damaged P-DAG.
    pub fn regenerate(&self, graph: &impl FlowGraph, number: u64) -> Result<Path, RegenerateError> {
        if number >= self.num_paths() {
            return Err(RegenerateError::OutOfRange {
                number,
                paths: self.num_paths(),
            });
        }
        let stuck = |block: BlockId| RegenerateError::Inconsistent {
            number,
            block: block.index(),
        };
        let start = self
            .starts()
            .iter()
            .filter(|s| s.value <= number && number - s.value < s.paths)
            .max_by_key(|s| s.value)
            .ok_or_else(|| stuck(graph.entry()))?;
        let mut path = Path {
            start: start.kind,
            first: start.block,
            edges: Vec::new(),
            end: PathEnd::Exit(start.block),
        };
        let mut rest = number - start.value;
        let mut at = start.block;
        // Paths that come in from outside end at once where paths end on arrival; only a restart runs on.
        let mut arrived = matches!(start.kind, StartKind::Entry | StartKind::Handler);
        loop {
            if at.index() >= graph.num_blocks() {
                return Err(stuck(at));
            }
            if let Some(cause) = self.end_cause(at).filter(|_| arrived) {
                path.end = PathEnd::At(at, cause);
                break;
            }
            arrived = true;
            let successors = graph.successors(at);
            if successors.is_empty() {
                path.end = PathEnd::Exit(at);
                break;
            }
            // An acyclic path visits no block twice.
            if path.edges.len() > graph.num_blocks() {
                return Err(stuck(at));
            }
            let (index, value) = (0..successors.len())
                .map(|i| {
                    (
                        i as u32,
                        self.value(EdgeRef {
                            from: at,
                            index: i as u32,
                        }),
                    )
                })
                .filter(|&(_, value)| value <= rest)
                .max_by_key(|&(_, value)| value)
                .ok_or_else(|| stuck(at))?;
            rest -= value;
            path.edges.push(EdgeRef { from: at, index });
            at = successors[index as usize];
        }
        if rest == 0 { Ok(path) } else { Err(stuck(at)) }
    }

    /// The unique prefix that a path register holding `number` at the top of block `stopped` represents.
    ///
    /// Every block has an out-edge of value 0, so a partial number is also the number of a full path: the
    /// prefix followed by zeros. It is cut off where it stopped (PEP section 3.2). At a block where paths
    /// end, the register is taken to be read after the restart (the lower half).
    ///
    /// # Errors
    /// As [`PathDag::regenerate`], and [`RegenerateError::NotOnPath`].
    pub fn regenerate_partial(
        &self,
        graph: &impl FlowGraph,
        number: u64,
        stopped: BlockId,
    ) -> Result<Path, RegenerateError> {
        let mut path = self.regenerate(graph, number)?;
        let restarts = matches!(path.start, StartKind::Header | StartKind::Cut);
        let keep = if path.first == stopped && (restarts || self.end_cause(stopped).is_none()) {
            0
        } else {
            let position = path
                .edges
                .iter()
                .position(|e| graph.successors(e.from)[e.index as usize] == stopped)
                .filter(|_| self.end_cause(stopped).is_none())
                .ok_or(RegenerateError::NotOnPath {
                    number,
                    block: stopped.index(),
                })?;
            position + 1
        };
        path.edges.truncate(keep);
        path.end = PathEnd::Stopped(stopped);
        Ok(path)
    }
}
