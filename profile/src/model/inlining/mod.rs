//! Code of inline functions (Kotlin's), which compilers copy into the methods that call them: where it comes from.
//!
//! A method's line entries lead to the lines of its own file, for such code to the line with the call. This says which code
//! that is, and what file, class and line it was written in.

mod codec;
pub(crate) mod section;

use std::sync::Arc;

use super::map::MethodMap;

pub(in crate::model) use codec::{INLINED, put_class};

/// A piece of a method's code that was inlined from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InlinedCode {
    /// Bytecode index of its first instruction.
    pub start: u32,
    /// Bytecode index after its last instruction.
    pub end: u32,
    /// Line that it was written in.
    pub line: u32,
    /// Name of the source file that it was written in, without folders.
    pub file: Arc<str>,
    /// Internal name of the class that it was written in.
    pub class: Arc<str>,
}

impl MethodMap {
    /// What the instruction at a bytecode index was inlined from; `None` if it is the method's own.
    pub fn inlined_at(&self, bci: u32) -> Option<&InlinedCode> {
        let after = self.inlined.partition_point(|piece| piece.start <= bci);
        let piece = &self.inlined[after.checked_sub(1)?];
        (bci < piece.end).then_some(piece)
    }
}
