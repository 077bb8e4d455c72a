//! Which thread has which timer.
//!
//! Timers exist only for threads that are attached to the JVM: a thread gets its own when it starts to run
//! Java code, and loses it when that ends. Those that run already when sampling begins are found by their CPU
//! time, which the JVM tells by Java thread and the system by its own number.

use std::ffi::{c_int, c_void};
use std::io::Error;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use memmap2::MmapMut;
use rustc_hash::FxHashMap;

use super::next_write::{NextWrite, Waiting};
use super::task_clock::{self, TaskClock};
use crate::jvm::{Jni, JvmError, Jvmti};
use crate::locks::lock;
use crate::log::debug;
use crate::sampling::clock::{clock_of, spent, threads};
use crate::threads::ThreadBlock;

/// How often a thread that runs is looked for.
const TRIES: usize = 10;

/// Threads that can be sampled at a time.
const THREADS: usize = 1 << 16;

/// In a clock: no sample was taken yet, and this is what the first one represents.
const FIRST: u64 = 1 << 63;

/// A thread with a timer, for the handler.
pub struct ThreadClock {
    /// Its CPU time at its last sample, or [`FIRST`].
    spent: AtomicU64,
    /// Its CPU time at its next sample; looks at counts come before that.
    due: AtomicU64,
    /// The samples of its block that wait for their paths; null if it has no block of its own.
    waiting: AtomicPtr<Waiting>,
}

impl ThreadClock {
    /// The samples that wait for their paths, if the thread can have such.
    pub fn waiting(&self) -> Option<&'static Waiting> {
        // SAFETY: null, or what `set_waiting` stored: never freed.
        unsafe { self.waiting.load(Ordering::Acquire).as_ref() }
    }

    /// Its next sample is at this CPU time.
    pub fn set_due(&self, at: u64) {
        self.due.store(at, Ordering::Relaxed);
    }

    /// Nanoseconds from `now` to its next sample, where the sampler has set that: 0 else.
    pub fn left(&self, now: u64) -> u64 {
        self.due.load(Ordering::Relaxed).saturating_sub(now)
    }

    fn set_waiting(&self, waiting: Option<&'static Waiting>) {
        let waiting = waiting.map_or(null_mut(), |waiting| std::ptr::from_ref(waiting).cast_mut());
        self.waiting.store(waiting, Ordering::Release);
    }
}

/// Numbers of files that task clocks can have.
const FILES: usize = 1 << 16;

/// The clocks of all threads. Their addresses are what timers carry to the handler, and the numbers of their
/// files what task clocks do; it looks whether it is one before it believes that. Never freed.
pub struct Clocks {
    clocks: MmapMut,
    /// The number of the clock, and one, by the number of the file; 0 for files that are not ours.
    files: MmapMut,
}

impl Clocks {
    /// For as many threads as can be sampled. Pages that no thread uses have no memory.
    ///
    /// # Errors
    /// If there is no address space.
    pub fn new() -> Result<Self, Error> {
        Ok(Clocks {
            clocks: MmapMut::map_anon(THREADS * size_of::<ThreadClock>())?,
            files: MmapMut::map_anon(FILES * size_of::<AtomicU32>())?,
        })
    }

    fn files(&self) -> &[AtomicU32] {
        // SAFETY: memory of that many numbers, aligned to a page, zero at first, only ever used as these.
        unsafe { std::slice::from_raw_parts(self.files.as_ptr().cast(), FILES) }
    }

    /// The clock whose task clock has this file, if one has. In a signal handler.
    pub fn of_file(&self, file: RawFd) -> Option<&ThreadClock> {
        let entry = self.files().get(usize::try_from(file).ok()?)?;
        let number = entry.load(Ordering::Acquire).checked_sub(1)?;
        self.all().get(number as usize)
    }

    /// Signals with this file are those of a clock from now on. False: there is no room.
    fn set_file(&self, file: RawFd, clock: Option<usize>) -> bool {
        let entry = usize::try_from(file).ok().and_then(|file| self.files().get(file));
        let number = clock.map_or(0, |clock| clock as u32 + 1);
        entry
            .inspect(|entry| entry.store(number, Ordering::Release))
            .is_some()
    }

    fn all(&self) -> &[ThreadClock] {
        // SAFETY: memory of that many clocks, aligned to a page, zero at first, which is a clock at zero
        // without block, and only ever used as these.
        unsafe { std::slice::from_raw_parts(self.clocks.as_ptr().cast(), THREADS) }
    }

    /// The clock at an address; `None` if that is the address of none.
    pub fn at(&self, address: usize) -> Option<&ThreadClock> {
        let offset = address.checked_sub(self.clocks.as_ptr().addr())?;
        let aligned = offset.is_multiple_of(size_of::<ThreadClock>());
        self.all()
            .get(offset / size_of::<ThreadClock>())
            .filter(|_| aligned)
    }
}

/// The time that a sample represents, which is taken at a CPU time. A signal handler may ask.
///
/// That is the time since the one before. The first one of a thread stands for what lies between two samples
/// otherwise: whether a thread that lives shortly gets one is a matter of chance, and those that do have to
/// stand for the others, whatever part of their life it comes in.
pub fn advance(clock: &ThreadClock, now: u64) -> u64 {
    let before = clock.spent.swap(now, Ordering::Relaxed);
    if before & FIRST == 0 {
        now.saturating_sub(before)
    } else {
        before & !FIRST
    }
}

/// How often the system looks at timers of CPU time, in nanoseconds.
fn tick() -> u64 {
    let mut tick = timespec(0);
    // SAFETY: a valid place for the answer.
    match unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut tick) } {
        0 => tick.tv_sec as u64 * 1_000_000_000 + tick.tv_nsec as u64,
        _ => 0,
    }
}

/// The timers of all threads.
#[derive(Default)]
pub struct Timers {
    state: Mutex<State>,
    /// For the beginnings of timers.
    random: AtomicU64,
}

#[derive(Default)]
struct State {
    /// While sampling runs: the interval, the signal and what it carries.
    running: Option<(Duration, c_int, &'static Clocks)>,
    /// Task clocks that there may be.
    task_clocks: usize,
    /// Where samples wait for their paths, if they do.
    next_write: Option<&'static NextWrite>,
    /// Blocks that threads count in alone.
    blocks: FxHashMap<libc::pid_t, ThreadBlock>,
    by_thread: FxHashMap<libc::pid_t, Armed>,
    /// CPU time of threads that have timers no more, while they had them, in nanoseconds.
    ended: u64,
    /// Clocks that are free again, and how many were ever in use.
    free: Vec<usize>,
    used: usize,
}

/// A thread's source of signals.
enum Source {
    Timer(#[expect(dead_code, reason = "deleted on drop")] Timer),
    TaskClock(TaskClock),
}

/// A thread with a timer, or with a task clock.
struct Armed {
    source: Source,
    /// The number of its clock.
    clock: usize,
    /// Its CPU time when it got the timer, in nanoseconds.
    since: u64,
}

/// A timer of the system; deleted on drop.
struct Timer(libc::timer_t);

// SAFETY: a timer is a number, valid in the whole process.
unsafe impl Send for Timer {}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: `timer_create` gave it, and it is deleted only here.
        unsafe { libc::timer_delete(self.0) };
    }
}

fn current() -> libc::pid_t {
    // By its number: C libraries before 2.30 have no function for it.
    // SAFETY: always works.
    unsafe { libc::syscall(libc::SYS_gettid) as libc::pid_t }
}

fn timespec(nanos: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (nanos / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanos % 1_000_000_000) as _,
    }
}

impl Timer {
    /// A timer on a thread's CPU time, which signals that thread: first after `first`, then every `interval`.
    fn create(
        thread: libc::pid_t,
        (signal, value): (c_int, usize),
        first: u64,
        interval: u64,
    ) -> Result<Timer, Error> {
        // SAFETY: all fields that the call reads are set; the answers are read if it says that they are
        // there.
        unsafe {
            let mut event: libc::sigevent = MaybeUninit::zeroed().assume_init();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal;
            event.sigev_value.sival_ptr = std::ptr::without_provenance_mut::<c_void>(value);
            event.sigev_notify_thread_id = thread;
            let mut timer = MaybeUninit::<libc::timer_t>::uninit();
            if libc::timer_create(clock_of(thread), &raw mut event, timer.as_mut_ptr()) != 0 {
                return Err(Error::last_os_error());
            }
            let timer = Timer(timer.assume_init());
            let times = libc::itimerspec {
                it_interval: timespec(interval),
                it_value: timespec(first.max(1)),
            };
            match libc::timer_settime(timer.0, 0, &raw const times, null_mut()) {
                0 => Ok(timer),
                _ => Err(Error::last_os_error()),
            }
        }
    }
}

/// An error where there can be no task clocks. Makes one of the calling thread's that never runs out.
pub fn probe_task_clock(signal: c_int) -> Result<(), Error> {
    TaskClock::open(current(), signal, NEVER).map(drop)
}

/// A time that no thread reaches, in nanoseconds.
const NEVER: u64 = 1 << 60;

/// An error where there can be no timers. Makes one of the calling thread's that never runs out.
pub fn probe(interval: Duration, signal: c_int) -> Result<(), Error> {
    Timer::create(current(), (signal, 0), NEVER, interval.as_nanos() as u64).map(drop)
}

impl Armed {
    /// CPU time of the thread since it got the timer; 0 if it has gone.
    fn spent(&self, thread: libc::pid_t) -> u64 {
        spent(thread).map_or(0, |now| now.saturating_sub(self.since))
    }
}

impl State {
    /// Where the samples of a thread wait, if they can.
    fn waiting(&self, thread: libc::pid_t) -> Option<&'static Waiting> {
        self.next_write?.of_block(*self.blocks.get(&thread)?)
    }

    /// A thread loses its timer.
    fn disarm(&mut self, thread: libc::pid_t, armed: Armed, clocks: &Clocks) {
        self.ended += armed.spent(thread);
        if let Source::TaskClock(clock) = &armed.source {
            clocks.set_file(clock.number(), None);
            self.task_clocks += 1;
        }
        drop(armed.source);
        self.free.push(armed.clock);
    }

    /// Makes the source of a thread's signals, the first after `first` nanoseconds.
    fn source(&mut self, thread: libc::pid_t, number: usize, first: u64) -> Result<Source, Error> {
        let (interval, signal, clocks) = self.running.ok_or(std::io::ErrorKind::NotFound)?;
        let interval = interval.as_nanos() as u64;
        let clock = &clocks.all()[number];
        if self.task_clocks > 0 {
            clock.spent.store(FIRST | interval, Ordering::Relaxed);
            match TaskClock::open(thread, signal, first) {
                // The handler has to know it when the first signal comes.
                Ok(source)
                    if clocks.set_file(source.number(), Some(number))
                        && task_clock::again(source.number(), None) =>
                {
                    self.task_clocks -= 1;
                    return Ok(Source::TaskClock(source));
                }
                Ok(_) => debug!("thread {thread} has a timer: its task clock cannot be used"),
                Err(e) => debug!("thread {thread} has a timer, no task clock: {e}"),
            }
        }
        // The system's own ticks come at random times of a thread's life; they delay the signal.
        let tick = tick();
        clock.spent.store(FIRST | interval.max(tick), Ordering::Relaxed);
        let value = std::ptr::from_ref(clock).addr();
        Timer::create(thread, (signal, value), 1 + first.saturating_sub(tick), interval).map(Source::Timer)
    }
}

impl Timers {
    /// From now on threads get timers, or task clocks if `by_task_clock` and as long as there are files.
    pub fn begin(
        &self,
        interval: Duration,
        signal: c_int,
        clocks: &'static Clocks,
        by_task_clock: bool,
        next_write: Option<&'static NextWrite>,
    ) {
        let mut state = lock(&self.state);
        state.running = Some((interval, signal, clocks));
        state.task_clocks = if by_task_clock { task_clock::limit() } else { 0 };
        state.next_write = next_write;
    }

    /// The calling thread counts in this block from now on, and no other thread does.
    pub fn counts_in(&self, block: ThreadBlock) {
        let mut state = lock(&self.state);
        let thread = current();
        state.blocks.insert(thread, block);
        let waiting = state.waiting(thread);
        // Its last thread may have ended without notice.
        if let Some((waiting, next_write)) = waiting.zip(state.next_write) {
            next_write.forget(waiting);
        }
        if let (Some(armed), Some((_, _, clocks))) = (state.by_thread.get(&thread), state.running)
            && let Some(clock) = clocks.all().get(armed.clock)
        {
            clock.set_waiting(waiting);
        }
    }

    /// All timers are deleted.
    pub fn end(&self) {
        let mut state = lock(&self.state);
        let Some((_, _, clocks)) = state.running.take() else {
            return;
        };
        let timers = std::mem::take(&mut state.by_thread);
        for (thread, armed) in timers {
            state.disarm(thread, armed, clocks);
        }
    }

    /// CPU time of all threads while they had timers, by their own clocks.
    pub fn spent(&self) -> Duration {
        let state = lock(&self.state);
        let running = state.by_thread.iter().map(|(&thread, armed)| armed.spent(thread));
        Duration::from_nanos(state.ended + running.sum::<u64>())
    }

    /// Forgets what threads have used so far.
    pub fn reset(&self) {
        let mut state = lock(&self.state);
        state.ended = 0;
        for (&thread, armed) in &mut state.by_thread {
            armed.since += armed.spent(thread);
        }
    }

    /// The calling thread gets a timer, if it has none.
    pub fn arm_current(&self) {
        self.arm(current());
    }

    /// The calling thread has none from here on. A signal that is on its way arrives before this returns.
    pub fn disarm_current(&self) {
        let mut state = lock(&self.state);
        let thread = current();
        if let Some((_, _, clocks)) = state.running
            && let Some(armed) = state.by_thread.remove(&thread)
        {
            state.disarm(thread, armed, clocks);
        }
        if let Some((waiting, next_write)) = state.waiting(thread).zip(state.next_write) {
            next_write.forget(waiting);
        }
        state.blocks.remove(&thread);
    }

    fn arm(&self, thread: libc::pid_t) -> bool {
        let mut state = lock(&self.state);
        let Some((interval, _, clocks)) = state.running else {
            return false;
        };
        // One that is there under this number belonged to a thread that has ended, if it is not this one.
        if let Some(armed) = state.by_thread.remove(&thread) {
            state.disarm(thread, armed, clocks);
        }
        let number = state.free.pop().unwrap_or_else(|| {
            state.used += 1;
            state.used - 1
        });
        let (Some(clock), Some(now)) = (clocks.all().get(number), spent(thread)) else {
            // No room, or the thread has gone.
            state.free.push(number);
            return false;
        };
        let interval = interval.as_nanos() as u64;
        clock.set_waiting(state.waiting(thread));
        // At a random time of the first interval, so that threads that live shortly have their share of
        // samples.
        match state.source(thread, number, self.random() % interval) {
            Ok(source) => {
                let armed = Armed {
                    source,
                    clock: number,
                    since: now,
                };
                state.by_thread.insert(thread, armed);
                true
            }
            Err(e) => {
                state.free.push(number);
                debug!("thread {thread} is not sampled: {e}");
                false
            }
        }
    }

    /// The threads that are attached to the JVM already get timers. How many did, of how many.
    pub fn arm_existing(&self, jvmti: Jvmti, jni: Jni<'_>) -> (usize, usize) {
        let frame = can_read_clocks(jvmti).and_then(|()| jni.frame(4096));
        let Ok(_frame) = frame else {
            self.arm_current();
            return (1, 0);
        };
        let mut known: Vec<libc::pid_t> = lock(&self.state).by_thread.keys().copied().collect();
        let (mut armed, mut all) = (0, 0);
        for &thread in jvmti.threads().iter().flat_map(|threads| threads.iter()) {
            all += 1;
            let of_java = || jvmti.thread_cpu_time(thread).ok();
            if let Some(found) = (0..TRIES).find_map(|_| the_one_at(&known, of_java)) {
                known.push(found);
                armed += usize::from(self.arm(found));
            }
        }
        (armed, all)
    }

    /// Weyl's sequence: evenly spread.
    fn random(&self) -> u64 {
        self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed) >> 8
    }
}

/// Asks the JVM to tell the CPU time of threads.
///
/// # Errors
/// If it cannot.
pub fn can_read_clocks(jvmti: Jvmti) -> Result<(), JvmError> {
    jvmti.add_capabilities(|set| set.set_can_get_thread_cpu_time(true))
}

/// The thread of this process whose CPU time is what `asked` says; `None` if there is none, or several. Its
/// time is read before and after that, as it may be running. `known`: not these.
fn the_one_at(known: &[libc::pid_t], asked: impl FnOnce() -> Option<u64>) -> Option<libc::pid_t> {
    let unknown = threads()?.filter(|number| !known.contains(number));
    let before: Vec<(libc::pid_t, u64)> = unknown
        .filter_map(|thread| Some((thread, spent(thread)?)))
        .collect();
    let at = asked()?;
    let after = |thread| spent(thread).is_some_and(|after| at <= after);
    let mut found = before
        .into_iter()
        .filter(|&(thread, before)| before <= at && after(thread));
    let one = found.next()?.0;
    found.next().is_none().then_some(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_found_by_its_cpu_time() {
        let spin = |rounds: u64| (0..rounds).fold(0u64, |sum, n| std::hint::black_box(sum ^ n));
        let (number, take) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            spin(3_000_000);
            number.send(current()).unwrap();
            ended.recv().unwrap_err();
        });
        let other_number = take.recv().unwrap();
        let find = |known: &[libc::pid_t]| (0..100).find_map(|_| the_one_at(known, || spent(other_number)));
        assert_eq!(find(&[]), Some(other_number));
        assert_ne!(find(&[other_number]), Some(other_number));
        // The calling one runs meanwhile.
        assert_eq!(
            (0..100).find_map(|_| the_one_at(&[], || spent(current()))),
            Some(current())
        );
        drop(end);
        other.join().unwrap();
    }

    fn clock_at(spent: u64) -> ThreadClock {
        ThreadClock {
            spent: AtomicU64::new(spent),
            due: AtomicU64::new(0),
            waiting: AtomicPtr::default(),
        }
    }

    /// Threads of 1.75 ms that first do one thing and then another, the system's ticks at any time of them.
    #[test]
    fn samples_of_short_threads_stand_for_all_of_them() {
        const TICK: u64 = 4_000_000;
        let (mut early, mut late) = (0, 0);
        for round in 0..4000 {
            let clock = clock_at(FIRST | TICK);
            let tick = round * 1000;
            if tick < 1_750_000 {
                let stands_for = advance(&clock, tick);
                *if tick < 1_225_000 { &mut early } else { &mut late } += stands_for;
            }
        }
        assert_eq!((early, late), (4000 * 1_225_000, 4000 * 525_000));
        let clock = clock_at(5);
        assert_eq!((advance(&clock, 12), advance(&clock, 20)), (7, 8));
    }

    #[test]
    fn addresses_of_clocks_are_known() {
        let clocks = Clocks::new().unwrap();
        let address = |at: usize| std::ptr::from_ref(&clocks.all()[at]).addr();
        clocks.all()[5].spent.store(7, Ordering::Relaxed);
        assert_eq!(clocks.at(address(5)).unwrap().spent.load(Ordering::Relaxed), 7);
        for wrong in [
            0,
            1,
            address(0) - 8,
            address(5) + 1,
            address(THREADS - 1) + 8,
            usize::MAX,
        ] {
            assert!(clocks.at(wrong).is_none(), "{wrong}");
        }
    }

    static CLOCKS: std::sync::OnceLock<Clocks> = std::sync::OnceLock::new();
    static TICKS: AtomicU64 = AtomicU64::new(0);
    static NANOS: AtomicU64 = AtomicU64::new(0);
    /// The thread's CPU time at the first tick, 0 before it, and at the last one.
    static FIRST_AT: AtomicU64 = AtomicU64::new(0);
    static LAST_AT: AtomicU64 = AtomicU64::new(0);

    extern "C" fn count(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
        // SAFETY: a signal of ours: value or file are behind 24 bytes.
        let (code, value) = unsafe { ((*info).si_code, *info.cast::<usize>().add(3)) };
        let clocks = CLOCKS.get().unwrap();
        let by_file = clocks.of_file(value as u32 as RawFd).filter(|_| code > 0);
        if let Some(clock) = clocks.at(value).filter(|_| code < 0).or(by_file) {
            let now = spent(0).unwrap_or_default();
            NANOS.fetch_add(advance(clock, now), Ordering::Relaxed);
            TICKS.fetch_add(1, Ordering::Relaxed);
            let _ = FIRST_AT.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
            LAST_AT.store(now, Ordering::Relaxed);
        }
        if by_file.is_some() {
            task_clock::again(value as u32 as RawFd, Some(1_000_000));
        }
    }

    /// Ticks of the calling thread, with one each millisecond of its CPU time if the system can, and that
    /// time: 200 ms or more. On a busy machine most of the system's own ticks find another thread on the
    /// processor.
    fn ticks(signal: c_int, by_task_clock: bool) -> (u64, u64) {
        let timers = Timers::default();
        let count = || [&TICKS, &NANOS].map(|all| all.load(Ordering::Relaxed));
        let before = count();
        FIRST_AT.store(0, Ordering::Relaxed);
        timers.begin(
            Duration::from_millis(1),
            signal,
            CLOCKS.get().unwrap(),
            by_task_clock,
            None,
        );
        let begin = spent(current()).unwrap();
        timers.arm_current();
        while spent(current()).unwrap() - begin < 200_000_000 || count()[0] - before[0] < 4 {
            std::hint::black_box(0);
        }
        timers.disarm_current();
        let used = spent(current()).unwrap() - begin;
        let after = count();
        let [ticks, nanos] = [0, 1].map(|which| after[which] - before[which]);
        let [first, last] = [&FIRST_AT, &LAST_AT].map(|at| at.load(Ordering::Relaxed));
        let before_first = nanos - (last - first);
        assert!(
            (1..=tick().max(1_000_000)).contains(&before_first),
            "{nanos} ns from {first} to {last}"
        );
        let known = timers.spent().as_nanos() as u64;
        assert!(
            (used - 10_000_000..=used).contains(&known),
            "{known} ns of {used}"
        );
        timers.reset();
        assert!(timers.spent().is_zero());
        assert!(lock(&timers.state).by_thread.is_empty());
        timers.end();
        timers.arm_current();
        assert!(
            lock(&timers.state).by_thread.is_empty(),
            "no timer once it has ended"
        );
        let files = CLOCKS.get().unwrap().files();
        assert!(files.iter().all(|file| file.load(Ordering::Relaxed) == 0));
        (ticks, used)
    }

    /// One signal has one handler, so this is one test.
    #[test]
    fn timers_and_task_clocks_signal_their_thread_by_its_cpu_time() {
        CLOCKS.get_or_init(|| Clocks::new().unwrap());
        let signal = libc::SIGRTMIN() + 3;
        // SAFETY: a handler with the signature that SA_SIGINFO asks for.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = count as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            assert_eq!(libc::sigaction(signal, &raw const action, null_mut()), 0);
        }
        probe(Duration::from_millis(1), signal).unwrap();
        ticks(signal, false);
        match probe_task_clock(signal) {
            // As many as there are milliseconds, but for those that the handler takes.
            Ok(()) => {
                let (ticks, used) = ticks(signal, true);
                let milliseconds = used / 1_000_000;
                assert!(
                    (milliseconds / 2..=milliseconds).contains(&ticks),
                    "{ticks} ticks"
                );
            }
            Err(e) => println!("no task clock here: {e}"),
        }
    }
}
