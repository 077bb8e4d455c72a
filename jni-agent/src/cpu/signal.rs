//! The signal handler, and the function of the JVM that it calls.
//!
//! The handler may do little: no allocation, no lock, no message, no panic. It asks the JVM for the
//! stack, which the JVM made for handlers, and marks a slot of the [`Buffer`] as full. It keeps `errno`. Once
//! installed it stays, so that a signal that comes late finds it; what it does is switched off.
//!
//! The signal is a real-time one, none that has a meaning of its own: SIGPROF belongs to whoever profiles
//! beside us, maybe later (other profilers, the JVM's own sampler from 25 on).

use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::RawFd;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use jvmti_bindings::sys::jni::JNIEnv;

use super::Unavailable;
use super::buffer::{Buffer, FRAMES, RawFrame, Stack, Taken, Waits};
use super::context::Context;
use super::doubtful::{Certainty, Near, Probes};
use super::next_write::{Counting, Found, InDoubt, Interruption, Judge, NextWrite};
use super::reasons::THREAD_EXIT;
use super::stacks::OURS;
use super::task_clock;
use super::timers::{self, Clocks, ThreadClock};
use crate::jvm::code::{CodeCache, Registers, Start, Unsafe};
use crate::jvm::{Jni, Jvmti, Vm, symbols};
use crate::log::{debug, warning};
use crate::sampling::spent;

/// `AsyncGetCallTrace`: exported by HotSpot for profilers, though in no header.
type Walker = unsafe extern "C" fn(*mut CallTrace, c_int, *mut c_void);

/// The question, and the place of its answer.
#[repr(C)]
struct CallTrace {
    env: *mut JNIEnv,
    count: c_int,
    frames: *mut RawFrame,
}

/// Linux's information for the handler of a timer's signal.
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

/// State of the handler. Never freed.
pub struct Tap {
    walker: Walker,
    /// Where the walker may be asked. Without it only where the thread was interrupted.
    code: Option<CodeCache>,
    probes: Probes,
    near: Near,
    vm: Vm,
    signal: c_int,
    clocks: Clocks,
    /// Where samples wait for their paths; null if they do not.
    next_write: AtomicPtr<NextWrite>,
    buffer: Buffer,
    /// True while samples are taken.
    open: AtomicBool,
    /// Handlers at work.
    busy: AtomicU32,
    /// CPU time that handlers have taken so far, in nanoseconds.
    spent: AtomicU64,
    /// Nanoseconds between samples.
    interval: AtomicU64,
    /// Random numbers drawn so far, times a constant.
    draws: AtomicU64,
}

/// Nanoseconds before a sample in which no tick comes in between.
const NO_LOOK: u64 = 10_000;

/// The one of this process.
static TAP: AtomicPtr<Tap> = AtomicPtr::new(null_mut());

/// The handler, installed at the first call. For one thread at a time.
pub fn install(vm: Vm, jvmti: Jvmti, jni: Jni<'_>) -> Result<&'static Tap, Unavailable> {
    // SAFETY: null, or what is leaked below.
    if let Some(tap) = unsafe { TAP.load(Ordering::Acquire).as_ref() } {
        return Ok(tap);
    }
    let walker = walker(vm).ok_or(Unavailable::NoWalker)?;
    let code = CodeCache::new(vm, jvmti, jni);
    if code.is_none() {
        debug!("this JVM does not show its code cache: callers of stubs are not looked for");
    }
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    // What all processors can take from one drain to the next, several times.
    let slots = (256 + 64 * cpus).min(4096);
    let tap = Box::leak(Box::new(Tap {
        walker,
        code,
        probes: Probes::new(ids(jni, &SHARED), ids(jni, &COUNT)),
        near: Near::new(),
        vm,
        signal: free_signal().ok_or(Unavailable::NoSignal)?,
        clocks: Clocks::new().map_err(Unavailable::Timers)?,
        next_write: AtomicPtr::default(),
        buffer: Buffer::new(slots).map_err(Unavailable::Timers)?,
        open: AtomicBool::new(false),
        busy: AtomicU32::new(0),
        spent: AtomicU64::new(0),
        interval: AtomicU64::new(0),
        draws: AtomicU64::new(0),
    }));
    TAP.store(tap, Ordering::Release);
    // SAFETY: an action with all fields set; the handler has the signature that SA_SIGINFO asks for.
    let done = unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler as extern "C" fn(c_int, *mut TimerInfo, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // No handler of the program's runs inside ours, and none of ours inside another of ours.
        libc::sigfillset(&raw mut action.sa_mask);
        for needed in FAULTS {
            libc::sigdelset(&raw mut action.sa_mask, needed);
        }
        libc::sigaction(tap.signal, &raw const action, null_mut())
    };
    match done {
        0 => Ok(tap),
        _ => Err(Unavailable::Timers(std::io::Error::last_os_error())),
    }
}

/// The methods that find a thread's counters. The compiler does so once for all probes that it inlines, and
/// its debug data name any of them, in whichever method that is.
const SHARED: [(&CStr, &CStr, &CStr); 3] = [
    (c"java/lang/Trodden", c"counters", c"(I)J"),
    (c"java/lang/TroddenThreads", c"block", c"(Ljava/lang/Thread;)J"),
    (
        c"java/lang/TroddenThreads",
        c"blockInIndex",
        c"(Ljava/lang/Thread;J)J",
    ),
];
/// The methods of probes that count.
const COUNT: [(&CStr, &CStr, &CStr); 3] = [
    (c"java/lang/Trodden", c"count", c"(JI)V"),
    (c"java/lang/Trodden", c"count", c"(II)V"),
    (c"java/lang/TroddenThreads", c"count", c"(Ljava/lang/Thread;I)V"),
];

fn ids<'m>(
    jni: Jni<'_>,
    methods: impl IntoIterator<Item = &'m (&'m CStr, &'m CStr, &'m CStr)>,
) -> Vec<usize> {
    let id = |(class, name, descriptor): &(&CStr, &CStr, &CStr)| {
        let class = jni.find_class(class).ok()?;
        let method = jni.static_method(class, name, descriptor);
        if method.is_err() {
            warning!(
                "internal error: the shim has no {name:?} {descriptor:?}; samples there may be given to another method"
            );
        }
        Some(method.ok()?.address())
    };
    methods.into_iter().filter_map(id).collect()
}

/// A real-time signal that has no handler.
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

/// Finds out where the calling thread is, which was interrupted as it counted: a
/// [`Locator`](super::next_write::Locator). In the handler of a fault.
pub fn locate(context: *mut c_void, of: InDoubt, judge: Judge<'_>) -> Found {
    // SAFETY: null, or never freed.
    let Some(tap) = (unsafe { TAP.load(Ordering::Acquire).as_ref() }) else {
        return Found::There;
    };
    // SAFETY: sets of signals that are filled in; of the calling thread.
    unsafe {
        let mut faults: libc::sigset_t = MaybeUninit::zeroed().assume_init();
        for needed in FAULTS {
            libc::sigaddset(&raw mut faults, needed);
        }
        // Until the handler returns.
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const faults, null_mut());
    }
    tap.locate(context, of, judge)
}

/// Signals that the JVM needs when a walk reads what is not there.
const FAULTS: [c_int; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
];

extern "C" fn handler(_: c_int, info: *mut TimerInfo, context: *mut c_void) {
    // SAFETY: the address of the calling thread's own number.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    // SAFETY: null, or a tap that is never freed; the system passes a valid `info`, as SA_SIGINFO was asked
    // for.
    if let (Some(tap), Some(info)) = unsafe { (TAP.load(Ordering::Acquire).as_ref(), info.as_ref()) } {
        // Nobody else's: our timers carry the address of their thread's clock; of what can be read, the
        // number of the file stands there.
        let value = info.value.addr();
        match info.code {
            SI_TIMER => {
                if let Some(clock) = tap.clocks.at(value) {
                    tap.sample(clock, None, context);
                }
            }
            code if code > 0 => {
                let file = value as u32 as RawFd;
                if let Some(clock) = tap.clocks.of_file(file) {
                    tap.sample(clock, Some(file), context);
                }
            }
            _ => {}
        }
    }
    // SAFETY: as above.
    unsafe { *errno = before };
}

impl Tap {
    /// Where the JVM's library is, if that is known.
    pub fn library(&self) -> Option<Range<usize>> {
        self.code.as_ref().map(CodeCache::library)
    }

    /// The number of the signal.
    pub fn signal(&self) -> c_int {
        self.signal
    }

    /// The clocks that its timers carry.
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// Takes a sample of the calling thread, whose clock this is and which was interrupted in `context`.
    /// `file`: that of its task clock. In a signal handler.
    fn sample(&self, clock: &ThreadClock, file: Option<RawFd>, context: *mut c_void) {
        self.busy.fetch_add(1, Ordering::SeqCst);
        if self.open.load(Ordering::SeqCst) {
            // Only threads that are attached to the JVM have timers: so this reads the thread's own memory,
            // and no more. Null when the thread has just been detached.
            let env = self.vm.env();
            // By the clock itself: the system's count of missed ticks is too low when it is short of
            // processors.
            let now = spent(0).unwrap_or_default();
            if !self.look_between(clock, file, now) {
                self.take_stack(clock, now, env, context);
                if let Some(file) = file {
                    let period = self.period();
                    clock.set_due(now + period);
                    // If it fails, the thread has no samples any more.
                    task_clock::again(file, Some(period));
                }
            }
            let took = spent(0).unwrap_or(now).saturating_sub(now);
            self.spent.fetch_add(took, Ordering::Relaxed);
        }
        self.busy.fetch_sub(1, Ordering::SeqCst);
    }

    /// Puts the thread's stack into the buffer, for the CPU time since the sample before.
    fn take_stack(&self, clock: &ThreadClock, now: u64, env: *mut JNIEnv, context: *mut c_void) {
        let nanos = timers::advance(clock, now);
        let found = self.buffer.put(nanos, |frames, most| {
            if env.is_null() {
                return Some(Stack::of(THREAD_EXIT));
            }
            let (mut stack, stub_called) = self.walk(env, context, frames, most);
            let waits = self.wait(clock, context, frames, (stack, stub_called));
            stack.waits = waits.unwrap_or_default();
            Some(stack)
        });
        if !found {
            self.buffer.lose(nanos);
        }
    }

    /// Where samples wait for their paths, if they do.
    fn next_write(&self) -> Option<&'static NextWrite> {
        // SAFETY: null, or never freed.
        unsafe { self.next_write.load(Ordering::Acquire).as_ref() }
    }

    /// True if this tick is no sample: it came before the next one, as counts are to be compared. `file`: of
    /// the thread's task clock; without one no ticks come in between.
    fn look_between(&self, clock: &ThreadClock, file: Option<RawFd>, now: u64) -> bool {
        let waiting = clock.waiting();
        if let Some(waiting) = waiting {
            waiting.set_clock(file);
        }
        let Some(((next_write, waiting), file)) = self.next_write().zip(waiting).zip(file) else {
            return false;
        };
        let left = clock.left(now);
        if left < NO_LOOK {
            return false;
        }
        let next = next_write.look_between(waiting).unwrap_or(left);
        task_clock::again(file, Some(next.min(left)));
        true
    }

    /// See [`locate`].
    fn locate(&self, context: *mut c_void, of: InDoubt, judge: Judge<'_>) -> Found {
        let env = self.vm.env();
        // SAFETY: `context` is that of the interruption, which nobody else uses meanwhile.
        let mut place = unsafe { Context::of(context) };
        let Some((code, registers)) = self.code.as_ref().zip(place.registers()) else {
            return Found::There;
        };
        if env.is_null() {
            return Found::There;
        }
        // SAFETY: of the calling thread, which stores a count.
        let same_code = unsafe { code.is_same_method_or_called(of.pc, registers, OURS) };
        let mut found = Found::There;
        self.buffer.put(0, |frames, most| {
            let stack = self.near.find(registers.pc, |distance| {
                let pc = registers.pc.wrapping_add_signed(distance);
                if distance != 0 && !code.is_same_method(registers.pc, pc) {
                    return None;
                }
                let mut stack = Stack::of(0);
                place.at(Registers { pc, ..registers }, |context| {
                    (stack, _) = self.walk(env, context, frames, most);
                });
                let count = usize::try_from(stack.count).ok().filter(|&count| count > 0)?;
                // SAFETY: the JVM has just written `count` frames there.
                let walked = unsafe { std::slice::from_raw_parts(frames, count.min(FRAMES)) };
                found = judge(Counting {
                    frames: self.probes.without(walked),
                    whole: count <= FRAMES,
                    same_code,
                });
                (!matches!(found, Found::Unfit { .. })).then_some(stack)
            });
            let Some(stack) = stack else {
                found = Found::Unfit { same_code };
                return None;
            };
            [Found::Elsewhere, Found::Below]
                .contains(&found)
                .then_some(Stack {
                    in_call: false,
                    instead: Some(of.next),
                    ..stack
                })
        });
        found
    }

    /// A sample of the calling thread, which has this stack, waits for its path, if it can.
    fn wait(
        &self,
        clock: &ThreadClock,
        context: *mut c_void,
        frames: *const RawFrame,
        (stack, stub_called): (Stack, Option<usize>),
    ) -> Option<Waits> {
        let next_write = self.next_write()?;
        let waiting = clock.waiting()?;
        let count = usize::try_from(stack.count).ok().filter(|&count| count > 0)?;
        // SAFETY: the JVM has just written `count` frames there.
        let walked = unsafe { std::slice::from_raw_parts(frames, count.min(FRAMES)) };
        // SAFETY: `context` is that of the interruption.
        let registers = unsafe { Context::of(context) }.registers();
        let is_compiled = |registers: Registers| {
            let code = self.code.as_ref();
            !stack.in_call && code.is_some_and(|code| code.is_compiled(registers.pc))
        };
        let is_call = |frame: RawFrame| next_write.targets().is_call(frame.method, frame.bci);
        let in_doubt = |frame| is_call(frame) == Some(true);
        let place = match stub_called {
            Some(_) if is_call(walked[0]) == Some(false) => Certainty::Wrong,
            None if registers.is_some_and(is_compiled) && self.probes.is_doubtful(walked, in_doubt) => {
                Certainty::InDoubt
            }
            _ => Certainty::Known,
        };
        let pc = stub_called.or(registers.map(|registers| registers.pc));
        let at = Interruption {
            context,
            whole: count <= FRAMES,
            pc: pc.unwrap_or_default(),
            sp: registers.map_or(0, |registers| registers.sp),
            place,
        };
        Some(next_write.wait(waiting, walked, at))
    }

    /// Samples wait for their paths here from now on; `None`: they do not wait.
    pub fn answer_by(&self, next_write: Option<&'static NextWrite>) {
        let next_write = next_write.map_or(null_mut(), |all| std::ptr::from_ref(all).cast_mut());
        self.next_write.store(next_write, Ordering::Release);
    }

    /// Asks the JVM for the stack of the calling thread, which was interrupted in `context`, where that is
    /// safe; there is room for `most` frames. Second, where in compiled code a stub was called, if it is in
    /// one.
    fn walk(
        &self,
        env: *mut JNIEnv,
        context: *mut c_void,
        frames: *mut RawFrame,
        most: c_int,
    ) -> (Stack, Option<usize>) {
        // SAFETY: `context` is that of the interruption, which nobody else uses meanwhile.
        let mut place = unsafe { Context::of(context) };
        let ask = |context: *mut c_void| {
            let mut trace = CallTrace {
                env,
                count: THREAD_EXIT,
                frames,
            };
            // SAFETY: made to be called here; there is room for `most` frames.
            unsafe { (self.walker)(&raw mut trace, most, context) };
            trace.count
        };
        let Some((code, registers)) = self.code.as_ref().zip(place.registers()) else {
            return (Stack::of(ask(context)), None);
        };
        // SAFETY: of the calling thread, whose registers these are.
        let start = unsafe { code.check(env, registers) };
        let mut count = match start {
            Ok(_) => ask(context),
            Err(Unsafe::Deoptimizing) => DEOPTIMIZATION,
            Err(Unsafe::CallerUnknown) => NOT_WALKABLE_JAVA,
        };
        let is_refused = [UNKNOWN_JAVA, NOT_WALKABLE_JAVA].contains(&count);
        let mut alone = code.is_alone_in(registers.pc, OURS);
        let mut called = None;
        if is_refused || (count > 0 && alone.is_none() && start == Ok(Start::Registers)) {
            for caller in [Context::caller_of_leaf, Context::caller_by_frame] {
                let Some(caller) = caller(&place).filter(|caller| code.is_return_address(caller.pc)) else {
                    continue;
                };
                alone = alone.or_else(|| code.is_alone_in(caller.pc, OURS));
                if !is_refused {
                    called = Some(caller.pc);
                    break;
                }
                let mut again = 0;
                place.at(caller, |context| again = ask(context));
                // Else nothing is gained: the first answer counts.
                if again > 0 {
                    (count, called) = (again, Some(caller.pc));
                    break;
                }
            }
        }
        let stack = Stack {
            in_call: start == Ok(Start::LastCall) || alone == Some(true),
            ..Stack::of(count)
        };
        let called = called.filter(|&pc| code.is_compiled(pc) && code.is_stub(registers.pc));
        (stack, called.filter(|_| !stack.in_call))
    }

    /// CPU time that samples have taken so far, in nanoseconds.
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// The time to a thread's next sample, in nanoseconds: that between samples, or up to half of it less or
    /// more. So samples keep step with nothing that the program does.
    fn period(&self) -> u64 {
        let interval = self.interval.load(Ordering::Relaxed);
        let random = self.draws.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed) >> 8;
        interval / 2 + random % interval.max(1)
    }

    /// Samples are taken from now on, every so often where the clock can do that.
    pub fn open(&self, interval: Duration) {
        self.interval.store(interval.as_nanos() as u64, Ordering::Relaxed);
        self.open.store(true, Ordering::SeqCst);
    }

    /// No samples are taken any more, and none is in progress: true, unless one takes very long.
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

/// Its number for a place in its code that belongs to no method.
const UNKNOWN_JAVA: c_int = -5;
/// Its number for a frame that it cannot leave.
const NOT_WALKABLE_JAVA: c_int = -6;
/// Its number for a thread whose frames are being replaced.
const DEOPTIMIZATION: c_int = -9;
