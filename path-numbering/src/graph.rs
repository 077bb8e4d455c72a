//! The flow graph that numbering works on.

use std::sync::Arc;

use crate::rows::Rows;

/// Index of a basic block: dense, starting at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(u32);

impl BlockId {
    /// Makes the id of block number `index`.
    pub const fn new(index: usize) -> Self {
        BlockId(index as u32)
    }

    /// The block's number, for indexing tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An edge, named by its source block and its position among that block's successors.
///
/// Parallel edges (a branch whose two outcomes reach the same block) are different edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeRef {
    /// Block the edge leaves.
    pub from: BlockId,
    /// Position among `from`'s successors.
    pub index: u32,
}

/// A control-flow graph with one entry. A block without successors is an exit.
pub trait FlowGraph {
    /// Number of blocks; ids run from 0 to this, exclusive.
    fn num_blocks(&self) -> usize;

    /// Where execution enters.
    fn entry(&self) -> BlockId;

    /// Successors in a fixed order that carries meaning for the caller (say: taken, not taken).
    /// Parallel edges are allowed.
    fn successors(&self, block: BlockId) -> &[BlockId];

    /// Blocks other than the entry at which execution can appear without following an edge (exception
    /// handlers). Each is a path start. No duplicates.
    fn extra_starts(&self) -> &[BlockId];

    /// Position of the block's first out-edge among [all edges](FlowGraph::edges); the others follow it.
    fn first_edge(&self, block: BlockId) -> usize;

    /// All edges, by source block, then by position.
    fn edges(&self) -> impl Iterator<Item = (EdgeRef, BlockId)> + Clone + '_ {
        (0..self.num_blocks()).map(BlockId::new).flat_map(move |from| {
            self.successors(from).iter().enumerate().map(move |(index, &to)| {
                (
                    EdgeRef {
                        from,
                        index: index as u32,
                    },
                    to,
                )
            })
        })
    }
}

/// A plain adjacency-list graph, for tests, tools and readers of stored path maps.
///
/// Programs have many methods of one shape: clones share their memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SimpleGraph(Arc<Parts>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Parts {
    entry: BlockId,
    successors: Rows<BlockId>,
    extra_starts: Vec<BlockId>,
}

impl SimpleGraph {
    /// A graph of `blocks` blocks, entered at block 0, with the given edges in order.
    ///
    /// # Panics
    /// If an edge names a block that does not exist.
    pub fn new(blocks: usize, edges: &[(usize, usize)]) -> Self {
        let mut successors = vec![Vec::new(); blocks];
        for &(from, to) in edges {
            assert!(to < blocks, "edge to block {to} of {blocks}");
            successors[from].push(BlockId::new(to));
        }
        Self::from_parts(BlockId::new(0), successors, Vec::new())
    }

    /// A graph from ready-made adjacency lists.
    pub fn from_parts(entry: BlockId, successors: Vec<Vec<BlockId>>, extra_starts: Vec<BlockId>) -> Self {
        Self::from_rows(entry, successors.into(), extra_starts)
    }

    /// A graph from a ready-made table of successors.
    pub fn from_rows(entry: BlockId, successors: Rows<BlockId>, extra_starts: Vec<BlockId>) -> Self {
        SimpleGraph(Arc::new(Parts {
            entry,
            successors,
            extra_starts,
        }))
    }

    /// Adds extra path starts (exception handlers).
    pub fn with_extra_starts(mut self, starts: &[usize]) -> Self {
        Arc::make_mut(&mut self.0)
            .extra_starts
            .extend(starts.iter().map(|&s| BlockId::new(s)));
        self
    }
}

impl FlowGraph for SimpleGraph {
    fn num_blocks(&self) -> usize {
        self.0.successors.len()
    }

    fn entry(&self) -> BlockId {
        self.0.entry
    }

    #[inline]
    fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.0.successors[block.index()]
    }

    #[inline]
    fn first_edge(&self, block: BlockId) -> usize {
        self.0.successors.first(block.index())
    }

    fn extra_starts(&self) -> &[BlockId] {
        &self.0.extra_starts
    }
}

/// How often each out-edge of each block is followed, relative to its siblings. Only the order among the
/// out-edges of one block matters to numbering (PEP section 3.4).
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeWeights {
    weights: Rows<f64>,
}

impl EdgeWeights {
    /// All out-edges of a block equally likely: plain Ball-Larus numbering in successor order.
    pub fn uniform(graph: &impl FlowGraph) -> Self {
        let weights = (0..graph.num_blocks())
            .map(|b| vec![1.0; graph.successors(BlockId::new(b)).len()])
            .collect();
        Self::from_parts(weights)
    }

    /// Weights given per block, in successor order.
    pub fn from_parts(weights: Vec<Vec<f64>>) -> Self {
        EdgeWeights {
            weights: weights.into(),
        }
    }

    pub(crate) fn from_rows(weights: Rows<f64>) -> Self {
        EdgeWeights { weights }
    }

    pub(crate) fn into_rows(self) -> Rows<f64> {
        self.weights
    }

    /// The weights of a block's edges; empty where none were given.
    pub(crate) fn row(&self, block: BlockId) -> &[f64] {
        self.weights.get(block.index()).unwrap_or(&[])
    }

    /// The weight of one edge; 0 where none was given.
    pub fn get(&self, edge: EdgeRef) -> f64 {
        self.row(edge.from)
            .get(edge.index as usize)
            .copied()
            .unwrap_or(0.0)
    }

    /// Replaces the weight of one edge.
    pub fn set(&mut self, edge: EdgeRef, weight: f64) {
        self.weights[edge.from.index()][edge.index as usize] = weight;
    }
}
