//! Code that is added where a strategy wants to see calls: a probe in front of each, and handlers behind the
//! code.

use super::method::{MethodInput, ProbeInput, RewriteError, Writer};
use super::unwind::{Covered, covered};
use crate::classfile::frames::{FullFrame, VerificationType};
use crate::classfile::opcodes::{self as op, KIND, kind};
use crate::classfile::pool::PoolFull;
use crate::classfile::reader::Fault;
use crate::probes::CutPaths;

/// A handler of ours, in the new code: it covers `start..end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unwind {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) at: u32,
    pub(super) uninitialized_this: bool,
}

impl Writer<'_, '_, '_, '_> {
    pub(super) fn sees_calls(&self) -> bool {
        self.probes.is_some_and(|p| p.strategy.sees_calls())
    }

    /// The parts of the method that our own handlers can cover, if they are wanted.
    pub(super) fn covered(&self) -> Result<Vec<Covered>, Fault> {
        let MethodInput {
            class, method, code, ..
        } = *self.input;
        if self.sees_calls() || self.counts_cuts() {
            covered(class, method, code, self.input.frames)
        } else {
            Ok(Vec::new())
        }
    }

    /// Writes our own handlers behind the old code. What is covered begins behind method entry.
    pub(super) fn unwind(&mut self, covered: &[Covered], entry_end: u32) -> Result<(), RewriteError> {
        self.scratch.unwind.clear();
        if covered.is_empty() {
            return Ok(());
        }
        self.scratch.layout.tail(self.out);
        let tail = self.scratch.layout.here(self.out);
        for part in covered {
            let layout = &self.scratch.layout;
            let behind =
                |call: u32| layout.exact[call as usize] + u32::from(op::LENGTH[op::INVOKESPECIAL as usize]);
            let unwind = Unwind {
                start: part.from.map_or(entry_end, behind),
                end: part.to.map_or(tail, |call| layout.exact[call as usize]),
                at: layout.here(self.out),
                uninitialized_this: part.uninitialized_this,
            };
            if unwind.start < unwind.end {
                self.emit(|probes, asm| match probes.method.cut_paths {
                    CutPaths::None => probes.strategy.unwound(&probes.method, asm),
                    CutPaths::OneBlock | CutPaths::BlockKept => {
                        probes.strategy.cut(&probes.method, false, asm)
                    }
                })?;
                self.out.push(op::ATHROW);
                self.scratch.unwind.push(unwind);
            }
        }
        Ok(())
    }

    /// Frames of our own handlers: of the method's own locals they claim nothing.
    pub(super) fn unwind_frames(&mut self, added: &[VerificationType]) -> Result<Vec<FullFrame>, PoolFull> {
        if self.scratch.unwind.is_empty() {
            return Ok(Vec::new());
        }
        let on_stack = self.pool.class(b"java/lang/Throwable")?;
        let own = usize::from(self.input.code.max_locals);
        let frame = |unwind: &Unwind| {
            let mut locals = vec![VerificationType::Top; own];
            if unwind.uninitialized_this {
                locals[0] = VerificationType::UninitializedThis;
            }
            locals.extend_from_slice(added);
            FullFrame {
                at: unwind.at,
                locals,
                on_stack,
            }
        };
        Ok(self.scratch.unwind.iter().map(frame).collect())
    }

    /// Emits the probe in front of a block's own code where the method catches an exception.
    pub(super) fn caught(&mut self, block: usize) -> Result<(), RewriteError> {
        let wanted = |p: &ProbeInput| p.strategy.sees_calls() && !p.strategy.reports_call_sites();
        if self.probes.is_some_and(wanted) && self.scratch.arrivals.blocks[block].handler.is_some() {
            self.emit(|probes, asm| probes.strategy.caught(&probes.method, asm))?;
        }
        Ok(())
    }

    pub(super) fn with_calls(&mut self, block: usize, from: u32, to: u32) -> Result<(), RewriteError> {
        let mut done = from;
        for (pc, opcode) in self.input.code.instructions(from, to) {
            if KIND[opcode as usize] & kind::CALL != 0 {
                self.copy(done, pc);
                done = pc;
                // In front of a block the front's own place counts.
                if pc != self.input.blocks[block].start {
                    self.scratch.layout.begin(pc, self.out);
                }
                self.emit(|probes, asm| probes.strategy.call(&probes.method, pc, asm))?;
            }
        }
        self.copy(done, to);
        Ok(())
    }
}
