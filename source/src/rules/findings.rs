//! What rules find, noted in a method's conditions.

use std::ops::Range;

use trodden_profile::{CompilerMade, MethodConditions};

use super::instructions::Instructions;

/// The findings of rules.
pub struct Findings<'f> {
    pub(super) made: CompilerMade,
    pub(super) out: &'f mut MethodConditions,
    pub(super) instructions: &'f mut Instructions,
}

impl Findings<'_> {
    /// The branch or switch at the end of a block is the compiler's.
    pub fn branch(&mut self, block: usize) {
        let at = self
            .out
            .conditions
            .binary_search_by_key(&(block as u32), |c| c.block);
        if let Ok(at) = at {
            self.out.conditions[at].made.get_or_insert(self.made);
        }
    }

    /// The whole block is the compiler's, with the branch at its end.
    pub fn block(&mut self, block: usize) {
        self.branch(block);
        let block = block as u32;
        if let Err(at) = self.out.made.binary_search_by_key(&block, |&(b, _)| b) {
            self.out.made.insert(at, (block, self.made));
        }
    }

    /// The instructions at these positions are the compiler's, with the decisions among them.
    pub fn instructions(&mut self, positions: Range<usize>) {
        positions.for_each(|position| self.instructions.leave_out(position, Some(self.made)));
    }

    /// The instructions at these positions are the compiler's, but the decisions among them are the source's.
    pub fn instructions_alone(&mut self, positions: Range<usize>) {
        positions.for_each(|position| self.instructions.leave_out(position, None));
    }

    /// The source has the instructions at these two positions once.
    pub fn merge(&mut self, into: usize, other: usize) {
        self.instructions.merge(into, other);
    }

    /// The whole method is the compiler's.
    pub fn method(&mut self) {
        self.out.method.get_or_insert(self.made);
    }

    /// The condition at the end of a block, to say it better.
    pub fn condition(&mut self, block: usize) -> Option<&mut trodden_profile::Condition> {
        let at = self
            .out
            .conditions
            .binary_search_by_key(&(block as u32), |c| c.block)
            .ok()?;
        Some(&mut self.out.conditions[at])
    }
}
