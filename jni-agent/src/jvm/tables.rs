//! The layout of HotSpot's own data, as it says it: the tables of types and fields that the library
//! exports for debuggers (`vmStructs.cpp`).

use std::ffi::{CStr, c_char, c_void};

use super::symbols::address;
use super::thread::Vm;

/// The tables of this JVM.
pub struct Tables {
    vm: Vm,
    structs: *const u8,
    types: *const u8,
}

impl Tables {
    /// `None` if this JVM does not export them.
    pub fn of(vm: Vm) -> Option<Self> {
        Some(Self {
            vm,
            structs: read(address(vm, c"gHotSpotVMStructs")?.cast())?,
            types: read(address(vm, c"gHotSpotVMTypes")?.cast())?,
        })
    }

    /// Where a field is in an object of a type, in bytes.
    pub fn offset(&self, type_name: &CStr, field: &CStr) -> Option<usize> {
        let entry = self.entry(type_name, field)?;
        let offset: u64 = self.part(entry, c"gHotSpotVMStructEntryOffsetOffset")?;
        usize::try_from(offset).ok()
    }

    /// The address of a static field of a type.
    pub fn static_field(&self, type_name: &CStr, field: &CStr) -> Option<*const u8> {
        let entry = self.entry(type_name, field)?;
        let at: *const u8 = self.part(entry, c"gHotSpotVMStructEntryAddressOffset")?;
        (!at.is_null()).then_some(at)
    }

    /// Bytes of an object of a type.
    pub fn size(&self, type_name: &CStr) -> Option<usize> {
        let of_type = self.layout(c"gHotSpotVMTypeEntryTypeNameOffset")?;
        let stride = self.layout(c"gHotSpotVMTypeEntryArrayStride")?;
        let entry = find(self.types, stride, of_type, |_, name| is(name, type_name))?;
        let size: u64 = self.part(entry, c"gHotSpotVMTypeEntrySizeOffset")?;
        usize::try_from(size).ok().filter(|size| *size > 0)
    }

    /// A constant of the JVM's, such as a flag.
    pub fn constant(&self, name: &CStr) -> Option<i32> {
        let first = read(address(self.vm, c"gHotSpotVMIntConstants")?.cast())?;
        let of_name = self.layout(c"gHotSpotVMIntConstantEntryNameOffset")?;
        let stride = self.layout(c"gHotSpotVMIntConstantEntryArrayStride")?;
        let entry = find(first, stride, of_name, |_, found| is(found, name))?;
        self.part(entry, c"gHotSpotVMIntConstantEntryValueOffset")
    }

    /// The table's entry for a field.
    fn entry(&self, type_name: &CStr, field: &CStr) -> Option<*const u8> {
        let of_type = self.layout(c"gHotSpotVMStructEntryTypeNameOffset")?;
        let of_field = self.layout(c"gHotSpotVMStructEntryFieldNameOffset")?;
        let stride = self.layout(c"gHotSpotVMStructEntryArrayStride")?;
        find(self.structs, stride, of_type, |entry, name| {
            is(name, type_name)
                && read(entry.wrapping_add(of_field).cast()).is_some_and(|name| is(name, field))
        })
    }

    /// A part of a table's entry, at the offset that the library exports by this name.
    fn part<T: Copy>(&self, entry: *const u8, offset: &CStr) -> Option<T> {
        read(entry.wrapping_add(self.layout(offset)?).cast())
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

/// True if a constant string of the JVM's is the wanted one.
pub fn is(name: *const c_char, wanted: &CStr) -> bool {
    // SAFETY: null, or one of the JVM's constant strings.
    !name.is_null() && unsafe { CStr::from_ptr(name) } == wanted
}

/// The value at an address of the JVM's data; `None` at address 0.
pub fn read<T: Copy>(at: *const c_void) -> Option<T> {
    // SAFETY: an address that the JVM exports, or that follows from its tables, of a `T` as they say.
    (!at.is_null()).then(|| unsafe { at.cast::<T>().read_unaligned() })
}
