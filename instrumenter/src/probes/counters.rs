//! `counters`: every path end counted ("perfect profile", PEP section 5.1).
//!
//! Each thread has its own slots, so that plain increments lose nothing. A method that can end several paths
//! in one activation fetches the address of its class's slots once, on entry. The register runs from the
//! method's first slot on, so that it is the index.

use super::asm::Asm;
use super::shim::ShimMethod;
use super::strategy::{COUNTED, CutPaths, PathEnd, ProbeStrategy, ProbedMethod};
use crate::classfile::frames::VerificationType;
use crate::classfile::pool::PoolFull;
use crate::options::InstrumentOptions;

/// Counts each path end in per-thread slots.
#[derive(Debug)]
pub struct Counters {
    /// True if paths are counted that an exception cuts off.
    cut_paths: bool,
    /// True if the register must be listed in the LocalVariableTable, where there is one.
    register_is_visible: bool,
}

/// Returns true if the method keeps the address of its slots in a local.
fn keeps_address(method: &ProbedMethod) -> bool {
    method.counter_base.is_some() && !method.one_end
}

fn address_slot(method: &ProbedMethod) -> u16 {
    method.register + 1
}

impl ProbeStrategy for Counters {
    fn stack(&self) -> u16 {
        // One for the exception or, at a handler, for the mark that its path is counted.
        3 + u16::from(self.cut_paths)
    }

    fn locals(&self, method: &ProbedMethod, _: &mut Asm) -> Result<Vec<VerificationType>, PoolFull> {
        let address = keeps_address(method).then_some(VerificationType::Long);
        let block = (method.cut_paths == CutPaths::BlockKept).then_some(VerificationType::Integer);
        Ok(address.into_iter().chain(block).collect())
    }

    fn counts_cut_paths(&self) -> bool {
        self.cut_paths
    }

    fn block_local(&self, method: &ProbedMethod) -> u16 {
        address_slot(method) + 2 * u16::from(keeps_address(method))
    }

    fn cut(&self, method: &ProbedMethod, continues: bool, asm: &mut Asm) -> Result<(), PoolFull> {
        asm.push_id(method.method_id.0)?; // … method
        asm.iload(method.register); // … method register
        match method.cut_paths {
            CutPaths::BlockKept => asm.iload(self.block_local(method)), // … method register block
            CutPaths::OneBlock | CutPaths::None => asm.push(0)?,        // … method register block
        }
        if continues {
            // First: should the call find no stack, it is not tried again.
            asm.set(self.block_local(method), COUNTED)?; // … method register block
        }
        asm.call_shim(ShimMethod::Cut) // …
    }

    fn register_is_visible(&self) -> bool {
        self.register_is_visible
    }

    fn base(&self, method: &ProbedMethod) -> u32 {
        method.counter_base.unwrap_or(0)
    }

    fn enter(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        if keeps_address(method) {
            asm.push_id(method.first_counter.0)?; // … offset
            asm.call_shim(ShimMethod::Counters)?; // … address
            asm.lstore(address_slot(method)); // …
        }
        if let Some(slot) = method.begun.filter(|_| method.cut_paths != CutPaths::None) {
            asm.push_id(method.first_counter.0)?; // … offset
            asm.push(slot)?; // … offset slot
            asm.call_shim(ShimMethod::CountAt)?; // …
        }
        Ok(())
    }

    fn path_end(&self, method: &ProbedMethod, _: PathEnd, asm: &mut Asm) -> Result<(), PoolFull> {
        match method.counter_base {
            Some(_) if keeps_address(method) => {
                asm.lload(address_slot(method)); // … address
                asm.iload(method.register); // … address slot
                asm.call_shim(ShimMethod::Count) // …
            }
            Some(_) => {
                asm.push_id(method.first_counter.0)?; // … offset
                asm.iload(method.register); // … offset slot
                asm.call_shim(ShimMethod::CountAt) // …
            }
            None => {
                asm.push_id(method.method_id.0)?; // … method
                asm.iload(method.register); // … method path
                asm.call_shim(ShimMethod::CountHashed) // …
            }
        }
    }
}

const fn form(cut_paths: bool, register_is_visible: bool) -> Counters {
    Counters {
        cut_paths,
        register_is_visible,
    }
}

/// The strategy that the options ask for.
pub fn counters(options: &InstrumentOptions) -> &'static Counters {
    static FORMS: [Counters; 4] = [
        form(false, false),
        form(false, true),
        form(true, false),
        form(true, true),
    ];
    &FORMS[2 * usize::from(options.cut_paths) + usize::from(options.open_paths)]
}
