//! A store that was refused, done in its place: the page stays protected, and the thread continues behind it.
//!
//! Probes count with one store of eight bytes, or with one addition to memory. Compilers know a handful of
//! instructions for that; any other is not understood, and the page is opened for it.

#[cfg_attr(not(target_arch = "aarch64"), allow(dead_code))]
mod aarch64;
#[cfg_attr(target_arch = "aarch64", allow(dead_code))]
mod x86_64;

use std::ffi::c_void;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cpu::context::Context;
use crate::jvm::code::Registers;

#[cfg(target_arch = "aarch64")]
use aarch64::{LONGEST, decode};
#[cfg(not(target_arch = "aarch64"))]
use x86_64::{LONGEST, decode};

/// Bytes of a page: AArch64 has pages of 4, 16 or 64 KiB.
static PAGE: AtomicUsize = AtomicUsize::new(4096);
/// Our own memory, through which a page can be written to that refuses stores.
static MEMORY: OnceLock<Option<File>> = OnceLock::new();

/// Bytes of a page.
pub fn page() -> usize {
    PAGE.load(Ordering::Relaxed)
}

/// Opens the way around the protection, at the first call. Not for signal handlers.
pub fn prepare() {
    // SAFETY: no memory is passed.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    if let Ok(page @ 1..) = usize::try_from(page) {
        PAGE.store(page, Ordering::Relaxed);
    }
    let open = || File::options().read(true).write(true).open("/proc/self/mem").ok();
    MEMORY.get_or_init(open);
}

fn memory() -> Option<&'static File> {
    MEMORY.get().and_then(Option::as_ref)
}

/// Writes a word to a page that is protected; false if the system does not let us. In a signal handler.
fn write_around(address: usize, value: u64) -> bool {
    memory().is_some_and(|memory| matches!(memory.write_at(&value.to_ne_bytes(), address as u64), Ok(8)))
}

/// The effect of an instruction on the eight bytes at its operand in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(target_arch = "aarch64", allow(dead_code))]
enum Effect {
    /// Stores a register, by its number.
    Set(usize),
    /// Adds a register.
    Add(usize),
    /// Stores a number.
    SetNumber(i64),
    /// Adds a number.
    AddNumber(i64),
}

/// Does the store to an address that the interrupted thread was refused, and has the thread continue behind
/// it. `is_protected`: its page is. False: nothing was done.
///
/// # Safety
/// In the handler of the fault, whose context it is; the address can be read, and written if its page is not
/// protected.
pub unsafe fn perform(address: usize, context: *mut c_void, is_protected: bool) -> bool {
    // SAFETY: the caller's promise.
    let mut context = unsafe { Context::of(context) };
    let Some(Registers { pc, .. }) = context.registers() else {
        return false;
    };
    let mut bytes = [0; LONGEST];
    let read = if pc % page() <= page() - LONGEST {
        // SAFETY: the thread executes code on this page.
        bytes = unsafe { (pc as *const [u8; LONGEST]).read_volatile() };
        Some(LONGEST)
    } else {
        // Checked: the page behind may be no memory.
        memory().and_then(|memory| memory.read_at(&mut bytes, pc as u64).ok())
    };
    let Some((effect, length)) = read.and_then(|length| decode(&bytes[..length])) else {
        return false;
    };
    // SAFETY: the caller's promise.
    let now = unsafe { (address as *const u64).read_volatile() };
    let value = match effect {
        Effect::Set(number) => context.general(number),
        Effect::Add(number) => now.wrapping_add(context.general(number)),
        Effect::SetNumber(number) => number as u64,
        Effect::AddNumber(number) => now.wrapping_add(number as u64),
    };
    let done = if is_protected {
        write_around(address, value)
    } else {
        // SAFETY: the caller's promise.
        unsafe { (address as *mut u64).write_volatile(value) };
        true
    };
    if done {
        context.skip(length);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protected_page_is_written_to() {
        prepare();
        let map = memmap2::MmapMut::map_anon(page()).unwrap();
        let address = map.as_ptr().addr();
        let map = map.make_read_only().unwrap();
        assert!(write_around(address + 8, 0x0102_0304_0506_0708));
        assert_eq!(map[8..16], 0x0102_0304_0506_0708u64.to_ne_bytes());
    }
}
