//! AArch64. The frame pointer is x29; calls put the address that they return to into x30.

use libc::mcontext_t;

use super::Registers;

const FP: usize = 29;
const LINK: usize = 30;

pub fn place(context: &mcontext_t) -> Option<Registers> {
    Some(Registers {
        pc: context.pc as usize,
        sp: context.sp as usize,
        fp: context.regs[FP] as usize,
    })
}

pub fn put(context: &mut mcontext_t, Registers { pc, sp, fp }: Registers) {
    (context.pc, context.sp, context.regs[FP]) = (pc as u64, sp as u64, fp as u64);
}

/// Number 31 is zero, in stores.
pub fn general(context: &mcontext_t, number: usize) -> u64 {
    context.regs.get(number).copied().unwrap_or(0)
}

pub fn caller_of_leaf(context: &mcontext_t) -> Option<Registers> {
    let here = place(context)?;
    Some(Registers {
        pc: context.regs[LINK] as usize,
        ..here
    })
}
