//! New code while it is written: places of labels, jumps to be filled in, where old instructions went.

use super::arrivals::Label;
use crate::classfile::code::MAX_CODE;
use crate::classfile::opcodes as op;
use crate::classfile::reader::put_u4;

/// Why code cannot be laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// More than 65,535 bytes.
    TooLarge,
    /// A conditional branch would have to reach further than 32 KB.
    BranchTooFar,
}

/// An offset that is filled in when all places are known.
#[derive(Clone, Copy, Debug)]
struct Fixup {
    /// The instruction that it is relative to.
    from: u32,
    /// The offset.
    at: u32,
    to: Label,
    /// The number of the jump if it has a two-byte offset; [`FOUR_BYTES`] if it has four.
    jump: u32,
}

const FOUR_BYTES: u32 = u32::MAX;

/// Places in the new code. The memory is used again.
#[derive(Debug, Default)]
pub struct Layout {
    /// Length of the output when the code began.
    base: usize,
    labels: Vec<u32>,
    fixups: Vec<Fixup>,
    jumps: u32,
    /// Numbers of jumps that need a four-byte offset, ascending. Nearly always none.
    wide: Vec<u32>,
    /// Per old bytecode index: the new one of the instruction itself.
    pub exact: Vec<u32>,
    /// Per old bytecode index: the new one of what is inserted in front of the instruction, else of itself.
    pub begin: Vec<u32>,
    /// (old, new) where something is inserted.
    begins: Vec<(u32, u32)>,
    /// Where code of our own begins that stands behind the old code, if there is any.
    tail: Option<u32>,
}

impl Layout {
    /// Prepares for a method.
    pub fn reset(&mut self, code_length: u32) {
        self.wide.clear();
        self.exact.clear();
        self.exact.resize(code_length as usize + 1, 0);
    }

    /// Prepares for writing the code, perhaps once more. It begins at the end of `out`.
    pub fn start(&mut self, out: &[u8], labels: usize) {
        self.base = out.len();
        self.labels.clear();
        self.labels.resize(labels, 0);
        self.fixups.clear();
        self.jumps = 0;
        self.begins.clear();
        self.tail = None;
    }

    /// Bytecode index of what is written next.
    #[inline]
    pub fn here(&self, out: &[u8]) -> u32 {
        (out.len() - self.base) as u32
    }

    /// Place of a label.
    pub fn label(&self, label: Label) -> u32 {
        self.labels[label as usize]
    }

    /// The label is here.
    #[inline]
    pub fn mark(&mut self, label: Label, out: &[u8]) {
        self.labels[label as usize] = self.here(out);
    }

    /// Notes that the code inserted in front of this old instruction begins here.
    #[inline]
    pub fn begin(&mut self, pc: u32, out: &[u8]) {
        let here = self.here(out);
        self.begins.push((pc, here));
    }

    /// The old code is over; what comes next is not part of it.
    pub fn tail(&mut self, out: &[u8]) {
        self.tail = Some(self.here(out));
    }

    /// The old code from `from` to `to` comes next, in one piece.
    #[inline]
    pub fn old(&mut self, from: u32, to: u32, out: &[u8]) {
        let here = self.here(out);
        let moved = &mut self.exact[from as usize..to as usize];
        for (new, place) in (here..).zip(moved) {
            *place = new;
        }
    }

    /// Writes a branch or goto.
    pub fn jump(&mut self, op: u8, to: Label, out: &mut Vec<u8>) {
        if op == op::GOTO_W {
            out.push(op);
            let from = out.len() - 1;
            return self.offset(from, to, out);
        }
        let jump = self.jumps;
        self.jumps += 1;
        if !self.wide.is_empty() && self.wide.binary_search(&jump).is_ok() {
            return self.jump(op::GOTO_W, to, out);
        }
        let from = self.here(out);
        self.fixups.push(Fixup {
            from,
            at: from + 1,
            to,
            jump,
        });
        out.extend_from_slice(&[op, 0, 0]);
    }

    /// Writes a four-byte offset relative to the instruction at `from` in the output.
    pub fn offset(&mut self, from: usize, to: Label, out: &mut Vec<u8>) {
        self.fixups.push(Fixup {
            from: (from - self.base) as u32,
            at: self.here(out),
            to,
            jump: FOUR_BYTES,
        });
        put_u4(out, 0);
    }

    /// Fills in all offsets. `false`: some gotos do not reach; the code has to be written again.
    pub fn finish(&mut self, old_length: u32, out: &mut [u8]) -> Result<bool, LayoutError> {
        let length = self.here(out);
        let code = &mut out[self.base..];
        let mut wider = false;
        for &Fixup { from, at, to, jump } in &self.fixups {
            let delta = self.labels[to as usize].wrapping_sub(from) as i32;
            let at = at as usize;
            if jump == FOUR_BYTES {
                code[at..at + 4].copy_from_slice(&delta.to_be_bytes());
            } else if let Ok(delta) = i16::try_from(delta) {
                code[at..at + 2].copy_from_slice(&delta.to_be_bytes());
            } else if code[from as usize] == op::GOTO {
                self.wide.push(jump);
                wider = true;
            } else {
                return Err(LayoutError::BranchTooFar);
            }
        }
        if wider {
            self.wide.sort_unstable();
            return Ok(false);
        }
        if length as usize > MAX_CODE {
            return Err(LayoutError::TooLarge);
        }
        self.exact[old_length as usize] = self.tail.unwrap_or(length);
        self.begin.clone_from(&self.exact);
        for &(old, new) in &self.begins {
            self.begin[old as usize] = new;
        }
        Ok(true)
    }
}
