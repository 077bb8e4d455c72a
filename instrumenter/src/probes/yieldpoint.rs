//! `yieldpoint`: PEP section 3.2's yieldpoints, with the path register passed along.

use super::asm::Asm;
use super::shim::ShimMethod;
use super::strategy::{PathEnd, ProbeStrategy, ProbedMethod};
use crate::classfile::pool::PoolFull;

/// Tests a flag at each path end; the shim does the rest.
#[derive(Debug)]
pub struct Yieldpoint;

impl ProbeStrategy for Yieldpoint {
    fn stack(&self) -> u16 {
        2
    }

    fn path_end(&self, method: &ProbedMethod, _: PathEnd, asm: &mut Asm) -> Result<(), PoolFull> {
        asm.push_id(method.method_id.0)?; // … method
        asm.iload(method.register); // … method path
        asm.call_shim(ShimMethod::PathEnd) // …
    }
}
