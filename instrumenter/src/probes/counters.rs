//! `counters`: every path end counted ("perfect profile", PEP section 5.1).
//!
//! Each thread has its own arrays, so that plain increments lose nothing. A method that can end several paths
//! in one activation fetches its class's array once, on entry. The register runs from the method's first slot
//! on, so that it is the index.

use super::{Asm, ProbeStrategy, ProbedMethod};
use crate::classfile::frames::VerificationType;
use crate::classfile::pool::PoolFull;

/// Counts each path end in per-thread arrays.
#[derive(Debug)]
pub struct Counters;

/// Does the method keep its array in a local?
fn keeps_array(method: &ProbedMethod) -> bool {
    method.counter_base.is_some() && !method.one_end
}

fn array_slot(method: &ProbedMethod) -> u16 {
    method.register + 1
}

impl ProbeStrategy for Counters {
    fn stack(&self) -> u16 {
        2
    }

    fn locals(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<Vec<VerificationType>, PoolFull> {
        match keeps_array(method) {
            true => Ok(vec![VerificationType::Object(asm.pool.class(b"[J")?)]),
            false => Ok(Vec::new()),
        }
    }

    fn base(&self, method: &ProbedMethod) -> u32 {
        method.counter_base.unwrap_or(0)
    }

    fn enter(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        if keeps_array(method) {
            asm.push_id(method.class_id)?; // … class
            asm.call_shim("counters", "(I)[J")?; // … long[]
            asm.astore(array_slot(method)); // …
        }
        Ok(())
    }

    fn path_end(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        match method.counter_base {
            Some(_) if keeps_array(method) => {
                asm.aload(array_slot(method)); // … long[]
                asm.iload(method.register); // … long[] slot
                asm.call_shim("count", "([JI)V") // …
            }
            Some(_) => {
                asm.push_id(method.class_id)?; // … class
                asm.iload(method.register); // … class slot
                asm.call_shim("count", "(II)V") // …
            }
            None => {
                asm.push_id(method.method_id)?; // … method
                asm.iload(method.register); // … method path
                asm.call_shim("countHashed", "(II)V") // …
            }
        }
    }
}
