//! A store that was refused, done in its place: the page stays protected, and the thread continues behind it.
//!
//! Probes count with one store of eight bytes, or with one addition to memory. Compilers know a handful of
//! instructions for that; any other is not understood, and the page is opened for it.

use std::ffi::c_void;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

/// Bytes of a page.
pub const PAGE: usize = 4096;
/// Our own memory, through which a page can be written to that refuses stores.
static MEMORY: OnceLock<Option<File>> = OnceLock::new();

/// Opens the way around the protection, at the first call. Not for signal handlers.
pub fn prepare() {
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

/// An instruction's effect and length; `None`: another instruction than those that counters are written with.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
fn decode(code: &[u8]) -> Option<(Effect, usize)> {
    let [rex, opcode, modrm, sib, ..] = *code else {
        return None;
    };
    // A REX prefix with W: eight bytes.
    if rex & 0xf8 != 0x48 {
        return None;
    }
    let (mode, base) = (modrm >> 6, modrm & 7);
    let has_sib = base == 4;
    let displacement = match mode {
        0 if base == 5 || (has_sib && sib & 7 == 5) => 4,
        0 => 0,
        1 => 1,
        2 => 4,
        _ => return None,
    };
    let at = 3 + usize::from(has_sib) + displacement;
    let register = usize::from((modrm >> 3 & 7) | (rex & 4) << 1);
    let byte = || Some(i64::from(*code.get(at)? as i8));
    let word = || {
        Some(i64::from(i32::from_le_bytes(
            code.get(at..at + 4)?.try_into().ok()?,
        )))
    };
    match (opcode, modrm >> 3 & 7) {
        (0x89, _) => Some((Effect::Set(register), at)),
        (0x01, _) => Some((Effect::Add(register), at)),
        (0xff, 0) => Some((Effect::AddNumber(1), at)),
        (0x83, 0) => Some((Effect::AddNumber(byte()?), at + 1)),
        (0x81, 0) => Some((Effect::AddNumber(word()?), at + 4)),
        (0xc7, 0) => Some((Effect::SetNumber(word()?), at + 4)),
        _ => None,
    }
}

/// Does the store to an address that the interrupted thread was refused, and has the thread continue behind
/// it. `is_protected`: its page is. False: nothing was done.
///
/// # Safety
/// In the handler of the fault, whose context it is; the address can be read, and written if its page is not
/// protected.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub unsafe fn perform(address: usize, context: *mut c_void, is_protected: bool) -> bool {
    /// Longest instruction.
    const LONGEST: usize = 15;
    /// Where the registers 0 to 15 are.
    const REGISTERS: [i32; 16] = [
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
    // SAFETY: the caller's promise.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let at = registers[libc::REG_RIP as usize] as usize;
    let mut bytes = [0; LONGEST];
    let read = if at % PAGE <= PAGE - LONGEST {
        // SAFETY: the thread executes code on this page.
        bytes = unsafe { (at as *const [u8; LONGEST]).read_volatile() };
        Some(LONGEST)
    } else {
        // Checked: the page behind may be no memory.
        memory().and_then(|memory| memory.read_at(&mut bytes, at as u64).ok())
    };
    let Some((effect, length)) = read.and_then(|length| decode(&bytes[..length])) else {
        return false;
    };
    // SAFETY: the caller's promise.
    let now = unsafe { (address as *const u64).read_volatile() };
    let register = |number: usize| registers[REGISTERS[number] as usize] as u64;
    let value = match effect {
        Effect::Set(number) => register(number),
        Effect::Add(number) => now.wrapping_add(register(number)),
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
        registers[libc::REG_RIP as usize] += length as i64;
    }
    done
}

/// Elsewhere no instruction is understood.
///
/// # Safety
/// None is needed.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub unsafe fn perform(_: usize, _: *mut c_void, _: bool) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GNU's assembler encodes them.
    #[test]
    fn stores_to_counters_are_understood() {
        let known: [(&[u8], Effect, usize); 10] = [
            // mov %rcx,(%rax)
            (&[0x48, 0x89, 0x08, 0x90], Effect::Set(1), 3),
            // mov %r11,0x8(%rax,%rbx,8)
            (&[0x4c, 0x89, 0x5c, 0xd8, 0x08], Effect::Set(11), 5),
            // mov %rdx,0x12345678(%r10)
            (&[0x49, 0x89, 0x92, 0x78, 0x56, 0x34, 0x12], Effect::Set(2), 7),
            // mov %rax,0x1000(,%rcx,8)
            (&[0x48, 0x89, 0x04, 0xcd, 0, 0x10, 0, 0], Effect::Set(0), 8),
            // mov %rax,0x10(%r12)
            (&[0x49, 0x89, 0x44, 0x24, 0x10], Effect::Set(0), 5),
            // add %rsi,(%rdi)
            (&[0x48, 0x01, 0x37, 0x90], Effect::Add(6), 3),
            // incq (%rdi)
            (&[0x48, 0xff, 0x07, 0x90], Effect::AddNumber(1), 3),
            // addq $-1,(%rdi)
            (&[0x48, 0x83, 0x07, 0xff], Effect::AddNumber(-1), 4),
            // addq $0x100,0x8(%rdi)
            (&[0x48, 0x81, 0x47, 0x08, 0, 1, 0, 0], Effect::AddNumber(256), 8),
            // movq $1,(%r8)
            (&[0x49, 0xc7, 0x00, 1, 0, 0, 0], Effect::SetNumber(1), 7),
        ];
        for (code, effect, length) in known {
            assert_eq!(decode(code), Some((effect, length)), "{code:x?}");
        }
        let other: [&[u8]; 5] = [
            // mov %ecx,(%rax), four bytes
            &[0x89, 0x08, 0x90, 0x90],
            // mov %rcx,%rax
            &[0x48, 0x89, 0xc8, 0x90],
            // subq $1,(%rdi)
            &[0x48, 0x83, 0x2f, 0x01],
            // lock xadd %rax,(%rdi)
            &[0xf0, 0x48, 0x0f, 0xc1, 0x07],
            // cut off
            &[0x48, 0x81, 0x47, 0x08, 0],
        ];
        for code in other {
            assert_eq!(decode(code), None, "{code:x?}");
        }
    }

    #[test]
    fn a_protected_page_is_written_to() {
        prepare();
        let map = memmap2::MmapMut::map_anon(4096).unwrap();
        let address = map.as_ptr().addr();
        let map = map.make_read_only().unwrap();
        assert!(write_around(address + 8, 0x0102_0304_0506_0708));
        assert_eq!(map[8..16], 0x0102_0304_0506_0708u64.to_ne_bytes());
    }
}
