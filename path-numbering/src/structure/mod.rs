//! Structure graphs: a hierarchy of small graphs in place of one (structural path profiling).
//!
//! Yasue, Suganuma, Komatsu and Nakatani, *Structural Path Profiling: An Efficient Online Path Profiling
//! Framework for Dynamic Compilers* ("SPP" in comments), figures 3, 4 and 7. The **outline graph** of a
//! method holds each outermost loop as a single node; the graph of each loop holds each of its inner loops as
//! a single node. Each graph is acyclic, numbered on its own with a register of its own, and so can be
//! profiled on its own. A path of a loop's graph starts where the loop is entered (E) or after a back edge
//! (B), and ends where the loop is left (X) or at a back edge: E..X, E..B, B..X, B..B.
//!
//! # What a loop is
//! The paper takes natural loops. Here a loop is a strongly connected part of the graph (of the loop around
//! it without the edges to that one's header), so code that is entered at several places is covered too. Its
//! *header* is the block of it that the depth-first walk finds first; its *back edges* are all edges within
//! it to the header. By induction every block is in exactly one graph as a plain node, and no cycle is left
//! in any.
//!
//! # Where this goes beyond the paper
//! * A loop that can be entered at several blocks has an [`Enter`](Node::Enter) for each.
//! * Exception handlers ([`FlowGraph::extra_starts`]) start a path in their own graph and in all graphs
//!   around it, there at the node of the loop that they are in; what those graphs had begun before is
//!   forgotten, as in Ball-Larus profiles.
//! * Edges out of a loop's node are merged if they lead to the same place: which way the loop was left is for
//!   its own graph to say. (In the paper's figures no two do.)
//! * Cut points bound the numbers as in [`PathDag`].

mod build;
mod global;
mod mapping;
mod plan;
mod walk;

pub use global::GlobalError;
pub use mapping::BallLarusCounts;
pub use plan::{Op, StructurePlan};
pub use walk::Walker;

use std::fmt;

use crate::dag::PathDag;
use crate::graph::{BlockId, FlowGraph, SimpleGraph};
use crate::regenerate::{PathEnd, RegenerateError};

/// The meaning of a node of a structure graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// The dummy node "entered at this block" (E). The outline's leads to the method's entry.
    Enter(BlockId),
    /// The dummy node "continues at the header after a back edge" (B at a path's start).
    Again(BlockId),
    /// A block of the method.
    Block(BlockId),
    /// An inner loop, by the index of its graph.
    Loop(usize),
    /// The dummy node "a back edge leads to this header" (B at a path's end).
    Back(BlockId),
    /// The dummy node "left towards this block" (X).
    Leave(BlockId),
}

/// The outline graph of a method or the graph of one of its loops.
#[derive(Clone, Debug)]
pub struct StructureGraph {
    parent: Option<usize>,
    header: Option<BlockId>,
    depth: usize,
    nodes: Vec<Node>,
    graph: SimpleGraph,
    dag: PathDag,
    /// Which node of the parent this is.
    in_parent: BlockId,
}

impl StructureGraph {
    /// Index of the graph in which this loop is a node; none for the outline.
    pub fn parent(&self) -> Option<usize> {
        self.parent
    }

    /// The loop's header; none for the outline.
    pub fn header(&self) -> Option<BlockId> {
        self.header
    }

    /// How many loops are around its blocks: 0 for the outline.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The meaning of each node, by the node's id in [`graph`](Self::graph).
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The graph itself: acyclic, with all paths' first nodes as entry and extra starts.
    pub fn graph(&self) -> &SimpleGraph {
        &self.graph
    }

    /// Its numbering.
    pub fn dag(&self) -> &PathDag {
        &self.dag
    }

    /// The path of a number.
    ///
    /// # Errors
    /// As [`PathDag::regenerate`].
    pub fn path(&self, number: u64) -> Result<StructuralPath, RegenerateError> {
        let path = self.dag.regenerate(&self.graph, number)?;
        let mut nodes = vec![path.first];
        nodes.extend(
            path.edges
                .iter()
                .map(|e| self.graph.successors(e.from)[e.index as usize]),
        );
        let cut = match path.end {
            PathEnd::At(..) => nodes.pop().map(|at| self.nodes[at.index()]),
            _ => None,
        };
        Ok(StructuralPath {
            nodes: nodes.iter().map(|n| self.nodes[n.index()]).collect(),
            cut,
        })
    }

    fn node(&self, node: BlockId) -> Node {
        self.nodes[node.index()]
    }
}

/// A path through a structure graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StructuralPath {
    /// The nodes in order, dummy nodes included. A path that starts at a handler or after a cut has no dummy
    /// node in front.
    pub nodes: Vec<Node>,
    /// The node at which it was cut off, to keep numbers small.
    pub cut: Option<Node>,
}

impl StructuralPath {
    /// Returns true if it starts where the loop (or the method) is entered.
    pub fn enters(&self) -> bool {
        matches!(self.nodes.first(), Some(Node::Enter(_)))
    }
}

/// In the paper's words (figure 7): `E2-2-3-6-(2)` enters loop 2 and ends at its back edge, `(2)-2-3-X5`
/// leaves it towards block 5. A loop is written as the index of its graph behind an `L`.
impl fmt::Display for StructuralPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for node in &self.nodes {
            f.write_str(std::mem::replace(&mut separator, "-"))?;
            match node {
                Node::Enter(block) => write!(f, "E{}", block.index()),
                Node::Again(block) | Node::Back(block) => write!(f, "({})", block.index()),
                Node::Block(block) => write!(f, "{}", block.index()),
                Node::Loop(graph) => write!(f, "L{graph}"),
                Node::Leave(block) => write!(f, "X{}", block.index()),
            }?;
        }
        match self.cut {
            Some(_) => f.write_str("-…"),
            None => Ok(()),
        }
    }
}

/// All structure graphs of a method: the outline first, each loop after the graph it is a node of.
#[derive(Clone, Debug)]
pub struct Structure {
    graphs: Vec<StructureGraph>,
    /// Per block: the graph in which it is a plain node, and which node; none if it is unreachable.
    place: Vec<Option<(usize, BlockId)>>,
}

impl Structure {
    /// All graphs; the outline is the first.
    pub fn graphs(&self) -> &[StructureGraph] {
        &self.graphs
    }

    /// The graph in which a block is a plain node: the one of the innermost loop around it. None if it is
    /// unreachable.
    pub fn graph_of(&self, block: BlockId) -> Option<usize> {
        Some(self.place.get(block.index()).copied().flatten()?.0)
    }

    /// The graphs that a reachable block is in, as itself or within a loop: from the outline to
    /// [`graph_of`](Self::graph_of).
    pub fn graphs_around(&self, block: BlockId) -> Vec<usize> {
        self.around(block).into_iter().map(|(graph, _)| graph).collect()
    }

    /// Number of paths of all graphs together (SPP table 1), at most 2^64 - 1.
    pub fn num_paths(&self) -> u64 {
        let paths = self.graphs.iter().map(|g| g.dag.num_paths());
        paths.fold(0, u64::saturating_add)
    }

    /// The graphs around a reachable block, outermost first, each with the node that the block is, or is in.
    fn around(&self, block: BlockId) -> Vec<(usize, BlockId)> {
        let mut way = Vec::new();
        let mut at = self.place.get(block.index()).copied().flatten();
        while let Some((graph, node)) = at {
            way.push((graph, node));
            let of = &self.graphs[graph];
            at = of.parent.map(|parent| (parent, of.in_parent));
        }
        way.reverse();
        way
    }
}
