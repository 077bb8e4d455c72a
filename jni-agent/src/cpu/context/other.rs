//! Processors whose registers are not known.

use libc::mcontext_t;

use super::Registers;

pub fn place(_: &mcontext_t) -> Option<Registers> {
    None
}

pub fn put(_: &mut mcontext_t, _: Registers) {}

pub fn general(_: &mcontext_t, _: usize) -> u64 {
    0
}

pub fn caller_of_leaf(_: &mcontext_t) -> Option<Registers> {
    None
}
