//! The tree of stacks: one node per stack, in the order in which a walk meets them.

use super::CpuTime;
use crate::model::fault::Fault;
use crate::model::preorder::{self, Node};

/// Key by which a stack differs from its siblings: frame, bytecode index.
pub(super) type Key = (u32, Option<u16>);

/// A stack: its innermost frame, and the samples that were taken in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuNode {
    /// Frames of the stack, from 1: the outermost one.
    pub depth: u32,
    /// Index of the frame in [`CpuSamples::frames`](super::CpuSamples::frames).
    pub frame: u32,
    /// Bytecode index in that method: of the call, in outer frames. `None` if it is not known, and for what has none.
    pub bci: Option<u16>,
    /// Samples taken in this very stack, those in callees not included.
    pub own: CpuTime,
}

impl Node for CpuNode {
    type Key = Key;

    const NAME: &'static str = "stack";

    fn depth(&self) -> u32 {
        self.depth
    }

    fn at_depth(self, depth: u32) -> Self {
        CpuNode { depth, ..self }
    }

    fn key(&self) -> Key {
        (self.frame, self.bci)
    }

    fn add(&mut self, other: &Self) {
        self.own = self.own.plus(other.own);
    }
}

/// A stack with the row of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuRow {
    /// The row of the stack without the innermost frame, which comes before this one; `None` for an outermost frame.
    pub parent: Option<u32>,
    /// The frame.
    pub frame: u32,
    /// Its bytecode index.
    pub bci: Option<u16>,
    /// Samples in this very stack.
    pub own: CpuTime,
}

/// Stacks in preorder, siblings by frame and bytecode index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTree(pub(super) Vec<CpuNode>);

impl CpuTree {
    /// From nodes in order.
    ///
    /// # Errors
    /// If they are not in order, or a depth is impossible.
    pub fn from_preorder(nodes: Vec<CpuNode>) -> Result<Self, Fault> {
        preorder::check(&nodes)?;
        Ok(CpuTree(nodes))
    }

    /// From rows in any order but that callers come first. Rows for the same stack are added up. `frame` gives the number
    /// of a row's frame; rows without one are left out, and so are rows whose caller is.
    pub fn from_rows(rows: &[CpuRow], frame: impl Fn(u32) -> Option<u32>) -> Self {
        let row = |at: u32| {
            let row = &rows[at as usize];
            let node = frame(row.frame).map(|frame| CpuNode {
                depth: 1,
                frame,
                bci: row.bci,
                own: row.own,
            });
            (row.parent, node)
        };
        CpuTree(preorder::from_rows(rows.len(), row).0)
    }

    /// The tree as rows.
    pub fn rows(&self) -> Vec<CpuRow> {
        let parents = preorder::parents(&self.0).into_iter();
        let row = |(parent, node): (Option<u32>, &CpuNode)| CpuRow {
            parent,
            frame: node.frame,
            bci: node.bci,
            own: node.own,
        };
        parents.zip(&self.0).map(row).collect()
    }

    /// The stacks, in order.
    pub fn nodes(&self) -> &[CpuNode] {
        &self.0
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Per node, in order, the samples in it and in all below it.
    pub fn totals(&self) -> Vec<CpuTime> {
        preorder::inclusive(&self.0, |node| node.own, CpuTime::plus)
    }
}
