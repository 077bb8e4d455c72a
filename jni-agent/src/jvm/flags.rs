//! A flag of HotSpot that is set while the JVM runs, found as the serviceability agent finds it: by the
//! tables of types and fields that the library exports for debuggers (`vmStructs.cpp`).
//!
//! JVMTI has a way to the same end, but its price is that the JVM posts an event for all that it compiles,
//! and ends now and then by doing so (docs/decisions/debug-info-by-flag.md).

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicU8, Ordering};

use super::symbols::address;
use super::thread::Vm;

/// A flag that is on or off.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    value: &'static AtomicU8,
    /// Has nobody set it for this JVM?
    pub by_default: bool,
}

/// `DebugNonSafepoints`: compiled code knows its bytecode indices between safepoints as well. Every
/// compilation looks at it. `None` if this JVM does not show its flags.
pub fn debug_non_safepoints(vm: Vm) -> Option<Flag> {
    Tables::of(vm)?.flag(c"DebugNonSafepoints")
}

impl Flag {
    /// Sets it for all that comes.
    pub fn set(self, on: bool) {
        self.value.store(u8::from(on), Ordering::Relaxed);
    }
}

/// A word of HotSpot's flags says in these bits who set it; 0: nobody.
const ORIGIN: u32 = 0xf;
/// More flags than any JVM has.
const MOST: usize = 10_000;

/// What the JVM exports about itself.
struct Tables {
    vm: Vm,
    structs: *const u8,
    types: *const u8,
}

impl Tables {
    fn of(vm: Vm) -> Option<Self> {
        Some(Self {
            vm,
            structs: read(address(vm, c"gHotSpotVMStructs")?.cast())?,
            types: read(address(vm, c"gHotSpotVMTypes")?.cast())?,
        })
    }

    /// The flag of that name.
    fn flag(&self, name: &CStr) -> Option<Flag> {
        let count: usize = read(self.static_field(c"numFlags")?.cast())?;
        let flags: *const u8 = read(self.static_field(c"flags")?.cast())?;
        let size = self.size_of_a_flag()?;
        let (of_name, of_value, of_origin) = (
            self.field(c"_name")?,
            self.field(c"_addr")?,
            self.field(c"_flags")?,
        );
        if flags.is_null() || count > MOST || size < of_name.max(of_value).max(of_origin) {
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

    /// Where a field lies in `JVMFlag`.
    fn field(&self, name: &CStr) -> Option<usize> {
        let entry = self.entry(name)?;
        let offset: u64 = read(
            entry
                .wrapping_add(self.layout(c"gHotSpotVMStructEntryOffsetOffset")?)
                .cast(),
        )?;
        usize::try_from(offset).ok()
    }

    /// Where a static field of `JVMFlag` lies.
    fn static_field(&self, name: &CStr) -> Option<*const u8> {
        let entry = self.entry(name)?;
        let at: *const u8 = read(
            entry
                .wrapping_add(self.layout(c"gHotSpotVMStructEntryAddressOffset")?)
                .cast(),
        )?;
        (!at.is_null()).then_some(at)
    }

    /// What the table says of a field of `JVMFlag`.
    fn entry(&self, name: &CStr) -> Option<*const u8> {
        let of_type = self.layout(c"gHotSpotVMStructEntryTypeNameOffset")?;
        let of_field = self.layout(c"gHotSpotVMStructEntryFieldNameOffset")?;
        let stride = self.layout(c"gHotSpotVMStructEntryArrayStride")?;
        find(self.structs, stride, of_type, |entry, type_name| {
            is(type_name, c"JVMFlag")
                && read(entry.wrapping_add(of_field).cast()).is_some_and(|field| is(field, name))
        })
    }

    fn size_of_a_flag(&self) -> Option<usize> {
        let of_type = self.layout(c"gHotSpotVMTypeEntryTypeNameOffset")?;
        let stride = self.layout(c"gHotSpotVMTypeEntryArrayStride")?;
        let entry = find(self.types, stride, of_type, |_, name| is(name, c"JVMFlag"))?;
        let size: u64 = read(
            entry
                .wrapping_add(self.layout(c"gHotSpotVMTypeEntrySizeOffset")?)
                .cast(),
        )?;
        usize::try_from(size).ok().filter(|size| *size > 0)
    }

    /// A number about the tables' layout.
    fn layout(&self, name: &CStr) -> Option<usize> {
        usize::try_from(read::<u64>(address(self.vm, name)?.cast())?).ok()
    }
}

/// The first entry of a table that will do; the last one has no type name.
fn find(
    table: *const u8,
    stride: usize,
    of_type: usize,
    wanted: impl Fn(*const u8, *const c_char) -> bool,
) -> Option<*const u8> {
    let mut entry = table;
    loop {
        let name: *const c_char = read(entry.wrapping_add(of_type).cast())?;
        if name.is_null() || stride == 0 {
            return None;
        }
        if wanted(entry, name) {
            return Some(entry);
        }
        entry = entry.wrapping_add(stride);
    }
}

fn is(name: *const c_char, wanted: &CStr) -> bool {
    // SAFETY: null, or one of the JVM's constant strings.
    !name.is_null() && unsafe { CStr::from_ptr(name) } == wanted
}

/// What lies at an address of the JVM's data.
fn read<T: Copy>(at: *const c_void) -> Option<T> {
    // SAFETY: an address that the JVM exports, or that follows from its tables, of a `T` as they say.
    (!at.is_null()).then(|| unsafe { at.cast::<T>().read_unaligned() })
}
