//! `counters`: every path end counted ("perfect profile", PEP section 5.1).
//!
//! Each thread has its own slots, so that plain increments lose nothing. A method that can end several paths
//! in one activation fetches the address of its class's slots once, on entry. The register runs from the method's
//! first slot on, so that it is the index.

use super::{Asm, PathEnd, ProbeStrategy, ProbedMethod};
use crate::classfile::frames::VerificationType;
use crate::classfile::pool::PoolFull;

/// Counts each path end in per-thread slots.
#[derive(Debug)]
pub struct Counters;

/// Does the method keep the address of its slots in a local?
fn keeps_address(method: &ProbedMethod) -> bool {
    method.counter_base.is_some() && !method.one_end
}

fn address_slot(method: &ProbedMethod) -> u16 {
    method.register + 1
}

impl ProbeStrategy for Counters {
    fn stack(&self) -> u16 {
        3
    }

    fn locals(&self, method: &ProbedMethod, _: &mut Asm) -> Result<Vec<VerificationType>, PoolFull> {
        match keeps_address(method) {
            true => Ok(vec![VerificationType::Long]),
            false => Ok(Vec::new()),
        }
    }

    fn base(&self, method: &ProbedMethod) -> u32 {
        method.counter_base.unwrap_or(0)
    }

    fn enter(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        if keeps_address(method) {
            asm.push_id(method.first_counter)?; // … offset
            asm.call_shim("counters", "(I)J")?; // … address
            asm.lstore(address_slot(method)); // …
        }
        Ok(())
    }

    fn path_end(&self, method: &ProbedMethod, _: PathEnd, asm: &mut Asm) -> Result<(), PoolFull> {
        match method.counter_base {
            Some(_) if keeps_address(method) => {
                asm.lload(address_slot(method)); // … address
                asm.iload(method.register); // … address slot
                asm.call_shim("count", "(JI)V") // …
            }
            Some(_) => {
                asm.push_id(method.first_counter)?; // … offset
                asm.iload(method.register); // … offset slot
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
