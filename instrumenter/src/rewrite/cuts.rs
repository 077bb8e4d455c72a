//! Counting paths that an exception cuts off.
//! In addition to the path register an int local says which block runs. It is set at the begin of each block
//! with an instruction that may throw; where the method's own handlers begin, and in a handler of ours around
//! the whole body, a call of the shim counts the method, the register and that block. The prefix that ran
//! follows from the three (`PathDag::regenerate_partial`).
//!
//! A path that was counted already (in front of an `athrow`) or that was counted as cut off leaves
//! [`COUNTED`] in the local. The test of it at a handler's begin is no luxury: javac's handlers of
//! `synchronized` and `finally` cover their own first instructions. Where the stack has no room left for the
//! call of the shim, it would be tried for ever.

use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{BlockExit, BlockInfo};

use super::arrivals::Label;
use super::method::{RewriteError, Writer};
use crate::classfile::code::Code;
use crate::classfile::opcodes as op;
use crate::classfile::pool::Pool;
use crate::probes::{COUNTED, CutPaths};

/// Returns true if an instruction of the block may throw.
pub fn may_throw(code: &Code, pool: &Pool, block: &BlockInfo) -> bool {
    code.instructions(block.start, block.end)
        .any(|(pc, opcode)| code.may_throw(pc, opcode, pool))
}

/// How a method has to count paths that an exception cuts off.
pub fn needs(code: &Code, pool: &Pool, blocks: &[BlockInfo]) -> CutPaths {
    match blocks {
        [only] if !may_throw(code, pool, only) => CutPaths::None,
        [only] if only.exit == BlockExit::Return => CutPaths::OneBlock,
        blocks if blocks.iter().any(|block| may_throw(code, pool, block)) => CutPaths::BlockKept,
        _ => CutPaths::None,
    }
}

impl Writer<'_, '_, '_, '_> {
    /// Returns true if cut paths are counted in this method.
    pub(super) fn counts_cuts(&self) -> bool {
        self.probes.is_some_and(|p| p.method.cut_paths != CutPaths::None)
    }

    /// The local with the block that runs, if there is one.
    fn block_local(&self) -> Option<u16> {
        let probes = self.probes?;
        match probes.method.cut_paths {
            CutPaths::BlockKept => Some(probes.strategy.block_local(&probes.method)),
            CutPaths::None | CutPaths::OneBlock => None,
        }
    }

    fn set_block(&mut self, value: i32) -> Result<(), RewriteError> {
        let Some(local) = self.block_local() else {
            return Ok(());
        };
        self.emit(|_, asm| asm.set(local, value))
    }

    /// On method entry: every frame claims that the local has a value.
    pub(super) fn cuts_at_entry(&mut self) -> Result<(), RewriteError> {
        self.set_block(0)
    }

    /// At the begin of a block's own code.
    pub(super) fn block_runs(&mut self, block: usize) -> Result<(), RewriteError> {
        if self.block_local().is_none() {
            return Ok(());
        }
        let input = self.input;
        let first = || {
            let graph = input.graph;
            let mut edges = graph.edges();
            let is_entered_once = edges.all(|(_, to)| to != graph.entry());
            is_entered_once && !graph.extra_starts().contains(&graph.entry())
        };
        let entry_says_it = block == BlockId::new(0).index() && first();
        if entry_says_it || !may_throw(input.code, &input.class.pool, &input.blocks[block]) {
            return Ok(());
        }
        self.set_block(block as i32)
    }

    /// In front of an `athrow`, whose path is counted.
    pub(super) fn path_is_counted(&mut self) -> Result<(), RewriteError> {
        self.set_block(COUNTED)
    }

    /// Where one of the method's own handlers begins, in front of anything that changes the register.
    pub(super) fn cut_at_handler(&mut self, arrives: Label) -> Result<(), RewriteError> {
        let Some(local) = self.block_local() else {
            // A single block cannot be its own handler and end in a return as well; but nothing is lost by
            // being careful.
            return Ok(());
        };
        let counted = self.scratch.arrivals.past_cut(arrives);
        self.emit(|_, asm| {
            asm.iload(local); // … block
            Ok(())
        })?;
        self.scratch.layout.jump(op::IFLT, counted, self.out); // …
        self.emit(|probes, asm| probes.strategy.cut(&probes.method, true, asm))?;
        self.scratch.layout.mark(counted, self.out);
        Ok(())
    }
}
