//! A flag of HotSpot that is set while the JVM runs, found as the serviceability agent finds it: by the
//! [tables](super::tables) that the library exports for debuggers.
//!
//! JVMTI has a way to the same end, but its price is that the JVM posts an event for all that it compiles,
//! and ends now and then by doing so:
//! docs/decisions/cpu-time.md, "Bytecode indices between safepoints: by the JVM's flag, not by its events".

use std::ffi::CStr;
use std::sync::atomic::{AtomicU8, Ordering};

use super::tables::{Tables, is, read};
use super::thread::Vm;

/// A flag that is on or off.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    value: &'static AtomicU8,
    /// True if it has its default value in this JVM.
    pub by_default: bool,
}

/// `DebugNonSafepoints`: compiled code knows its bytecode indices between safepoints as well. Every
/// compilation looks at it. `None` if this JVM does not show its flags.
pub fn debug_non_safepoints(vm: Vm) -> Option<Flag> {
    find(&Tables::of(vm)?, c"DebugNonSafepoints")
}

/// `CheckJNICalls` (`-Xcheck:jni`): the JVM also checks that its signal handlers are its own, and reports
/// others on the program's standard output. `None` if this JVM does not show its flags.
pub fn check_jni(vm: Vm) -> Option<Flag> {
    find(&Tables::of(vm)?, c"CheckJNICalls")
}

impl Flag {
    /// True if it is on.
    pub fn is_on(self) -> bool {
        self.value.load(Ordering::Relaxed) != 0
    }

    /// Sets it for all that comes.
    pub fn set(self, on: bool) {
        self.value.store(u8::from(on), Ordering::Relaxed);
    }
}

/// A word of HotSpot's flags says in these bits who set it; 0: nobody.
const ORIGIN: u32 = 0xf;
/// More flags than any JVM has.
const MAX_FLAGS: usize = 10_000;

/// HotSpot's type of a flag.
const FLAG: &CStr = c"JVMFlag";

/// The flag of that name.
fn find(tables: &Tables, name: &CStr) -> Option<Flag> {
    let count: usize = read(tables.static_field(FLAG, c"numFlags")?.cast())?;
    let flags: *const u8 = read(tables.static_field(FLAG, c"flags")?.cast())?;
    let size = tables.size(FLAG)?;
    let (of_name, of_value, of_origin) = (
        tables.offset(FLAG, c"_name")?,
        tables.offset(FLAG, c"_addr")?,
        tables.offset(FLAG, c"_flags")?,
    );
    if flags.is_null() || count > MAX_FLAGS || size < of_name.max(of_value).max(of_origin) {
        return None;
    }
    for index in 0..count {
        let flag = flags.wrapping_add(index * size);
        if !is(read(flag.wrapping_add(of_name).cast())?, name) {
            continue;
        }
        let origin: u32 = read(flag.wrapping_add(of_origin).cast())?;
        let value: *const AtomicU8 = read(flag.wrapping_add(of_value).cast())?;
        if value.is_null() {
            return None;
        }
        return Some(Flag {
            // SAFETY: the flag's value, a `bool` that lives as long as the JVM.
            value: unsafe { &*value },
            by_default: origin & ORIGIN == 0,
        });
    }
    None
}
