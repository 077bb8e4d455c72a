//! Probes of requests: an activation begins, and ends, by a return or by an exception.

use super::asm::Asm;
use super::shim::ShimMethod;
use super::strategy::{ProbeStrategy, ProbedMethod};
use crate::classfile::frames::VerificationType;
use crate::classfile::pool::PoolFull;

/// Reports activations of methods that handle requests. They are put around a method that has its probes
/// already: what it counts is inside.
#[derive(Debug)]
pub struct Request;

/// The local with the number of requests of the thread that the activation is in.
fn depth_slot(method: &ProbedMethod) -> u16 {
    method.register
}

impl ProbeStrategy for Request {
    fn stack(&self) -> u16 {
        // An argument, above the exception, for which a method may have no room either.
        2
    }

    fn locals(&self, _: &ProbedMethod, _: &mut Asm) -> Result<Vec<VerificationType>, PoolFull> {
        Ok(vec![VerificationType::Integer])
    }

    fn enter(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        asm.push_id(method.method_id.0)?; // … name
        asm.call_shim(ShimMethod::RequestBegins)?; // … depth
        asm.istore(depth_slot(method)); // …
        Ok(())
    }

    fn keeps_register(&self) -> bool {
        false
    }

    fn sees_calls(&self) -> bool {
        true
    }

    fn reports_call_sites(&self) -> bool {
        false
    }

    fn unwound(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        asm.iload(depth_slot(method)); // … depth
        asm.call_shim(ShimMethod::RequestEnds) // …
    }
}
