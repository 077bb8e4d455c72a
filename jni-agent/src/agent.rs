//! The agent's state, and what starting and stopping do to it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jvmti_bindings::sys::jni::{JNIEnv, jmethodID};
use jvmti_bindings::sys::jvmti::{
    JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
    JVMTI_EVENT_THREAD_END, JVMTI_EVENT_VIRTUAL_THREAD_END, jvmtiCapabilities,
};
use trodden_analyses::stream::{Pipeline, StreamError};
use trodden_instrumenter::ProbeKind;
use trodden_profile::events::ThreadInfo;
use trodden_profile::options::ConsumedBy;

use crate::blocks::{Block, Blocks};
use crate::clock::Clock;
use crate::collector::Collector;
use crate::controller::Ledger;
use crate::dump;
use crate::events::Streams;
use crate::jvm::guard::guard;
use crate::jvm::jvmti::ThreadRef;
use crate::jvm::thread::Vm;
use crate::jvm::{FieldId, GlobalRef, Jni, JvmError, Jvmti};
use crate::log::{debug, info, warning};
use crate::method_events::MethodEvents;
use crate::record::TraceFile;
use crate::registry::Registry;
use crate::retransform::{Restored, retransform};
use crate::settings::Settings;
use crate::shim::Shim;
use crate::structural::Windows;
use crate::ticker::Ticker;
use crate::walk::Walker;

/// Everything the agent knows; one per JVM, alive until the process ends.
pub struct Agent {
    /// The JVM.
    pub vm: Vm,
    /// Our environment in it.
    pub jvmti: Jvmti,
    /// Was the agent attached to a running JVM?
    pub late: bool,
    /// Does the program run?
    pub up: AtomicBool,
    /// What may be done that has to be asked for at start-up.
    pub granted: Granted,
    /// Ids.
    pub registry: Arc<Registry>,
    /// Native memory of threads.
    pub blocks: Blocks,
    /// Events that threads write to their blocks.
    pub streams: Streams,
    /// Finds out what is on stacks.
    pub walker: Walker,
    /// Bursts of the JVM's own events.
    pub method_events: MethodEvents,
    /// What virtual threads are instances of, if it has been looked for and there is such a class.
    virtual_threads: OnceLock<GlobalRef>,
    /// `Thread.tid`.
    thread_id: OnceLock<FieldId>,
    shim: OnceLock<Shim>,
    /// What the hook instruments with while profiling runs.
    active: RwLock<Option<Arc<Settings>>>,
    /// Serialises start, stop and commands.
    control: Mutex<Control>,
    /// Counts so far.
    pub collector: Mutex<Collector>,
    /// Which methods were counted when.
    ledger: Mutex<Ledger>,
    /// Structure graphs.
    windows: Mutex<Windows>,
    /// Methods compiled again since probes were first taken out of their classes.
    recompilations: AtomicU64,
    /// Mean number of bytes between allocations that are told.
    alloc_interval: AtomicU32,
    /// Bursts so far, of all profiles: threads remember in which one they took part last.
    bursts: AtomicU32,
}

/// Capabilities that the JVM gives at start-up only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Granted {
    /// Frames may be read.
    pub frames: bool,
    /// The JVM tells of beginnings and ends of activations.
    pub method_events: bool,
}

/// What commands change.
#[derive(Default)]
pub struct Control {
    clock: Option<Clock>,
    /// Settings of the running or last profile.
    pub settings: Option<Arc<Settings>>,
    /// The trace that is being written.
    pub trace: Option<Arc<TraceFile>>,
    /// Wall-clock time at which the profile began.
    pub started: Option<SystemTime>,
    /// Time profiled before the current stretch.
    before: Duration,
    /// When the current stretch began; `None` while stopped.
    since: Option<Instant>,
}

/// Why profiling could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It runs already.
    #[error("profiling runs already; stop it first")]
    Running,
    /// Frames can be read only if the agent was there from the start.
    #[error(
        "probe 'safepoint' needs the agent at JVM start-up (-agentpath or JAVA_TOOL_OPTIONS), not attached later"
    )]
    NeedsStartUp,
    /// The JVM's events are to be had only by who asks for them at the start.
    #[error(
        "burst-events=jvm needs the agent at JVM start-up with that very option (-agentpath or JAVA_TOOL_OPTIONS): \
         this JVM can no longer be asked for its events; burst-events=probes can be attached"
    )]
    NeedsMethodEvents,
    /// The schedule's window is larger than the ring of this JVM.
    #[error(
        "schedule {schedule} needs windows of {needed} path ends, but this JVM's ring has room for {room}"
    )]
    Window {
        /// The schedule.
        schedule: String,
        /// Its window.
        needed: u64,
        /// The ring's length.
        room: u64,
    },
    /// The JVM refused something.
    #[error(transparent)]
    Jvm(#[from] JvmError),
    /// No address space for a thread's counters.
    #[error(
        "this probe needs {} MB of address space per thread, and the system has none left (see ulimit -v)",
        Blocks::MEGABYTES
    )]
    NoRoom,
    /// The analyses cannot be set up.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The trace cannot be written.
    #[error("no trace: {0}")]
    Trace(String),
    /// No clock, or no consumer.
    #[error("no thread for the agent: {0}")]
    Thread(std::io::Error),
}

static AGENT: OnceLock<Agent> = OnceLock::new();

impl Control {
    /// Seconds profiled so far.
    pub fn seconds(&self) -> f64 {
        (self.before + self.since.map_or(Duration::ZERO, |since| since.elapsed())).as_secs_f64()
    }

    /// Does profiling run?
    pub fn running(&self) -> bool {
        self.since.is_some()
    }
}

impl Agent {
    /// The agent, once it is there.
    pub fn get() -> Option<&'static Agent> {
        AGENT.get()
    }

    /// Runs what the JVM or the shim calls on a thread of the program, guarded; the fallback, if there is no agent.
    ///
    /// # Safety
    /// `jni` is the calling thread's environment, valid during this call, or null.
    pub unsafe fn on_thread<T: Copy>(
        entry: &'static str,
        fallback: T,
        jni: *mut JNIEnv,
        body: impl FnOnce(&'static Agent, Jni<'_>) -> T,
    ) -> T {
        guard(entry, fallback, || {
            // SAFETY: the caller's promise.
            match (Agent::get(), unsafe { Jni::from_raw(jni) }) {
                (Some(agent), Some(jni)) => body(agent, jni),
                _ => fallback,
            }
        })
    }

    /// Makes the agent. The first caller wins.
    pub fn create(vm: Vm, jvmti: Jvmti, late: bool, granted: Granted) -> &'static Agent {
        AGENT.get_or_init(|| Agent {
            vm,
            jvmti,
            late,
            up: AtomicBool::new(late),
            granted,
            registry: Arc::default(),
            blocks: Blocks::new(),
            streams: Streams::default(),
            walker: Walker::default(),
            method_events: MethodEvents::default(),
            virtual_threads: OnceLock::new(),
            thread_id: OnceLock::new(),
            shim: OnceLock::new(),
            active: RwLock::new(None),
            control: Mutex::default(),
            collector: Mutex::default(),
            ledger: Mutex::default(),
            windows: Mutex::default(),
            recompilations: AtomicU64::new(0),
            alloc_interval: AtomicU32::new(0),
            bursts: AtomicU32::new(0),
        })
    }

    /// The shim, defined at first use.
    pub fn shim(&self, jni: Jni<'_>, window: u64) -> Result<&Shim, JvmError> {
        if let Some(shim) = self.shim.get() {
            return Ok(shim);
        }
        // Called under the control lock only, so nobody defines it a second time.
        let current = self.jvmti.current_thread()?;
        let thread_id = match self.thread_id.get() {
            Some(&field) => field,
            None => {
                let field = jni.long_field_id(current, c"tid")?;
                *self.thread_id.get_or_init(|| field)
            }
        };
        let shim = Shim::define(jni, &self.blocks, window)?;
        if let Some(block) = shim.first_block() {
            let info = ThreadInfo {
                id: jni.long_field(current, thread_id) as u64,
                // A virtual thread's cannot be asked for without a capability.
                name: self.jvmti.thread_name(current).unwrap_or_default(),
                is_virtual: false,
            };
            self.streams.thread_begins(block, info);
        }
        Ok(self.shim.get_or_init(|| shim))
    }

    /// A thread's number in the whole run of the JVM.
    pub fn thread_id(&self, jni: Jni<'_>, thread: ThreadRef) -> Option<u64> {
        let field = *self.thread_id.get()?;
        Some(jni.long_field(thread, field) as u64)
    }

    /// Is it a virtual thread?
    pub fn is_virtual(&self, jni: Jni<'_>, thread: ThreadRef) -> bool {
        let class = self.virtual_threads.get();
        class.is_some_and(|&class| jni.is_instance(thread, class))
    }

    /// A thread is about to end: its stream ends, and its block may be another one's.
    pub fn thread_ends(&self, jni: Jni<'_>, thread: ThreadRef) {
        if self.granted.method_events {
            let _ = Block::set_of_calling_thread(None, self.jvmti);
        }
        if let Some(id) = self.thread_id(jni, thread) {
            self.streams.thread_ends(&self.blocks, id);
        }
    }

    /// The calling thread (null will do), whose block this is and which begins an activation of a method, takes part in a burst from here
    /// on, or is left out.
    pub fn join_burst(&self, jni: Jni<'_>, thread: ThreadRef, block: Block, method: u32) -> bool {
        let stack = self.walker.stack(self, jni, thread, method);
        stack.is_some_and(|stack| self.streams.join(block, &stack))
    }

    /// The shim, if it is there.
    pub fn shim_if_defined(&self) -> Option<&Shim> {
        self.shim.get()
    }

    /// What the hook instruments with, if profiling runs.
    pub fn active(&self) -> Option<Arc<Settings>> {
        self.active.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_active(&self, settings: Option<Arc<Settings>>) {
        *self.active.write().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// The command lock.
    pub fn control(&self) -> MutexGuard<'_, Control> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, unless a command is under way.
    pub fn try_control(&self) -> Option<MutexGuard<'_, Control>> {
        self.control.try_lock().ok()
    }

    /// The number of a burst that begins: from 1 to `i32::MAX`, so that none soon comes again.
    pub fn next_burst(&self) -> i32 {
        (self.bursts.fetch_add(1, Ordering::Relaxed) % i32::MAX as u32 + 1) as i32
    }

    /// The collector's lock.
    pub fn collector(&self) -> MutexGuard<'_, Collector> {
        self.collector.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ledger's lock; taken after the others, and never held while the JVM is called.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The windows' lock; taken after the collector's and before the ledger's.
    pub fn windows(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks to be told of every method that is compiled from now on.
    pub fn watch_recompilations(&self) {
        let mut capabilities = jvmtiCapabilities::default();
        capabilities.set_can_generate_compiled_method_load_events(true);
        let asked = self.jvmti.add_capabilities(&capabilities);
        if let Err(e) = asked.and_then(|()| self.jvmti.notify(JVMTI_EVENT_COMPILED_METHOD_LOAD, true)) {
            debug!("recompilations are not counted: {e}");
        }
    }

    /// A method was compiled.
    pub fn compiled(&self, jni: Jni<'_>, method: jmethodID) {
        // A method may be unloaded by now.
        if let Ok(class) = self.jvmti.declaring_class(method) {
            if let Ok(Some(name)) = self.jvmti.class_name(class)
                && self.registry.was_silenced(&name)
            {
                self.recompilations.fetch_add(1, Ordering::Relaxed);
            }
            jni.delete_local_class(class);
        }
    }

    /// The calling thread has made an object of a size in bytes, and the JVM has chosen it: it stands for those that were not chosen.
    ///
    /// An object of `size` bytes is chosen with probability 1 - exp(-size / interval), as the JVM draws the bytes from one choice to
    /// the next (JEP 331).
    pub fn allocated(&self, jni: Jni<'_>, thread: ThreadRef, size: u64) {
        if let Some(block) = self
            .thread_id(jni, thread)
            .and_then(|id| self.streams.block_of(id))
        {
            if block.at_bottom() {
                self.find_before(jni, block);
            }
            let interval = f64::from(self.alloc_interval.load(Ordering::Relaxed));
            let bytes = match interval > 0.0 {
                true => (size as f64 / -(-(size as f64) / interval).exp_m1()).round() as u64,
                false => size,
            };
            self.streams.charge(block, bytes);
        }
    }

    /// The calling thread, whose block this is, is in no activation that tells of itself: in which from before profiling is it?
    pub fn find_before(&self, jni: Jni<'_>, block: Block) {
        let last = self.streams.is_settled();
        let words = self.walker.before(self, jni);
        self.streams.found_before(block, words, last);
    }

    /// Methods compiled again in classes whose probes were taken out.
    pub fn recompilations(&self) -> u64 {
        self.recompilations.load(Ordering::Relaxed)
    }

    /// Starts profiling: hook on, classes that are there already sent through it, clock on.
    pub fn start(
        &'static self,
        jni: Jni<'_>,
        control: &mut Control,
        mut settings: Settings,
    ) -> Result<Restored, StartError> {
        if control.running() {
            return Err(StartError::Running);
        }
        if settings.probe == ProbeKind::Safepoint && !self.granted.frames {
            return Err(StartError::NeedsStartUp);
        }
        if settings.options.has_events_of_jvm() {
            if !self.granted.method_events {
                return Err(StartError::NeedsMethodEvents);
            }
            // Not when threads are asked for: looking for a class may run Java code.
            if self.virtual_threads.get().is_none()
                && let Ok(class) = jni.find_class(c"java/lang/BaseVirtualThread")
            {
                self.virtual_threads.get_or_init(|| jni.global_class(class));
                jni.delete_local_class(class);
            }
        }
        if settings.probe == ProbeKind::Structural {
            settings.switches = Some(self.blocks.switches().ok_or(StartError::NoRoom)?);
        }
        let settings = Arc::new(settings);
        let shim = self.shim(jni, settings.window())?;
        if settings.window() > shim.ring_entries() {
            return Err(StartError::Window {
                schedule: settings.options.schedule.to_string(),
                needed: settings.window(),
                room: shim.ring_entries(),
            });
        }
        let counts = matches!(
            settings.probe,
            ProbeKind::Counters | ProbeKind::Events | ProbeKind::Structural
        );
        if counts && shim.first_block().is_none() {
            return Err(StartError::NoRoom);
        }
        if self.registry.configure(&settings.configuration()) && control.started.is_some() {
            info!("other probes or filters than before: a new profile begins");
            self.collector()
                .reset(settings.probe, &self.registry, &self.blocks, shim, jni)?;
            *control = Control::default();
            self.ledger().reset();
            self.windows().forget();
            self.registry.silence_none();
        }
        self.walker.forget();
        self.ledger().begin(control.before);
        shim.lay_out(jni, settings.strata())?;
        if settings.probe == ProbeKind::Structural {
            self.windows().begin(&self.blocks, settings.options.window);
        }
        if settings.probe == ProbeKind::Events {
            self.start_streams(control, &settings)?;
        }
        let done = match settings.ahead {
            true => Restored::default(),
            false => self.instrument(jni, &settings)?,
        };
        self.streams.settled();
        control.clock = settings
            .interval()
            .map(|i| self.start_clock(i, &settings))
            .transpose()
            .map_err(StartError::Thread)?;
        control.settings = Some(settings);
        control.started.get_or_insert_with(SystemTime::now);
        control.since = Some(Instant::now());
        Ok(done)
    }

    /// Switches the hook on and sends what is loaded through it.
    fn instrument(&self, jni: Jni<'_>, settings: &Arc<Settings>) -> Result<Restored, JvmError> {
        self.set_active(Some(Arc::clone(settings)));
        self.jvmti.notify(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, true)?;
        let filter = &settings.instrumenter.options().filter;
        // Only to get at their bytes, with the JVM's events. Those of classes that came by unchanged would be others this time: the JVM keeps
        // what it was given only where that was changed, else it puts together an equivalent.
        let once = settings.options.has_events_of_jvm();
        Ok(retransform(
            self.jvmti,
            jni,
            &self.registry,
            |name| filter.class(name) && !(once && self.registry.has_class_named(name)),
            |_| (),
        ))
    }

    /// Sets the analyses up, or goes on with those of a profile that was stopped.
    fn start_streams(&self, control: &mut Control, settings: &Arc<Settings>) -> Result<(), StartError> {
        // Only newer JVMs have virtual threads; on older ones both fail, and nothing is lost.
        let mut capabilities = jvmtiCapabilities::default();
        capabilities.set_can_support_virtual_threads(true);
        if self.jvmti.add_capabilities(&capabilities).is_ok() {
            let _ = self.jvmti.notify(JVMTI_EVENT_VIRTUAL_THREAD_END, true);
        }
        self.jvmti.notify(JVMTI_EVENT_THREAD_END, true)?;
        if let Some((_, revisits)) = settings.bursts() {
            self.streams.set_revisits(revisits, settings.options.seed);
        }
        if let Some(bytes) = settings.alloc_interval() {
            let mut capabilities = jvmtiCapabilities::default();
            capabilities.set_can_generate_sampled_object_alloc_events(true);
            self.jvmti.add_capabilities(&capabilities)?;
            self.jvmti.set_heap_sampling_interval(bytes)?;
            self.alloc_interval.store(bytes, Ordering::Relaxed);
            self.jvmti.notify(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, true)?;
        }
        let watching = self.up.load(Ordering::Relaxed) && settings.follows_stacks();
        if control.started.is_some() && !settings.records() {
            self.streams.watch(watching);
            return Ok(());
        }
        let pipeline = if settings.records() {
            let file = dump::file_name(settings).map_err(|e| StartError::Trace(e.to_string()))?;
            let kinds = settings.instrumenter.options().events;
            let run = dump::run_info(self, control, settings);
            let trace = TraceFile::create(file, kinds, &run).map_err(StartError::Trace)?;
            let trace = Arc::new(trace);
            control.trace = Some(Arc::clone(&trace));
            Pipeline::new().with_recorder(trace, kinds)
        } else {
            Pipeline::with_lookup(&settings.options, Arc::clone(&self.registry) as _)?
        };
        self.streams
            .begin(pipeline, settings.options.consumer == ConsumedBy::Agent, watching)
            .map_err(StartError::Thread)
    }

    fn start_clock(&'static self, interval: Duration, settings: &Arc<Settings>) -> std::io::Result<Clock> {
        let mut ticker = Ticker::new(self, settings);
        Clock::start(
            self.vm,
            self.jvmti,
            interval,
            settings.jitter(),
            move |jni, tick, signal| guard("the clock", false, || ticker.tick(jni, tick, signal)),
        )
    }

    /// Stops profiling; counts are kept, classes get their own bytes back.
    pub fn stop(&self, jni: Jni<'_>, control: &mut Control) -> Restored {
        self.pause(jni, control);
        if control.settings.as_ref().is_some_and(|settings| settings.ahead) {
            return Restored::default();
        }
        let unchanged = control
            .settings
            .as_ref()
            .is_some_and(|settings| settings.options.has_events_of_jvm());
        self.set_active(None);
        self.windows().stop(&self.blocks);
        self.ledger().stop();
        self.registry.silence_none();
        let names = self.registry.names();
        let restored = match unchanged {
            true => Restored::default(),
            false => retransform(
                self.jvmti,
                jni,
                &self.registry,
                |name| names.contains(name),
                |_| (),
            ),
        };
        if let Err(e) = self.jvmti.notify(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false) {
            warning!("the class file load hook stays on: {e}");
        }
        restored
    }

    /// Stops the clock and the account of time, and closes the window.
    pub fn pause(&self, jni: Jni<'_>, control: &mut Control) {
        if let Some(clock) = control.clock.take() {
            clock.stop();
        }
        if let Some(shim) = self.shim_if_defined() {
            let _ = shim.disarm(jni);
            let _ = shim.set_burst(jni, 0);
        }
        if self.granted.method_events {
            self.method_events.end(self.jvmti);
        }
        if control
            .settings
            .as_ref()
            .is_some_and(|settings| settings.alloc_interval().is_some())
        {
            let _ = self.jvmti.notify(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, false);
        }
        if let Some(since) = control.since.take() {
            control.before += since.elapsed();
        }
    }

    /// Forgets all counts; profiling goes on, if it runs.
    pub fn reset(&self, jni: Jni<'_>, control: &mut Control) -> Result<(), JvmError> {
        if let (Some(shim), Some(settings)) = (self.shim_if_defined(), &control.settings) {
            self.collector()
                .reset(settings.probe, &self.registry, &self.blocks, shim, jni)?;
            if let Some(pipeline) = self.streams.pipeline() {
                self.streams.flush();
                self.streams.forget_visits();
                pipeline.reset();
            }
        }
        self.windows().reset(&self.blocks);
        self.ledger().reset();
        control.before = Duration::ZERO;
        control.started = control.started.map(|_| SystemTime::now());
        control.since = control.since.map(|_| Instant::now());
        Ok(())
    }
}

/// Milliseconds since 1970.
pub fn unix_millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_millis() as u64)
}
