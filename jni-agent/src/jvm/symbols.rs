//! Names that the JVM's library exports.

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;

use super::thread::Vm;

/// The address of what HotSpot exports by that name.
pub fn address(vm: Vm, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: looks up names; `of_jvm` is inside the JVM's library.
    let address = unsafe {
        let address = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        if !address.is_null() {
            address
        } else {
            // Loaded by a program that keeps the JVM's names to itself.
            let mut place: libc::Dl_info = MaybeUninit::zeroed().assume_init();
            let of_jvm = vm.code_address();
            if libc::dladdr(of_jvm, &raw mut place) == 0 || place.dli_fname.is_null() {
                return None;
            }
            let library = libc::dlopen(place.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if library.is_null() {
                return None;
            }
            libc::dlsym(library, name.as_ptr())
        }
    };
    (!address.is_null()).then_some(address)
}
