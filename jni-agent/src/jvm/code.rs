//! HotSpot's code cache, as far as a signal handler has to know it: what kind of code an address belongs to,
//! and whether the JVM's own walker (`AsyncGetCallTrace`) may begin there.
//!
//! The walker begins at the thread's registers where the thread runs compiled or interpreted code. It then
//! believes two things that are not always true, and ended JVMs by that:
//!
//! * *Native code called from compiled code keeps frame pointers.* Where it does not, the frame pointer is
//!   any value, such as the address of a lock in the caller's frame. The word behind it is taken for a return
//!   address, and the compiled frame that is made of it has a wrong stack pointer. If that address is where a
//!   deoptimised frame continues, the frame's former address is read from a wrong place.
//! * *The code that deoptimises has its frame as its description says.* While it takes frames apart and
//!   builds others it does not.
//!
//! Nothing here allocates, locks or calls the JVM, except [`CodeCache::new`]. What is read is what the JVM's
//! walker reads in the same place: heaps of code never shrink, and never move.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;

use jvmti_bindings::sys::jni::JNIEnv;

use super::tables::{Tables, is, read};
use super::thread::Vm;
use super::{Jni, Jvmti};

/// Registers of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Program counter.
    pub pc: usize,
    /// Stack pointer.
    pub sp: usize,
    /// Frame pointer, or any value where code keeps none.
    pub fp: usize,
}

/// Where the walker begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Where the thread left Java code for the JVM or native code: a place that is known exactly.
    LastCall,
    /// At the thread's registers.
    Registers,
}

/// Why the walker must not be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsafe {
    /// A frame of the thread is being taken apart.
    Deoptimizing,
    /// The caller of native code is not known for certain.
    CallerUnknown,
}

/// Code that an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blob {
    /// A compiled method, with the address of its description.
    Compiled(usize),
    /// Code that replaces frames: deoptimisation, uncommon traps, exceptions, safepoints.
    Replaces,
    /// The interpreter.
    Interpreter,
    /// Anything else: stubs, adapters.
    Other,
}

/// Where HotSpot has what is needed.
pub struct CodeCache {
    heaps: Vec<usize>,
    /// Names of kinds of code are in the JVM's library.
    library: Range<usize>,
    heap: HeapLayout,
    blob: BlobLayout,
    thread: ThreadLayout,
    owner: [usize; 5],
    symbol: (usize, usize),
}

/// Names of a type and of one of its fields.
type Field = (&'static CStr, &'static CStr);

struct HeapLayout {
    /// Ends of the memory, then of the map of segments, that are in use.
    memory: (usize, usize),
    segments: (usize, usize),
    log_of_segment: usize,
    block_used: usize,
    block: usize,
}

struct BlobLayout {
    name: usize,
    /// Words of its frames (`int`), with that of the return address, which is the last.
    frame_size: usize,
    /// Where deoptimised frames continue: two of them.
    deoptimized: [Entry; 2],
}

/// How a compiled method says where a part of its code is.
#[derive(Clone, Copy)]
enum Entry {
    /// By an address in this field.
    Address(usize),
    /// By an offset in this field (`int`).
    Offset(usize),
}

struct ThreadLayout {
    /// The JNI environment.
    env: usize,
    state: usize,
    last_sp: usize,
    last_pc: usize,
    stack_base: usize,
}

/// HotSpot's number of the state of threads that run Java code; the next one is that of a transition.
const IN_JAVA: c_int = 8;
/// Bytes of the code where deoptimised frames continue, at most.
const HANDLER: usize = 64;
/// Native frames between compiled code and the place of an interruption, at most.
const NATIVE_FRAMES: usize = 64;
/// Compiled methods that call each other, at most, in which it is looked for the caller of the first.
const CALLS: usize = 4;
/// Heaps of code, at most.
const MAX_HEAPS: usize = 16;
/// A segment that belongs to no block.
const FREE: u8 = 0xff;

impl CodeCache {
    /// `None` if this JVM does not say how its data are laid out. The calling thread has to be attached.
    pub fn new(vm: Vm, jvmti: Jvmti, jni: Jni<'_>) -> Option<Self> {
        let tables = Tables::of(vm)?;
        let at = |type_name, field| tables.offset(type_name, field);
        let nested = |outer: Field, inner: Field| Some(at(outer.0, outer.1)? + at(inner.0, inner.1)?);
        let ends = |field: &'static CStr| {
            let outer = (c"CodeHeap", field);
            Some((
                nested(outer, (c"VirtualSpace", c"_low"))?,
                nested(outer, (c"VirtualSpace", c"_high"))?,
            ))
        };
        // An address up to JDK 22, an offset from 23 on.
        let entry = |address, offset| {
            let address = at(c"CompiledMethod", address).map(Entry::Address);
            address.or_else(|| at(c"nmethod", offset).map(Entry::Offset))
        };
        let anchor = (c"JavaThread", c"_anchor");
        let cache = CodeCache {
            heaps: heaps(&tables)?,
            library: library(vm)?,
            heap: HeapLayout {
                memory: ends(c"_memory")?,
                segments: ends(c"_segmap")?,
                log_of_segment: at(c"CodeHeap", c"_log2_segment_size")?,
                block_used: nested((c"HeapBlock", c"_header"), (c"HeapBlock::Header", c"_used"))?,
                block: tables.size(c"HeapBlock")?,
            },
            blob: BlobLayout {
                name: at(c"CodeBlob", c"_name")?,
                frame_size: at(c"CodeBlob", c"_frame_size")?,
                deoptimized: [
                    entry(c"_deopt_handler_begin", c"_deopt_handler_offset")?,
                    entry(c"_deopt_mh_handler_begin", c"_deopt_mh_handler_offset")?,
                ],
            },
            thread: ThreadLayout {
                env: env_in_thread(&tables, vm, jvmti, jni)?,
                state: at(c"JavaThread", c"_thread_state")?,
                last_sp: nested(anchor, (c"JavaFrameAnchor", c"_last_Java_sp"))?,
                last_pc: nested(anchor, (c"JavaFrameAnchor", c"_last_Java_pc"))?,
                stack_base: at(c"JavaThread", c"_stack_base")?,
            },
            owner: [
                at(c"CompiledMethod", c"_method").or_else(|| at(c"nmethod", c"_method"))?,
                at(c"Method", c"_constMethod")?,
                at(c"ConstMethod", c"_constants")?,
                at(c"ConstantPool", c"_pool_holder")?,
                at(c"Klass", c"_name")?,
            ],
            symbol: (at(c"Symbol", c"_length")?, at(c"Symbol", c"_body")?),
        };
        Some(cache)
    }

    /// The place where the walker begins on the stack of the calling thread, which was interrupted with these
    /// registers, if it may be asked.
    ///
    /// # Safety
    /// The calling thread's own environment, not null, and its own registers, or those of a caller that was
    /// found on its stack.
    pub unsafe fn check(&self, env: *mut JNIEnv, registers: Registers) -> Result<Start, Unsafe> {
        let thread = env.addr() - self.thread.env;
        if !self.begins_at_registers(thread) {
            return Ok(Start::LastCall);
        }
        match self.blob(registers.pc) {
            Some(Blob::Compiled(method)) if self.is_deoptimized(method, registers.pc) => {
                Err(Unsafe::Deoptimizing)
            }
            Some(Blob::Replaces) => Err(Unsafe::Deoptimizing),
            Some(_) => Ok(Start::Registers),
            None => self.check_native(thread, registers).map(|()| Start::Registers),
        }
    }

    /// True if code that a thread was interrupted in may return to this address.
    pub fn is_return_address(&self, pc: usize) -> bool {
        match self.blob(pc) {
            Some(Blob::Compiled(method)) => !self.is_deoptimized(method, pc) && follows_call(pc),
            Some(Blob::Replaces) | None => false,
            Some(Blob::Interpreter | Blob::Other) => true,
        }
    }

    /// Where the JVM's library is.
    pub fn library(&self) -> Range<usize> {
        self.library.clone()
    }

    /// Returns true if both addresses are in the code of one compiled method, and the other one is not where
    /// deoptimised frames continue.
    pub fn is_same_method(&self, one: usize, other: usize) -> bool {
        match (self.blob(one), self.blob(other)) {
            (Some(Blob::Compiled(method)), Some(Blob::Compiled(of_other))) => {
                method == of_other && !self.is_deoptimized(method, other)
            }
            _ => false,
        }
    }

    /// As above, where the other one may also be in methods, compiled alone and of classes whose names begin
    /// like one of these, that the method has called.
    ///
    /// # Safety
    /// The registers are those of the calling thread, behind the prologue of a compiled method if they are in
    /// one.
    pub unsafe fn is_same_method_or_called(&self, one: usize, other: Registers, classes: &[&str]) -> bool {
        let Registers { mut pc, mut sp, .. } = other;
        for _ in 0..CALLS {
            match self.blob(pc) {
                Some(Blob::Compiled(method)) if self.is_of(method, classes) => {
                    let words: c_int = value(method + self.blob.frame_size);
                    sp += 8 * usize::try_from(words).unwrap_or(0);
                    pc = word(sp - 8);
                }
                _ => break,
            }
        }
        self.is_same_method(one, pc)
    }

    /// True for an address in a compiled method.
    pub fn is_compiled(&self, pc: usize) -> bool {
        matches!(self.blob(pc), Some(Blob::Compiled(_)))
    }

    /// True for an address in a stub, such as a copy of arrays.
    pub fn is_stub(&self, pc: usize) -> bool {
        matches!(self.blob(pc), Some(Blob::Other))
    }

    /// True if an address belongs to one method alone, which is interpreted, or was compiled alone and is of
    /// a class whose name begins like one of these. `None` if that cannot be said, as the address is in
    /// neither. The method must be on the stack of the calling thread.
    pub fn is_alone_in(&self, pc: usize, classes: &[&str]) -> Option<bool> {
        match self.blob(pc)? {
            Blob::Compiled(method) => Some(self.is_of(method, classes)),
            Blob::Interpreter => Some(true),
            Blob::Replaces | Blob::Other => None,
        }
    }

    /// True if this was compiled for a method of a class whose name begins like one of these.
    fn is_of(&self, compiled: usize, classes: &[&str]) -> bool {
        let mut at = compiled;
        for field in self.owner {
            at = word(at + field);
            if at == 0 {
                return false;
            }
        }
        let length = usize::from(value::<u16>(at + self.symbol.0));
        classes.iter().any(|class| {
            let byte = |n: usize| value::<u8>(at + self.symbol.1 + n);
            length >= class.len() && class.bytes().enumerate().all(|(n, wanted)| byte(n) == wanted)
        })
    }

    /// True if the walker begins at the registers, and not where the thread left Java code.
    fn begins_at_registers(&self, thread: usize) -> bool {
        let state: c_int = value(thread + self.thread.state);
        let left = word(thread + self.thread.last_sp) != 0 && word(thread + self.thread.last_pc) != 0;
        (IN_JAVA..=IN_JAVA + 1).contains(&state) && !left
    }

    /// The walker follows frame pointers out of native code: do they lead to the return address of a call?
    fn check_native(&self, thread: usize, registers: Registers) -> Result<(), Unsafe> {
        let end = word(thread + self.thread.stack_base);
        let (mut above, mut fp) = (registers.sp, registers.fp);
        for _ in 0..NATIVE_FRAMES {
            // Two words are read.
            if !fp.is_multiple_of(8) || fp <= above || fp + 16 > end {
                break;
            }
            let pc = word(fp + 8);
            match self.blob(pc) {
                None => (above, fp) = (fp, word(fp)),
                Some(Blob::Compiled(_)) if !self.is_return_address(pc) => break,
                Some(Blob::Replaces) => return Err(Unsafe::Deoptimizing),
                Some(_) => return Ok(()),
            }
        }
        Err(Unsafe::CallerUnknown)
    }

    /// True if deoptimised frames of a compiled method continue at this address.
    fn is_deoptimized(&self, method: usize, pc: usize) -> bool {
        let entry = |entry| match entry {
            Entry::Address(field) => Some(word(method + field)).filter(|begin| *begin != 0),
            Entry::Offset(field) => usize::try_from(value::<c_int>(method + field))
                .ok()
                .filter(|offset| *offset > 0)
                .map(|offset| method + offset),
        };
        let mut begins = self.blob.deoptimized.into_iter().filter_map(entry);
        begins.any(|begin| (begin..begin + HANDLER).contains(&pc))
    }

    /// The code that an address belongs to; `None` if the JVM has not made it.
    fn blob(&self, pc: usize) -> Option<Blob> {
        let heap = *self.heaps.iter().find(|&&heap| {
            (word(heap + self.heap.memory.0)..word(heap + self.heap.memory.1)).contains(&pc)
        })?;
        let low = word(heap + self.heap.memory.0);
        let log: c_int = value(heap + self.heap.log_of_segment);
        let map = word(heap + self.heap.segments.0)..word(heap + self.heap.segments.1);
        let mut segment = (pc - low) >> log;
        // Each says how far back to look for the first one of its block: that one says 0.
        loop {
            let at = map.start + segment;
            match map.contains(&at).then(|| value::<u8>(at))? {
                0 => break,
                FREE => return None,
                back => segment = segment.checked_sub(usize::from(back))?,
            }
        }
        let block = low + (segment << log);
        if value::<u8>(block + self.heap.block_used) == 0 {
            return None;
        }
        let blob = block + self.heap.block;
        let name = word(blob + self.blob.name);
        // One that is being made may have any.
        if !self.library.contains(&name) {
            return Some(Blob::Other);
        }
        let name = std::ptr::without_provenance::<c_char>(name);
        let any = |names: &[&CStr]| names.iter().any(|wanted| is(name, wanted));
        if any(&[c"nmethod", c"native nmethod"]) {
            Some(Blob::Compiled(blob))
        } else if any(&[c"Interpreter"]) {
            Some(Blob::Interpreter)
        } else if any(&[
            c"DeoptimizationBlob",
            c"UncommonTrapBlob",
            c"ExceptionBlob",
            c"SafepointBlob",
        ]) {
            Some(Blob::Replaces)
        } else {
            Some(Blob::Other)
        }
    }
}

/// True if the instruction in front of an address is a call. The address is in a compiled method, behind its
/// description.
fn follows_call(pc: usize) -> bool {
    if cfg!(target_arch = "aarch64") {
        return pc.is_multiple_of(4) && is_call_of_aarch64(value(pc - 4));
    }
    if !cfg!(target_arch = "x86_64") {
        return true;
    }
    let byte = |back: usize| value::<u8>(pc - back);
    // To a place that is given, or (`FF /2`) through a register or memory, in this many bytes.
    let through = |length: usize| byte(length) == 0xff && (byte(length - 1) >> 3) & 7 == 2;
    byte(5) == 0xe8 || (2..=7).any(through)
}

/// `bl` to a place that is given, or `blr` through a register.
fn is_call_of_aarch64(instruction: u32) -> bool {
    instruction >> 26 == 0x25 || instruction & 0xffff_fc1f == 0xd63f_0000
}

/// The value at an address that the JVM's data or the thread's stack have.
fn value<T: Copy>(at: usize) -> T {
    // SAFETY: callers pass addresses of fields of the JVM's data, in memory that it does not give back, or
    // of words on the calling thread's stack.
    unsafe { std::ptr::with_exposed_provenance::<T>(at).read_volatile() }
}

pub(super) fn word(at: usize) -> usize {
    value(at)
}

/// Addresses of the heaps of code: they are made as the JVM starts.
fn heaps(tables: &Tables) -> Option<Vec<usize>> {
    let list: usize = read(tables.static_field(c"CodeCache", c"_heaps")?.cast())?;
    let at = |field: usize| std::ptr::with_exposed_provenance::<c_void>(list + field);
    let count: c_int = read(at(tables.offset(c"GrowableArrayBase", c"_len")?))?;
    let data: usize = read(at(tables.offset(c"GrowableArray<int>", c"_data")?))?;
    let count = usize::try_from(count)
        .ok()
        .filter(|count| (1..=MAX_HEAPS).contains(count))?;
    (list != 0 && data != 0).then(|| (0..count).map(|n| word(data + n * size_of::<usize>())).collect())
}

/// Where the JVM's library is in memory.
fn library(vm: Vm) -> Option<Range<usize>> {
    struct Search {
        wanted: usize,
        found: Option<Range<usize>>,
    }
    unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: the linker passes a valid description of an object, and what `dl_iterate_phdr` was given.
        let (object, search) = unsafe { (&*object, &mut *search.cast::<Search>()) };
        // SAFETY: as many headers as it says.
        let headers = unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
        let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
        let parts = loaded.map(|header| {
            let begin = (object.dlpi_addr + header.p_vaddr) as usize;
            begin..begin + header.p_memsz as usize
        });
        let all = parts.reduce(|all, part| all.start.min(part.start)..all.end.max(part.end));
        search.found = all.filter(|all| all.contains(&search.wanted));
        c_int::from(search.found.is_some())
    }
    let mut search = Search {
        wanted: vm.code_address().addr(),
        found: None,
    };
    // SAFETY: the function has the signature that is asked for, and is called before this returns.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found
}

/// Where the JNI environment is in a `JavaThread`: of one thread both addresses are known.
pub(super) fn env_in_thread(tables: &Tables, vm: Vm, jvmti: Jvmti, jni: Jni<'_>) -> Option<usize> {
    let (env, size) = (vm.env().addr(), tables.size(c"JavaThread")?);
    let _frame = jni.frame(4096).ok()?;
    let threads = jvmti.threads();
    let all = threads.iter().flat_map(|threads| threads.iter());
    let mut addresses = all.filter_map(|&thread| {
        let field = jni.long_field_id(thread, c"eetop").ok()?;
        usize::try_from(jni.long_field(thread, field)).ok()
    });
    addresses.find_map(|address| env.checked_sub(address).filter(|at| *at < size))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GNU's assembler encodes them.
    #[test]
    fn calls_of_aarch64_are_known() {
        // bl 0, bl -4, blr x9; br x9, ret, b 0
        let known = [0x9400_0000, 0x97ff_ffff, 0xd63f_0120];
        let other = [0xd61f_0120, 0xd65f_03c0, 0x1400_0000];
        assert!(known.into_iter().all(is_call_of_aarch64));
        assert!(!other.into_iter().any(is_call_of_aarch64));
    }
}
