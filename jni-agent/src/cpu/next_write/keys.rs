//! A protection key of the processor (Linux's `pkeys(7)`): the right to write to all counters, for each
//! thread.
//!
//! The right is a bit in a register of the thread, PKRU. A handler of a signal takes it away, or gives it
//! back, in the register's image in the signal's frame, so a sample costs no system call. The system gives
//! threads that were there before the key no right at all; they fault once, and have it from then on. So do
//! handlers of signals, which take it themselves.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
use std::ffi::c_void;

/// The key of all blocks; `None` in it: this system has none.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), allow(dead_code))]
pub struct Key(Option<Allocated>);

#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), allow(dead_code))]
struct Allocated {
    /// Its number, 1 to 15.
    key: u32,
    /// Where PKRU is in the image of registers.
    offset: usize,
}

/// A thread's missing rights to counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), allow(dead_code))]
pub enum Refused {
    /// It may read and write them.
    Nothing,
    /// It may not write them: a sample waits.
    Stores,
    /// It may not read them either: the thread was there before the key.
    All,
}

impl Key {
    /// None: pages are protected one by one.
    #[cfg(test)]
    pub fn none() -> Self {
        Key(None)
    }

    /// True if there is one.
    #[cfg(test)]
    pub fn exists(self) -> bool {
        self.0.is_some()
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux {
    use std::arch::asm;
    use std::arch::x86_64::__cpuid_count;
    use std::ffi::c_void;

    use super::{Allocated, Key, Refused};

    /// PKRU among the parts of the registers' image.
    const PKRU: u32 = 9;
    /// Where the image says which of its parts are not in their initial state.
    const STATES: usize = 512;
    /// Where the system describes the image: a magic number, its length, and the parts it has.
    const DESCRIPTION: usize = 464;
    const MAGIC: u32 = 0x4650_5853;

    impl Key {
        /// Takes one, with all rights for the calling thread.
        pub fn allocate() -> Self {
            // SAFETY: no memory is passed.
            let key = unsafe { libc::syscall(libc::SYS_pkey_alloc, 0, 0) };
            let offset = __cpuid_count(0xd, PKRU).ebx as usize;
            let key = u32::try_from(key).ok().filter(|key| (1..16).contains(key));
            Key(key.map(|key| Allocated { key, offset }))
        }

        /// Has a mapping of whole pages covered by the key, or by none. Nothing is done if there is none, or
        /// the system refuses it: then stores are not refused.
        pub fn cover(self, (begin, length): (usize, usize), covered: bool) {
            let Some(Allocated { key, .. }) = self.0 else {
                return;
            };
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            let key = if covered { key } else { 0 };
            // SAFETY: pages of a block's mapping, which is never given back; what the key refuses comes to
            // our handler.
            unsafe { libc::syscall(libc::SYS_pkey_mprotect, begin, length, rights, key) };
        }

        /// The calling handler may read and write counters, until it returns.
        pub fn enter(self) {
            let Some(Allocated { key, .. }) = self.0 else {
                return;
            };
            // SAFETY: the register is there, as there is a key; other keys' rights stay.
            unsafe { set_own(key, 0) };
        }

        /// The calling thread may do nothing with counters, as one that was there before the key.
        #[cfg(test)]
        pub fn leave(self) {
            let Some(Allocated { key, .. }) = self.0 else {
                return;
            };
            // SAFETY: as above.
            unsafe { set_own(key, 1) };
        }

        /// Takes the right to write away from the interrupted thread, or gives all rights to it, once its
        /// handler returns. False if its registers' image does not have them.
        ///
        /// # Safety
        /// The context of the signal whose handler calls this.
        pub unsafe fn set(self, context: *mut c_void, write: bool) -> bool {
            let Some(Allocated { key, offset }) = self.0 else {
                return false;
            };
            // SAFETY: the caller's promise.
            let Some(image) = (unsafe { Image::of(context, offset) }) else {
                return false;
            };
            let refused = if write { 0 } else { 2 << (2 * key) };
            image.set_rights(image.rights() & !(3 << (2 * key)) | refused);
            true
        }

        /// The rights that the interrupted thread lacked; `None` if there is no key, or the image does not
        /// say.
        ///
        /// # Safety
        /// As for [`set`](Self::set).
        pub unsafe fn refused(self, context: *mut c_void) -> Option<Refused> {
            let Allocated { key, offset } = self.0?;
            // SAFETY: the caller's promise.
            let image = unsafe { Image::of(context, offset) }?;
            Some(match image.rights() >> (2 * key) & 3 {
                0 => Refused::Nothing,
                2 => Refused::Stores,
                _ => Refused::All,
            })
        }
    }

    /// Sets the two bits of a key, of the calling thread.
    ///
    /// # Safety
    /// The processor has keys, and the system lets them be used.
    unsafe fn set_own(key: u32, bits: u32) {
        let now: u32;
        // SAFETY: the caller's promise.
        unsafe {
            asm!("rdpkru", in("ecx") 0, out("eax") now, out("edx") _, options(nomem, nostack));
            let rights = now & !(3 << (2 * key)) | bits << (2 * key);
            asm!("wrpkru", in("eax") rights, in("ecx") 0, in("edx") 0, options(nostack));
        }
    }

    /// The image of an interrupted thread's registers.
    struct Image {
        begin: *mut u8,
        offset: usize,
    }

    impl Image {
        /// One that has PKRU.
        ///
        /// # Safety
        /// The context of the signal whose handler calls this.
        unsafe fn of(context: *mut c_void, offset: usize) -> Option<Self> {
            // SAFETY: the caller's promise.
            let begin = unsafe { context.cast::<libc::ucontext_t>().as_ref() }?
                .uc_mcontext
                .fpregs
                .cast::<u8>();
            let image = Image { begin, offset };
            let is_there = !begin.is_null()
                && image.number::<u32>(DESCRIPTION) == MAGIC
                && image.number::<u64>(DESCRIPTION + 8) & 1 << PKRU != 0
                && image.number::<u32>(DESCRIPTION + 16) as usize >= offset + 4;
            is_there.then_some(image)
        }

        fn number<T>(&self, at: usize) -> T {
            // SAFETY: the image is as long as its description says, which was looked at first.
            unsafe { self.begin.add(at).cast::<T>().read_unaligned() }
        }

        fn rights(&self) -> u32 {
            if self.number::<u64>(STATES) & 1 << PKRU == 0 {
                return 0;
            }
            self.number(self.offset)
        }

        fn set_rights(&self, rights: u32) {
            let states = self.number::<u64>(STATES) | 1 << PKRU;
            // SAFETY: as above.
            unsafe {
                self.begin.add(self.offset).cast::<u32>().write_unaligned(rights);
                self.begin.add(STATES).cast::<u64>().write_unaligned(states);
            }
        }
    }
}

/// Elsewhere there are none.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
impl Key {
    /// None.
    pub fn allocate() -> Self {
        Key(None)
    }

    /// Nothing is covered.
    pub fn cover(self, _: (usize, usize), _: bool) {}

    /// Nothing is needed.
    pub fn enter(self) {}

    /// Nothing is needed.
    #[cfg(test)]
    pub fn leave(self) {}

    /// Nothing is done.
    ///
    /// # Safety
    /// None is needed.
    pub unsafe fn set(self, _: *mut c_void, _: bool) -> bool {
        false
    }

    /// There is no key.
    ///
    /// # Safety
    /// None is needed.
    pub unsafe fn refused(self, _: *mut c_void) -> Option<Refused> {
        None
    }
}
