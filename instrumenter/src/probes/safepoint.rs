//! `safepoint`: the register and nothing else (PEP section 3.2's closing suggestion). The agent reads it from
//! frames of suspended threads.

use super::asm::Asm;
use super::strategy::{PathEnd, ProbeStrategy, ProbedMethod};
use crate::classfile::pool::PoolFull;

/// No code at path ends.
#[derive(Debug)]
pub struct Safepoint;

impl ProbeStrategy for Safepoint {
    fn stack(&self) -> u16 {
        // Large register values are added through the stack.
        2
    }

    fn path_end(&self, _: &ProbedMethod, _: PathEnd, _: &mut Asm) -> Result<(), PoolFull> {
        Ok(())
    }

    fn register_is_visible(&self) -> bool {
        // JVMTI GetLocalInt fails with INVALID_SLOT for a slot that an existing table does not list.
        true
    }
}
