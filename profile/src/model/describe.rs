//! From path number to what the path did, in bytecode indices and source lines.

use trodden_numbering::{BlockId, EdgeRef, EndCause, FlowGraph, Path, PathEnd, RegenerateError, StartKind};

use crate::model::map::{BlockExit, EdgeLabel, MethodMap};

/// A place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Bytecode index.
    pub bci: u32,
    /// Source line, if known.
    pub line: Option<u32>,
}

/// One decision on a path: a conditional branch or a switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Where the branch instruction is.
    pub at: Place,
    /// Which way it went.
    pub label: EdgeLabel,
}

/// Why and where a path ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndKind {
    /// Arrived at a loop header.
    Header,
    /// Arrived at a cut point.
    Cut,
    /// Returned.
    Return,
    /// Threw explicitly.
    Throw,
    /// Was sampled before its end.
    Stopped,
}

/// The description of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathDescription {
    /// What kind of start.
    pub start_kind: StartKind,
    /// Where it starts.
    pub start: Place,
    /// The path's length in branches, PEP 6.3's `b_p`: as many as [steps](MethodMap::steps).
    pub branches: u64,
    /// The blocks it ran through, in order.
    pub blocks: Vec<BlockId>,
    /// What kind of end.
    pub end_kind: EndKind,
    /// Where it ends: the block arrived at, or the leaving instruction.
    pub end: Place,
}

impl MethodMap {
    /// The place of a bytecode index.
    pub fn place(&self, bci: u32) -> Place {
        Place {
            bci,
            line: self.line(bci),
        }
    }

    /// Describes the path of a number.
    ///
    /// # Errors
    /// If the number names no path, or the map is damaged.
    pub fn describe(&self, number: u64) -> Result<PathDescription, RegenerateError> {
        let path = self.dag.regenerate(&self.graph, number)?;
        Ok(self.describe_path(&path))
    }

    /// Describes a regenerated path of this method, whole or partial.
    pub fn describe_path(&self, path: &Path) -> PathDescription {
        let place = |bci: u32| self.place(bci);
        let block = |id: BlockId| &self.blocks[id.index()];
        let (end_kind, end) = match path.end {
            PathEnd::At(b, EndCause::Header) => (EndKind::Header, place(block(b).start)),
            PathEnd::At(b, EndCause::Cut) => (EndKind::Cut, place(block(b).start)),
            PathEnd::Exit(b) if block(b).exit == BlockExit::Throw => (EndKind::Throw, place(block(b).last)),
            PathEnd::Exit(b) => (EndKind::Return, place(block(b).last)),
            PathEnd::Stopped(b) => (EndKind::Stopped, place(block(b).start)),
        };
        PathDescription {
            start_kind: path.start,
            start: place(block(path.first).start),
            branches: self.decided(&path.edges).count() as u64,
            blocks: path.blocks(&self.graph),
            end_kind,
            end,
        }
    }

    /// A path's length in branches (PEP 6.3), without building its description.
    ///
    /// # Errors
    /// If the number names no path.
    pub fn branches_on(&self, number: u64) -> Result<u64, RegenerateError> {
        let path = self.dag.regenerate(&self.graph, number)?;
        Ok(self.decided(&path.edges).count() as u64)
    }

    /// Those of a path's edges by which it left conditional branches and switches.
    pub fn decided<'e>(&'e self, edges: &'e [EdgeRef]) -> impl Iterator<Item = EdgeRef> + 'e {
        let decides = |edge: &&EdgeRef| {
            let exit = self.blocks[edge.from.index()].exit;
            matches!(exit, BlockExit::Branch | BlockExit::Switch)
        };
        edges.iter().filter(decides).copied()
    }

    /// The decisions of a path with these edges, in order.
    pub fn steps<'e>(&'e self, edges: &'e [EdgeRef]) -> impl Iterator<Item = Step> + 'e {
        self.decided(edges).map(|edge| {
            let block = &self.blocks[edge.from.index()];
            Step {
                at: self.place(block.last),
                label: block.labels[edge.index as usize].clone(),
            }
        })
    }

    /// Number of blocks (convenience over the graph).
    pub fn num_blocks(&self) -> usize {
        self.graph.num_blocks()
    }
}
