//! The context that the system passes to the handler of a signal: the registers of the thread that it has
//! interrupted. On processors that are not known here there are none.

use std::ffi::c_void;

use crate::jvm::code::Registers;

#[cfg_attr(target_arch = "x86_64", path = "context/x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "context/aarch64.rs")]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    path = "context/other.rs"
)]
mod processor;

/// How far above the stack's end a frame of code without a description begins at most.
const FRAME: usize = 4096;

/// Where a thread was interrupted.
///
/// The JVM's walker knows methods. Pieces of code that it has put together for several methods (checksums,
/// copies of arrays, dispatch through tables) belong to none, and it gives up. Most of them have no frame of
/// their own: then the address of their caller is on top of the stack, or in the link register; the others
/// keep it where the frame pointer says. The walker is asked again as if the caller had been interrupted
/// there, if that is an address that a call returns to: it must not be asked about others.
pub struct Context<'h>(&'h mut libc::ucontext_t);

impl Context<'_> {
    /// # Safety
    /// The context that the system passed to a signal handler that has not returned, and that is not read or
    /// written elsewhere meanwhile.
    pub unsafe fn of(context: *mut c_void) -> Self {
        // SAFETY: the caller's promise.
        Context(unsafe { &mut *context.cast() })
    }

    /// Program counter, stack pointer and frame pointer.
    pub fn registers(&self) -> Option<Registers> {
        processor::place(&self.0.uc_mcontext)
    }

    /// One of the general registers, by its number in instructions.
    pub fn general(&self, number: usize) -> u64 {
        processor::general(&self.0.uc_mcontext, number)
    }

    /// The thread continues this many bytes behind.
    pub fn skip(&mut self, length: usize) {
        if let Some(Registers { pc, sp, fp }) = self.registers() {
            self.put(Registers {
                pc: pc + length,
                sp,
                fp,
            });
        }
    }

    fn put(&mut self, registers: Registers) {
        processor::put(&mut self.0.uc_mcontext, registers);
    }

    /// The registers in the caller of code without a frame.
    pub fn caller_of_leaf(&self) -> Option<Registers> {
        processor::caller_of_leaf(&self.0.uc_mcontext)
    }

    /// The registers in the caller of code that has set up a frame.
    pub fn caller_by_frame(&self) -> Option<Registers> {
        let Registers { sp, fp, .. } = self.registers()?;
        let inside = fp.is_multiple_of(8) && (sp..sp + FRAME).contains(&fp);
        inside.then(|| Registers {
            pc: word(fp + 8),
            sp: fp + 16,
            fp: word(fp),
        })
    }

    /// Runs something with the context of a caller.
    pub fn at(&mut self, caller: Registers, walk: impl FnOnce(*mut c_void)) {
        let Some(here) = self.registers() else { return };
        self.put(caller);
        walk((&raw mut *self.0).cast());
        // The thread continues at its own place.
        self.put(here);
    }
}

/// A word of the interrupted thread's stack.
fn word(at: usize) -> usize {
    // SAFETY: callers pass addresses at most a page above the stack pointer. The code of the JVM runs on
    // a stack that is larger: that of the calls which led to it lies there.
    unsafe { (at as *const usize).read_volatile() }
}
