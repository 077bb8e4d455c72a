//! The handler of the fault.
//!
//! SIGSEGV is HotSpot's: null checks, polls, guards of stacks. Ours is in front of it, looks at the code and
//! the address first, and hands everything else on unchanged. It is never taken away again, as a fault may be
//! in progress at any time. Where another handler has taken its place, no sample waits any more.

use std::ffi::{c_int, c_void};
use std::io::Error;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use super::keys::Refused;
use super::waiting::{Store, Waiting};
use super::{NextWrite, store};
use crate::cpu::context::Context;
use crate::jvm::code::Registers;

/// `si_code` of a page that may not be written to.
const SEGV_ACCERR: c_int = 2;
/// `si_code` of a page that a protection key refuses.
const SEGV_PKUERR: c_int = 4;

/// Time that the system takes to call the handler and to return from it.
pub(super) const DELIVERY: Duration = Duration::from_nanos(1500);

/// The handler that was there before.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(null_mut());

fn current_action() -> Option<libc::sigaction> {
    // SAFETY: asks only.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        (libc::sigaction(libc::SIGSEGV, null(), &raw mut action) == 0).then_some(action)
    }
}

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// True if our handler of SIGSEGV is the one that the system calls. For signal handlers too.
pub fn are_ours() -> bool {
    current_action().is_some_and(|action| action.sa_sigaction == on_fault as Handler as usize)
}

/// Puts the handler in front of the one that is there, with its flags and its mask.
///
/// # Errors
/// If the system refuses it.
pub fn install() -> Result<(), Error> {
    let old = current_action().ok_or_else(Error::last_os_error)?;
    let mut action = old;
    action.sa_sigaction = on_fault as Handler as usize;
    action.sa_flags |= libc::SA_SIGINFO;
    BEFORE.store(Box::leak(Box::new(old)), Ordering::Release);
    // SAFETY: an action with all fields set; the handler has the signature that SA_SIGINFO asks for.
    match unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, null_mut()) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Hands a signal on to the handler that was there before.
fn hand_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: null, or leaked by `install`.
    let Some(before) = (unsafe { BEFORE.load(Ordering::Acquire).as_ref() }) else {
        return;
    };
    match before.sa_sigaction {
        libc::SIG_IGN => {}
        libc::SIG_DFL => {
            // The instruction is executed again, and the system does what it does by default.
            // SAFETY: the action that was there.
            unsafe { libc::sigaction(signal, before, null_mut()) };
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: a handler with that signature, by its flags.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: a handler with that signature, by its flags.
            let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
            handler(signal);
        }
    }
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid `info`, as SA_SIGINFO was asked for.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    let ours = || {
        let all = NextWrite::get()?;
        Some((all, all.at(address)?))
    };
    match [SEGV_ACCERR, SEGV_PKUERR].contains(&code).then(ours).flatten() {
        Some((all, waiting)) => let_through(all, waiting, address, code == SEGV_PKUERR, context),
        None => hand_on(signal, info, context),
    }
}

#[cold]
#[inline(never)]
fn let_through(all: &NextWrite, waiting: &Waiting, address: usize, is_of_key: bool, context: *mut c_void) {
    // SAFETY: the address of the calling thread's own number.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let start = Instant::now();
    // SAFETY: the context is that of this fault.
    let refused = unsafe { all.key.refused(context) };
    if refused == Some(Refused::All) || (is_of_key && refused.is_none()) {
        allow(all, waiting, context);
    } else {
        all.key.enter();
        let by_key = refused == Some(Refused::Stores);
        let store = Store {
            address,
            deepest: deepest(all, context),
            by_key,
        };
        let passed = waiting.on_write(
            all,
            store,
            |in_doubt, judge| (all.locate)(context, in_doubt, judge),
            // SAFETY: the thread's own block can be read, and written by the key; the context is that of this
            // fault.
            |is_protected| unsafe { store::perform(address, context, is_protected) },
        );
        if by_key && !passed.refused {
            allow(all, waiting, context);
        }
        all.took(passed.rank, start.elapsed() + DELIVERY);
    }
    // SAFETY: as above.
    unsafe { *errno = before };
}

/// The interrupted thread may read and write counters from now on.
fn allow(all: &NextWrite, waiting: &Waiting, context: *mut c_void) {
    // SAFETY: the context that the system passed to the handler that calls this.
    if !unsafe { all.key.set(context, true) } {
        // Never seen. The thread must be able to go on.
        waiting.cover(all.key, false);
    }
}

/// An address that no frame of the method is below which has counted.
fn deepest(all: &NextWrite, context: *mut c_void) -> usize {
    /// Stack of the interpreter, a probe that it runs, and the JVM's own code, in bytes.
    const INTERPRETED: usize = 2048;
    /// Stack of a compiled probe that interpreted code calls, in bytes.
    const COMPILED: usize = 128;
    // SAFETY: the context that the system passed to the handler that calls this.
    let registers = unsafe { Context::of(context) }.registers();
    registers.map_or(usize::MAX, |Registers { pc, sp, .. }| {
        sp + if all.library.contains(&pc) {
            INTERPRETED
        } else {
            COMPILED
        }
    })
}
