//! The signal handler, and the function of the JVM that it calls.
//!
//! What the handler may do is little: no allocation, no lock, no message, no panic. It asks the JVM for the
//! stack, which the JVM made for handlers, and marks a slot of the [`Buffer`] as full. It keeps `errno`. Once
//! installed it stays, so that a signal that comes late finds it; what it does is switched off.
//!
//! The signal is a real-time one, none that has a meaning of its own: SIGPROF belongs to whoever profiles
//! beside us, maybe later (other profilers, the JVM's own sampler from 25 on).

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use jvmti_bindings::sys::jni::JNIEnv;

use super::Unavailable;
use super::buffer::{Buffer, RawFrame, Taken};
use super::timers::Clocks;
use crate::jvm::symbols;
use crate::jvm::thread::Vm;
use crate::sampling::clock::spent;

/// `AsyncGetCallTrace`: exported by HotSpot for profilers, though in no header.
type Walker = unsafe extern "C" fn(*mut CallTrace, c_int, *mut c_void);

/// What it is asked, and where it answers.
#[repr(C)]
struct CallTrace {
    env: *mut JNIEnv,
    count: c_int,
    frames: *mut RawFrame,
}

/// What Linux tells the handler of a timer's signal.
#[repr(C)]
struct TimerInfo {
    signal: c_int,
    errno: c_int,
    code: c_int,
    _pad: c_int,
    timer: c_int,
    overrun: c_int,
    value: *mut c_void,
}

/// `si_code` of a timer's signal.
const SI_TIMER: c_int = -2;
/// The JDK wakes threads out of blocking calls with it, but does not handle it before it has to.
const OF_THE_JDK: c_int = 62;

/// What the handler needs. Never freed.
pub struct Tap {
    walk: Walker,
    vm: Vm,
    signal: c_int,
    clocks: Clocks,
    buffer: Buffer,
    /// Are samples taken?
    open: AtomicBool,
    /// Handlers at work.
    busy: AtomicU32,
    /// CPU time that handlers have taken so far, in nanoseconds.
    spent: AtomicU64,
}

/// The one of this process.
static TAP: AtomicPtr<Tap> = AtomicPtr::new(null_mut());

/// The handler, installed at the first call. For one thread at a time.
pub fn install(vm: Vm) -> Result<&'static Tap, Unavailable> {
    // SAFETY: null, or what is leaked below.
    if let Some(tap) = unsafe { TAP.load(Ordering::Acquire).as_ref() } {
        return Ok(tap);
    }
    let walk = walker(vm).ok_or(Unavailable::NoWalker)?;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    // What all processors can take from one drain to the next, several times.
    let slots = (256 + 64 * cpus).min(4096);
    let tap = Box::leak(Box::new(Tap {
        walk,
        vm,
        signal: free_signal().ok_or(Unavailable::NoSignal)?,
        clocks: Clocks::new().map_err(Unavailable::Timers)?,
        buffer: Buffer::new(slots).map_err(Unavailable::Timers)?,
        open: AtomicBool::new(false),
        busy: AtomicU32::new(0),
        spent: AtomicU64::new(0),
    }));
    TAP.store(tap, Ordering::Release);
    // SAFETY: an action with all fields set; the handler has the signature that SA_SIGINFO asks for.
    let done = unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler as extern "C" fn(c_int, *mut TimerInfo, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // No handler of the program's runs inside ours, and none of ours inside another of ours.
        libc::sigfillset(&raw mut action.sa_mask);
        // Those that the JVM needs when a walk reads what is not there.
        for needed in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
            libc::SIGTRAP,
        ] {
            libc::sigdelset(&raw mut action.sa_mask, needed);
        }
        libc::sigaction(tap.signal, &raw const action, null_mut())
    };
    match done {
        0 => Ok(tap),
        _ => Err(Unavailable::Timers(std::io::Error::last_os_error())),
    }
}

/// A real-time signal that nobody handles.
fn free_signal() -> Option<c_int> {
    let is_free = |signal: &c_int| {
        // SAFETY: asks only.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            libc::sigaction(*signal, std::ptr::null(), &raw mut action) == 0
                && action.sa_sigaction == libc::SIG_DFL
        }
    };
    let mut all = (libc::SIGRTMIN() + 1..libc::SIGRTMAX()).rev();
    all.find(|signal| *signal != OF_THE_JDK && is_free(signal))
}

/// The JVM's function.
fn walker(vm: Vm) -> Option<Walker> {
    let address = symbols::address(vm, c"AsyncGetCallTrace")?;
    // SAFETY: HotSpot's function of that name has this signature since JDK 6.
    Some(unsafe { std::mem::transmute::<*mut c_void, Walker>(address) })
}

extern "C" fn handler(_: c_int, info: *mut TimerInfo, context: *mut c_void) {
    // SAFETY: the address of the calling thread's own number.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    // SAFETY: null, or a tap that is never freed; the system passes a valid `info`, as SA_SIGINFO was asked
    // for.
    if let (Some(tap), Some(info)) = unsafe { (TAP.load(Ordering::Acquire).as_ref(), info.as_ref()) } {
        // Nobody else's: our timers carry the address of their thread's clock.
        let clock = tap.clocks.at(info.value.addr());
        if let Some(clock) = clock.filter(|_| info.code == SI_TIMER) {
            tap.sample(clock, context);
        }
    }
    // SAFETY: as above.
    unsafe { *errno = before };
}

/// Where a thread was interrupted.
///
/// The JVM's walker knows methods. Pieces of code that it has put together for several methods (checksums,
/// copies of arrays, dispatch through tables) belong to none, and it gives up. Most of them have no frame of
/// their own: then the address of their caller is on top of the stack; the others keep it where the frame
/// pointer says. The walker is asked again as if the caller had been interrupted there. It believes nothing
/// that it is shown: what is no return address into compiled code, it refuses.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
struct Place {
    context: *mut libc::ucontext_t,
    pc: i64,
    sp: i64,
    fp: i64,
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
impl Place {
    const PC: usize = libc::REG_RIP as usize;
    const SP: usize = libc::REG_RSP as usize;
    const FP: usize = libc::REG_RBP as usize;
    /// How far above the stack's end a frame of such code begins at most.
    const FRAME: i64 = 4096;

    /// # Safety
    /// The context that the system passed to a signal handler that has not returned.
    unsafe fn of(context: *mut c_void) -> Self {
        let context = context.cast::<libc::ucontext_t>();
        // SAFETY: the caller's promise.
        let registers = unsafe { &(*context).uc_mcontext.gregs };
        Place {
            context,
            pc: registers[Self::PC],
            sp: registers[Self::SP],
            fp: registers[Self::FP],
        }
    }

    /// A word of the interrupted thread's stack.
    fn word(at: i64) -> i64 {
        // SAFETY: callers pass addresses at most a page above the stack pointer. The code of the JVM runs on
        // a stack that is larger: that of the calls which led to it lies there.
        unsafe { (at as usize as *const i64).read_volatile() }
    }

    /// Program counter, stack pointer and frame pointer in the caller of code without a frame.
    fn caller_of_leaf(&self) -> Option<(i64, i64, i64)> {
        (self.sp % 8 == 0).then(|| (Self::word(self.sp), self.sp + 8, self.fp))
    }

    /// The same for code that has set up a frame.
    fn caller_by_frame(&self) -> Option<(i64, i64, i64)> {
        let inside = self.fp % 8 == 0 && (self.sp..self.sp + Self::FRAME).contains(&self.fp);
        inside.then(|| (Self::word(self.fp + 8), self.fp + 16, Self::word(self.fp)))
    }

    /// Runs something with the context of a caller, if there is one.
    fn at(&mut self, caller: impl Fn(&Self) -> Option<(i64, i64, i64)>, walk: impl FnOnce(*mut c_void)) {
        let set = |(pc, sp, fp): (i64, i64, i64)| {
            // SAFETY: see `of`.
            let registers = unsafe { &mut (*self.context).uc_mcontext.gregs };
            (registers[Self::PC], registers[Self::SP], registers[Self::FP]) = (pc, sp, fp);
        };
        if let Some(of_caller) = caller(self) {
            set(of_caller);
            walk(self.context.cast());
            // The thread goes on where it was.
            set((self.pc, self.sp, self.fp));
        }
    }
}

/// Elsewhere callers are not looked for.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
struct Place;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
impl Place {
    unsafe fn of(_: *mut c_void) -> Self {
        Place
    }

    fn caller_of_leaf(&self) -> Option<(i64, i64, i64)> {
        None
    }

    fn caller_by_frame(&self) -> Option<(i64, i64, i64)> {
        None
    }

    fn at(&mut self, _: impl Fn(&Self) -> Option<(i64, i64, i64)>, _: impl FnOnce(*mut c_void)) {}
}

impl Tap {
    /// The number of the signal.
    pub fn signal(&self) -> c_int {
        self.signal
    }

    /// What its timers carry.
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// Takes a sample of the calling thread, whose clock this is and which was interrupted in `context`. In a
    /// signal handler.
    fn sample(&self, clock: &AtomicU64, context: *mut c_void) {
        self.busy.fetch_add(1, Ordering::SeqCst);
        if self.open.load(Ordering::SeqCst) {
            // Only threads that are attached to the JVM have timers: so this reads the thread's own memory,
            // and no more. Null when the thread has just been detached.
            let env = self.vm.env();
            // By the clock itself: the system's count of missed ticks is too low when it is short of
            // processors.
            let now = spent(0).unwrap_or_default();
            let nanos = now.saturating_sub(clock.swap(now, Ordering::Relaxed));
            self.buffer.put(nanos, |frames, most| {
                let mut trace = CallTrace {
                    env,
                    count: THREAD_EXIT,
                    frames,
                };
                if !env.is_null() {
                    // SAFETY: made to be called here; there is room for `most` frames.
                    unsafe { (self.walk)(&raw mut trace, most, context) };
                    // SAFETY: `context` is that of the interruption, which nobody else uses meanwhile.
                    let mut place = unsafe { Place::of(context) };
                    for caller in [Place::caller_of_leaf, Place::caller_by_frame] {
                        if ![UNKNOWN_JAVA, NOT_WALKABLE_JAVA].contains(&trace.count) {
                            break;
                        }
                        let why = trace.count;
                        place.at(caller, |context| {
                            // SAFETY: as above.
                            unsafe { (self.walk)(&raw mut trace, most, context) };
                        });
                        // Nothing is gained: the first answer counts.
                        if trace.count <= 0 {
                            trace.count = why;
                        }
                    }
                }
                trace.count
            });
            let took = spent(0).unwrap_or(now).saturating_sub(now);
            self.spent.fetch_add(took, Ordering::Relaxed);
        }
        self.busy.fetch_sub(1, Ordering::SeqCst);
    }

    /// CPU time that samples have taken so far, in nanoseconds.
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Samples are taken from now on.
    pub fn open(&self) {
        self.open.store(true, Ordering::SeqCst);
    }

    /// No samples are taken any more, and none is under way: true, unless one takes very long.
    pub fn close(&self) -> bool {
        self.open.store(false, Ordering::SeqCst);
        for _ in 0..1000 {
            if self.busy.load(Ordering::SeqCst) == 0 {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }

    /// See [`Buffer::take`].
    pub fn take(&self, each: impl FnMut(Taken<'_>)) {
        self.buffer.take(each);
    }

    /// See [`Buffer::take_lost`].
    pub fn take_lost(&self) -> (u64, u64) {
        self.buffer.take_lost()
    }
}

/// The JVM's number for a thread that ends.
pub const THREAD_EXIT: c_int = -8;
/// Its number for a place in its code that belongs to no method.
const UNKNOWN_JAVA: c_int = -5;
/// Its number for a frame that it cannot leave.
const NOT_WALKABLE_JAVA: c_int = -6;
