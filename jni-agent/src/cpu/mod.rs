//! Where the CPU time goes: stacks, taken every so much CPU time of a thread.
//!
//! Each thread of the program has a timer on its own CPU clock. When that has run on by the interval, the
//! system sends the thread a signal; its handler has the JVM walk the stack (`AsyncGetCallTrace`) into a
//! buffer that is there already. A thread of ours empties the buffer, finds the methods' names, and adds the
//! stacks up in a tree. Nothing else of the program is stopped, and threads that do not run cost nothing.
//!
//! | file | what it does |
//! | --- | --- |
//! | `signal.rs` | the handler, its state (`Tap`), and the function of the JVM that it calls |
//! | `context.rs` | registers of the thread that a signal has interrupted |
//! | `timers.rs` | which thread has which timer |
//! | `task_clock.rs` | the kernel's clock of a thread's CPU time, in place of a timer |
//! | `buffer.rs` | stacks on their way from handlers to our thread |
//! | `doubtful.rs` | code that the compiler may have put down to the wrong method |
//! | `methods.rs` | which method an id stands for, and for how long |
//! | `nameless.rs` | when old versions of methods are looked for |
//! | `next_write/` | the path that a thread was on, which is known when it ends: the *answer* to a sample |
//! | `pending.rs` | samples that wait for their paths |
//! | `stacks.rs` | the tree |
//! | `reasons.rs` | why a sample has no stack |
//! | `precise.rs` | bytecode indices between safepoints |
//! | `at_safepoints.rs` | the same without signals, where the JVM or the system refuses |

mod at_safepoints;
mod buffer;
mod context;
mod doubtful;
mod methods;
mod nameless;
mod next_write;
mod pending;
mod precise;
mod reasons;
mod signal;
mod stacks;
mod task_clock;
mod timers;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use jvmti_bindings::sys::jvmti::{
    JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_THREAD_START,
};
use trodden_profile::CpuSamples;
use trodden_profile::options::SampledBy;

use crate::host::Host;
use crate::jvm::flags::{Flag, check_jni};
use crate::jvm::{ClassRef, Jni, JvmError, ThreadRef, guard};
use crate::locks::lock;
use crate::log::{debug, warning};
use crate::sampling::{Clock, processor_seconds, spent};
use crate::threads::ThreadBlock;
use methods::Methods;
use nameless::Nameless;
use next_write::NextWrite;
use precise::Precise;
use signal::Tap;
use stacks::{StackReader, Stacks};
use timers::Timers;

/// Name of our thread, as debuggers and stack dumps show it.
const THREAD_NAME: &str = "Trodden sampler";
/// How often the buffer is emptied. Ids of methods are looked up then: a class that was unloaded before has
/// no name any more.
const DRAIN: Duration = Duration::from_millis(50);

/// Samples by CPU time.
///
/// Locks: `running` is taken before `stacks`, never after it. `stacks` also lets one thread at a time empty
/// the buffer. The thread of `Running::clock` takes it, so none who holds it may wait for the end of that
/// thread.
#[derive(Default)]
pub struct CpuSampler {
    methods: Methods,
    timers: Timers,
    stacks: Mutex<Stacks>,
    /// True if threads have task clocks.
    by_task_clock: AtomicBool,
    /// CPU time that sampling took, in nanoseconds.
    took: AtomicU64,
    /// The running sampler; `None` while there is no sampling.
    running: Mutex<Option<Running>>,
}

struct Running {
    clock: Clock,
    /// `None`: stacks are read at safepoints.
    tap: Option<(&'static Tap, Precise)>,
    /// CPU time of the process at the beginning.
    since: f64,
}

/// Why there are no samples.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// The JVM has no such function.
    #[error("this JVM does not export AsyncGetCallTrace")]
    NoWalker,
    /// All signals that would do have handlers.
    #[error("no signal is free: the program handles all real-time signals")]
    NoSignal,
    /// The system has no timers per thread.
    #[error("timers on the CPU time of threads: {0}")]
    Timers(std::io::Error),
    /// The JVM refuses something.
    #[error(transparent)]
    Jvm(#[from] JvmError),
}

/// Where samples wait for their paths, if this system can do that.
fn answered_by(host: &Host, tap: &Tap) -> Option<&'static NextWrite> {
    // The JVM would write about our handler to the program's standard output.
    if check_jni(host.vm).is_some_and(Flag::is_on) {
        debug!("-Xcheck:jni: time is divided among paths by their counts");
        return None;
    }
    let library = tap.library().unwrap_or_default();
    match NextWrite::install(host.blocks.block_length(), library, signal::locate) {
        Ok(next_write) => Some(next_write),
        Err(e) => {
            warning!("time is divided among paths by their counts: {e}");
            None
        }
    }
}

impl CpuSampler {
    /// Begins to sample all threads. What was sampled before is kept. `counts`: path ends are counted in the
    /// blocks of threads, so that samples can wait for their paths.
    ///
    /// # Errors
    /// If this JVM or this system cannot do it.
    pub fn start(
        &'static self,
        host: &'static Host,
        jni: Jni<'_>,
        interval: Duration,
        by: SampledBy,
        counts: bool,
    ) -> Result<(), Unavailable> {
        let mut running = lock(&self.running);
        if running.is_some() {
            return Ok(());
        }
        lock(&self.stacks).find_places_by(&*host.registry);
        let tables = host.jvmti.add_capabilities(|set| {
            set.set_can_get_line_numbers(true);
            set.set_can_get_bytecodes(true);
        });
        if let Err(e) = tables {
            debug!("lines of methods that are left out, and calls in methods, are not known: {e}");
        }
        let timers = match by {
            SampledBy::Safepoint => None,
            SampledBy::Async | SampledBy::Timer => Some(self.start_timers(host, jni, interval, by, counts)?),
            SampledBy::Auto => match self.start_timers(host, jni, interval, by, counts) {
                Ok(started) => Some(started),
                Err(e) => {
                    warning!("stacks are read at safepoints only, and more rarely: {e}");
                    None
                }
            },
        };
        let (tap, clock) = match timers {
            Some((tap, precise, clock)) => (Some((tap, precise)), clock),
            None => (None, self.start_reader(host, jni, interval)?),
        };
        *running = Some(Running {
            clock,
            tap,
            since: processor_seconds(),
        });
        Ok(())
    }

    /// Stacks are read by a thread of ours.
    fn start_reader(
        &'static self,
        host: &'static Host,
        jni: Jni<'_>,
        interval: Duration,
    ) -> Result<Clock, Unavailable> {
        let (jvmti, interval) = (host.jvmti, interval.max(at_safepoints::SHORTEST));
        timers::can_read_clocks(jvmti)?;
        jvmti.notify(JVMTI_EVENT_CLASS_PREPARE, true)?;
        self.methods.register_loaded(jvmti, jni)?;
        lock(&self.stacks).begin(interval, StackReader::Safepoint);
        let mut reader = at_safepoints::Reader::default();
        let mut nameless = Nameless::default();
        let mut known = 0;
        let clock = Clock::start(THREAD_NAME, host.vm, jvmti, interval, None, move |jni, _, _| {
            guard(THREAD_NAME, false, || {
                reader.look(
                    (jvmti, jni),
                    interval,
                    &self.methods,
                    &mut self.current_stacks(jni),
                );
                self.name_old_versions(host, jni, &mut nameless);
                self.add_cost(&mut known, 0);
                true
            })
        });
        clock.map_err(Unavailable::Timers)
    }

    /// Threads get task clocks or timers, whose signals take the samples.
    fn start_timers(
        &'static self,
        host: &'static Host,
        jni: Jni<'_>,
        interval: Duration,
        by: SampledBy,
        counts: bool,
    ) -> Result<(&'static Tap, Precise, Clock), Unavailable> {
        let tap = signal::install(host.vm, host.jvmti, jni)?;
        // Now: in an event of a thread nothing may run Java code.
        host.find_virtual_threads(jni);
        let by_task_clock = by != SampledBy::Timer
            && timers::probe_task_clock(tap.signal())
                .inspect_err(|e| debug!("samples by timers, no task clock: {e}"))
                .is_ok();
        self.by_task_clock.store(by_task_clock, Ordering::Relaxed);
        if by_task_clock {
            task_clock::survive_sigio();
        } else {
            timers::probe(interval, tap.signal()).map_err(Unavailable::Timers)?;
        }
        let jvmti = host.jvmti;
        // The JVM walks stacks only if all methods have ids: they are made as classes load.
        jvmti.notify(JVMTI_EVENT_CLASS_LOAD, true)?;
        jvmti.notify(JVMTI_EVENT_CLASS_PREPARE, true)?;
        self.methods.register_loaded(jvmti, jni)?;
        let next_write = if counts { answered_by(host, tap) } else { None };
        {
            let mut stacks = lock(&self.stacks);
            stacks.begin(interval, StackReader::Handler);
            stacks.answer_by(next_write);
        }
        // The handlers' sum goes on from former stretches.
        let mut known = tap.spent();
        let mut nameless = Nameless::default();
        let clock = Clock::start(THREAD_NAME, host.vm, jvmti, DRAIN, None, move |jni, _, _| {
            guard(THREAD_NAME, false, || {
                self.drain(host, jni, tap);
                self.name_old_versions(host, jni, &mut nameless);
                self.add_cost(&mut known, tap.spent());
                true
            })
        });
        let clock = clock.map_err(Unavailable::Timers)?;
        if let Some(next_write) = next_write {
            next_write.open();
        }
        tap.answer_by(next_write);
        tap.open(interval);
        jvmti.notify(JVMTI_EVENT_THREAD_START, true)?;
        jvmti.notify(JVMTI_EVENT_THREAD_END, true)?;
        self.timers
            .begin(interval, tap.signal(), tap.clocks(), by_task_clock, next_write);
        let armed = self.timers.arm_existing(jvmti, jni);
        debug!(
            "CPU samples every {interval:?}, signal {}, {armed:?} threads at the start",
            tap.signal()
        );
        Ok((tap, Precise::begin(host.vm, jvmti), clock))
    }

    /// Ends sampling; samples are kept. `jni` is the calling thread's.
    pub fn stop(&self, host: &Host, jni: Jni<'_>) {
        let Some(Running { clock, tap, since }) = lock(&self.running).take() else {
            return;
        };
        // First: a handler at work may use the file of its task clock.
        if tap.as_ref().is_some_and(|(tap, _)| !tap.close()) {
            warning!("a thread is still being sampled; its sample is left out");
        }
        if tap.is_some() {
            // Before the files of task clocks are closed, which waits use.
            lock(&self.stacks).close_answers();
        }
        self.timers.end();
        clock.stop();
        if let Some((tap, precise)) = tap {
            precise.end(host.jvmti);
            self.drain(host, jni, tap);
        }
        // Others may still listen to the ends of threads.
        for event in [
            JVMTI_EVENT_THREAD_START,
            JVMTI_EVENT_CLASS_LOAD,
            JVMTI_EVENT_CLASS_PREPARE,
        ] {
            if let Err(e) = host.jvmti.notify(event, false) {
                debug!("an event stays on: {e}");
            }
        }
        self.methods.forget(jni);
        let spent = Duration::from_secs_f64((processor_seconds() - since).max(0.0));
        let mut stacks = lock(&self.stacks);
        stacks.forget_methods();
        stacks.add_process_time(spent);
    }

    /// Forgets all samples; sampling continues, if it runs.
    pub fn reset(&self) {
        let mut running = lock(&self.running);
        lock(&self.stacks).reset();
        self.took.store(0, Ordering::Relaxed);
        self.timers.reset();
        if let Some(running) = &mut *running {
            running.since = processor_seconds();
            running.tap.as_ref().map(|(tap, _)| tap.take_lost());
        }
    }

    /// The samples so far; `None` if sampling never began.
    pub fn samples(&self, host: &Host, jni: Jni<'_>) -> Option<CpuSamples> {
        let running = lock(&self.running);
        let mut more = Duration::ZERO;
        if let Some(running) = &*running {
            if let Some((tap, _)) = &running.tap {
                self.drain(host, jni, tap);
            }
            more = Duration::from_secs_f64((processor_seconds() - running.since).max(0.0));
        }
        drop(running);
        lock(&self.stacks).samples(more)
    }

    /// CPU time of the threads that are sampled, by their own clocks; `None` where stacks are read at
    /// safepoints, or sampling never began.
    pub fn threads(&self) -> Option<Duration> {
        (lock(&self.stacks).reader() == StackReader::Handler).then(|| self.timers.spent())
    }

    /// The clock of samples, as [`CPU_CLOCK`](trodden_profile::facts::CPU_CLOCK) has it.
    pub fn clock(&self) -> &'static str {
        match lock(&self.stacks).reader() {
            StackReader::Handler if self.by_task_clock.load(Ordering::Relaxed) => "task-clock",
            StackReader::Handler => "timer",
            StackReader::None | StackReader::Safepoint => "safepoint",
        }
    }

    /// CPU time that samples found inside of probes, until [`samples`](Self::samples) was called last.
    pub fn in_probes(&self) -> Duration {
        lock(&self.stacks).in_probes()
    }

    /// CPU time that sampling took itself.
    pub fn took(&self) -> Duration {
        Duration::from_nanos(self.took.load(Ordering::Relaxed))
    }

    /// Adds what our thread, which calls this, and the handlers took since the last call; `known`: their sum
    /// then.
    fn add_cost(&self, known: &mut u64, handlers: u64) {
        let sum = handlers + spent(0).unwrap_or_default();
        self.took.fetch_add(sum.saturating_sub(*known), Ordering::Relaxed);
        *known = sum;
    }

    /// The calling thread begins to run Java code. A virtual one has none of its own: its carrier has the
    /// timer.
    pub fn thread_starts(&self, host: &Host, jni: Jni<'_>, thread: ThreadRef) {
        if !host.is_virtual(jni, thread) {
            self.timers.arm_current();
        }
    }

    /// The calling thread counts in this block from now on, and no other thread does.
    pub fn thread_counts_in(&self, block: ThreadBlock) {
        self.timers.counts_in(block);
    }

    /// The calling thread is about to end.
    pub fn thread_ends(&self, host: &Host, jni: Jni<'_>, thread: ThreadRef) {
        if !host.is_virtual(jni, thread) {
            self.timers.disarm_current();
        }
    }

    /// A class is ready to be used: its methods get ids.
    pub fn class_prepared(&self, host: &Host, jni: Jni<'_>, class: ClassRef) {
        self.methods.register(host.jvmti, jni, class);
    }

    /// The tree; ids of methods that are gone are forgotten.
    fn current_stacks(&self, jni: Jni<'_>) -> MutexGuard<'_, Stacks> {
        let mut stacks = lock(&self.stacks);
        if self.methods.have_changed(jni) {
            stacks.forget_methods();
        }
        stacks
    }

    /// Looks for the names of methods that had none in samples, now and then.
    fn name_old_versions(&self, host: &Host, jni: Jni<'_>, nameless: &mut Nameless) {
        if lock(&self.stacks).take_nameless() && nameless.is_due(host.registry.moves(), Instant::now()) {
            self.methods.register_running(host.jvmti, jni);
        }
    }

    /// Adds the stacks in the buffer to the tree.
    fn drain(&self, host: &Host, jni: Jni<'_>, tap: &Tap) {
        let mut stacks = self.current_stacks(jni);
        let lost = tap.take_lost();
        stacks.lose(lost.0, lost.1);
        // First: a sample is in the buffer before its answer comes.
        let answers = stacks.take_answers();
        let mut sampled = 0;
        tap.take(|taken| {
            sampled += taken.nanos;
            stacks.add(taken, |id| self.methods.version(host.jvmti, jni, id));
        });
        let took = stacks.answer(answers, sampled);
        self.took.fetch_add(took, Ordering::Relaxed);
    }
}
