//! From path number to what the path did, in bytecode indices and source lines.

use trodden_numbering::{BlockId, EndCause, FlowGraph, Path, PathEnd, RegenerateError, StartKind};

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

/// A path in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathDescription {
    /// What kind of start.
    pub start_kind: StartKind,
    /// Where it starts.
    pub start: Place,
    /// Its decisions, in order.
    pub steps: Vec<Step>,
    /// The blocks it ran through, in order.
    pub blocks: Vec<BlockId>,
    /// What kind of end.
    pub end_kind: EndKind,
    /// Where it ends: the block arrived at, or the leaving instruction.
    pub end: Place,
}

impl PathDescription {
    /// The path's length in branches, PEP 6.3's `b_p`.
    pub fn branches(&self) -> u64 {
        self.steps.len() as u64
    }
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
        Ok(self.describe_path(&self.dag.regenerate(&self.graph, number)?))
    }

    /// Describes a regenerated path of this method, whole or partial.
    pub fn describe_path(&self, path: &Path) -> PathDescription {
        let place = |bci: u32| self.place(bci);
        let block = |id: BlockId| &self.blocks[id.index()];
        let steps = path
            .edges
            .iter()
            .filter(|e| matches!(block(e.from).exit, BlockExit::Branch | BlockExit::Switch))
            .map(|e| Step {
                at: place(block(e.from).last),
                label: block(e.from).labels[e.index as usize].clone(),
            })
            .collect();
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
            steps,
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
        let decides =
            |b: BlockId| matches!(self.blocks[b.index()].exit, BlockExit::Branch | BlockExit::Switch);
        Ok(path.edges.iter().filter(|e| decides(e.from)).count() as u64)
    }

    /// Number of blocks (convenience over the graph).
    pub fn num_blocks(&self) -> usize {
        self.graph.num_blocks()
    }
}
