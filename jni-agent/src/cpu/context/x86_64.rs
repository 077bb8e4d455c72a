//! x86-64.

use libc::mcontext_t;

use super::{Registers, word};

const PC: usize = libc::REG_RIP as usize;
const SP: usize = libc::REG_RSP as usize;
const FP: usize = libc::REG_RBP as usize;

/// Where the registers 0 to 15 are.
const GENERAL: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

pub fn place(context: &mcontext_t) -> Option<Registers> {
    let [pc, sp, fp] = [PC, SP, FP].map(|register| context.gregs[register] as usize);
    Some(Registers { pc, sp, fp })
}

pub fn put(context: &mut mcontext_t, Registers { pc, sp, fp }: Registers) {
    for (register, value) in [(PC, pc), (SP, sp), (FP, fp)] {
        context.gregs[register] = value as i64;
    }
}

pub fn general(context: &mcontext_t, number: usize) -> u64 {
    context.gregs[GENERAL[number] as usize] as u64
}

/// Calls put the address on the stack.
pub fn caller_of_leaf(context: &mcontext_t) -> Option<Registers> {
    let Registers { sp, fp, .. } = place(context)?;
    sp.is_multiple_of(8).then(|| Registers {
        pc: word(sp),
        sp: sp + 8,
        fp,
    })
}
