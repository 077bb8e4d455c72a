//! The agent's state, and what starting and stopping do to it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jvmti_bindings::sys::jni::JNIEnv;
use jvmti_bindings::sys::jvmti::JVMTI_EVENT_CLASS_FILE_LOAD_HOOK;
use trodden_instrumenter::{CounterSlot, ProbeKind};
use trodden_profile::output::Lease;

use crate::classes::retransform::{Restored, retransform};
use crate::cpu::CpuSampler;
use crate::host::{Granted, Host};
use crate::jvm::guard::guard;
use crate::jvm::thread::Vm;
use crate::jvm::{Jni, JvmError, Jvmti};
use crate::locks::lock;
use crate::log::{info, warning};
use crate::recorders::{self, Begin, BeginError, OnTick, Recorder};
use crate::sampling::clock::{Clock, THREAD_NAME};
use crate::session::by_test::Marks;
use crate::session::fleet::Drawn;
use crate::session::ticker::Ticker;
use crate::session::{dump, spool};
use crate::settings::Settings;
use crate::stream::Recording;
use crate::stream::record::TraceFile;
use crate::threads::shim::Shim;

/// Everything the agent knows; one per JVM, alive until the process ends.
pub struct Agent {
    /// The JVM, and what all rooms know of it.
    pub host: Host,
    /// How activations are recorded.
    pub recording: Recording,
    /// Serialises start, stop and commands.
    control: Mutex<Control>,
    /// Where the CPU time goes.
    pub cpu: CpuSampler,
    /// What each test counted.
    pub marks: Marks,
    /// Is each path end counted now, in counters of its own? For who asks often and must not wait.
    counting: AtomicBool,
}

/// What commands change.
#[derive(Default)]
pub struct Control {
    clock: Option<Clock>,
    /// Settings of the running or last profile.
    pub settings: Option<Arc<Settings>>,
    /// What records it.
    recorder: Option<Arc<dyn Recorder>>,
    /// The trace that is being written.
    pub trace: Option<Arc<TraceFile>>,
    /// Wall-clock time at which the profile began.
    pub started: Option<SystemTime>,
    /// Time profiled before the current stretch.
    before: Duration,
    /// When the current stretch began; `None` while stopped.
    since: Option<Instant>,
    /// Says whether the process lives that asked for a session, with the number of that.
    pub lease: Option<(u64, Arc<Lease>)>,
    /// Number of the current or last stretch.
    session: u64,
    /// Windows in a spool folder.
    pub windows: spool::Windows,
    /// Whether this host is one of those that record.
    pub drawn: Drawn,
    /// Has the JVM come to its end? Then nothing begins any more.
    pub ended: bool,
}

/// Why profiling could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It runs already.
    #[error("profiling runs already; stop it first")]
    Running,
    /// The probes do not go with this JVM.
    #[error(transparent)]
    Probes(#[from] BeginError),
    /// The JVM refused something.
    #[error(transparent)]
    Jvm(#[from] JvmError),
    /// The trace cannot be written.
    #[error("no trace: {0}")]
    Trace(String),
    /// No clock.
    #[error("no thread for the agent: {0}")]
    Thread(std::io::Error),
}

static AGENT: OnceLock<Agent> = OnceLock::new();
/// Number of the next stretch.
static SESSIONS: AtomicU64 = AtomicU64::new(1);

impl Control {
    /// Seconds profiled so far.
    pub fn seconds(&self) -> f64 {
        (self.before + self.since.map_or(Duration::ZERO, |since| since.elapsed())).as_secs_f64()
    }

    /// Does profiling run?
    pub fn running(&self) -> bool {
        self.since.is_some()
    }

    /// Does the profile that runs, or ran last, go into a spool folder and nowhere else?
    pub fn writes_windows_only(&self) -> bool {
        let settings = self.settings.as_ref();
        settings.is_some_and(|settings| !settings.options.writes_file())
    }

    /// What records the profile that runs, or ran last.
    pub fn recorder(&self) -> Option<&dyn Recorder> {
        self.recorder.as_deref()
    }

    /// Number of the current stretch, which no other one has.
    pub fn session(&self) -> u64 {
        self.session
    }

    /// Does the stretch of that number run?
    pub fn runs(&self, session: u64) -> bool {
        self.running() && self.session == session
    }
}

impl Agent {
    /// The agent, once it is there.
    pub fn get() -> Option<&'static Agent> {
        AGENT.get()
    }

    /// Runs what the JVM or the shim calls on a thread of the program, guarded; the fallback, if there is no
    /// agent.
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
            host: Host::new(vm, jvmti, late, granted),
            recording: Recording::default(),
            cpu: CpuSampler::default(),
            control: Mutex::default(),
            marks: Marks::default(),
            counting: AtomicBool::new(false),
        })
    }

    /// The shim, defined at first use. For callers that hold the command lock.
    pub fn shim(&self, jni: Jni<'_>, window: u64) -> Result<&Shim, JvmError> {
        self.host.shim(jni, window, |block, info| {
            self.recording.streams.thread_begins(block, info);
        })
    }

    /// One behind the last counter slot, while each path end is counted.
    pub fn counters(&self) -> Option<CounterSlot> {
        let counting = self.counting.load(Ordering::Acquire);
        counting.then(|| self.host.registry.counters())
    }

    /// The command lock.
    pub fn control(&self) -> MutexGuard<'_, Control> {
        lock(&self.control)
    }

    /// The same, unless a command is under way.
    pub fn try_control(&self) -> Option<MutexGuard<'_, Control>> {
        self.control.try_lock().ok()
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
        let new = recorders::new(&settings, &self.recording);
        new.prepare(&self.host, jni, &mut settings)?;
        let settings = Arc::new(settings);
        let shim = self.shim(jni, settings.window())?;
        new.check(shim, &settings)?;
        if self.host.registry.configure(&settings.configuration()) && control.started.is_some() {
            info!("other probes or filters than before: a new profile begins");
            new.reset(&self.host, shim, jni)?;
            *control = Control {
                windows: std::mem::take(&mut control.windows),
                drawn: std::mem::take(&mut control.drawn),
                ended: control.ended,
                ..Control::default()
            };
            self.host.registry.silence_none();
            self.cpu.reset();
        }
        self.recording.forget_methods();
        shim.lay_out(jni, settings.strata())?;
        let before = control.started.map(|_| control.before);
        let recorder = match control.recorder.take() {
            Some(recorder) if before.is_some() => recorder,
            _ => new,
        };
        control.recorder = Some(Arc::clone(&recorder));
        let trace = match settings.records() {
            true => Some(self.trace(control, &settings)?),
            false => None,
        };
        control.trace = trace.clone();
        let begin = Begin {
            settings: &settings,
            before,
            trace,
        };
        recorder.begin(&self.host, begin)?;
        let done = match settings.ahead || !settings.instruments() {
            true => Restored::default(),
            false => self.instrument(jni, &settings)?,
        };
        self.recording.streams.settled();
        control.clock = settings
            .interval()
            .map(|i| self.start_clock(i, &settings, recorder.on_ticks(&self.host, &settings)))
            .transpose()
            .map_err(StartError::Thread)?;
        if let Some(interval) = settings.options.sampling.sample
            && let Err(e) = self
                .cpu
                .start(&self.host, jni, interval, settings.options.sampling.sampled_by)
        {
            warning!("no CPU samples: {e}");
        }
        let counting = settings.probe == ProbeKind::Counters && !settings.retires;
        self.counting.store(counting, Ordering::Release);
        control.settings = Some(settings);
        control.started.get_or_insert_with(SystemTime::now);
        control.since = Some(Instant::now());
        control.session = SESSIONS.fetch_add(1, Ordering::Relaxed);
        Ok(done)
    }

    /// Switches the hook on and sends what is loaded through it.
    fn instrument(&self, jni: Jni<'_>, settings: &Arc<Settings>) -> Result<Restored, JvmError> {
        self.host.set_active(Some(Arc::clone(settings)));
        self.host.jvmti.notify(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, true)?;
        let filter = &settings.instrumenter.options().filter;
        // Only to get at their bytes, with the JVM's events. Those of classes that came by unchanged would be
        // others this time: the JVM keeps what it was given only where that was changed, else it puts
        // together an equivalent.
        let once = settings.options.has_events_of_jvm();
        Ok(retransform(
            self.host.jvmti,
            jni,
            &self.host.registry,
            |name| filter.class(name) && !(once && self.host.registry.has_class_named(name)),
            |_| (),
        ))
    }

    /// The trace that the stream goes to.
    fn trace(&self, control: &Control, settings: &Settings) -> Result<Arc<TraceFile>, StartError> {
        let file = dump::file_name(settings).map_err(|e| StartError::Trace(e.to_string()))?;
        let kinds = settings.instrumenter.options().probes.events();
        let run = dump::run_info(self, control, settings);
        let trace = TraceFile::create(file, kinds, &run, Arc::clone(&self.host.registry));
        trace.map(Arc::new).map_err(StartError::Trace)
    }

    fn start_clock(
        &'static self,
        interval: Duration,
        settings: &Arc<Settings>,
        recorder: Box<dyn OnTick>,
    ) -> std::io::Result<Clock> {
        let mut ticker = Ticker::new(self, settings, recorder);
        Clock::start(
            THREAD_NAME,
            self.host.vm,
            self.host.jvmti,
            interval,
            settings.jitter(),
            move |jni, tick, signal| guard("the clock", false, || ticker.tick(jni, tick, signal)),
        )
    }

    /// Stops profiling; counts are kept, classes get their own bytes back.
    pub fn stop(&self, jni: Jni<'_>, control: &mut Control) -> Restored {
        self.counting.store(false, Ordering::Release);
        self.pause(jni, control);
        if control.settings.as_ref().is_some_and(|settings| settings.ahead) {
            return Restored::default();
        }
        let unchanged = control
            .settings
            .as_ref()
            .is_some_and(|settings| settings.options.has_events_of_jvm());
        self.host.set_active(None);
        if let Some(recorder) = control.recorder() {
            recorder.stop(&self.host);
        }
        self.host.registry.silence_none();
        let names = self.host.registry.names();
        let restored = match unchanged {
            true => Restored::default(),
            false => retransform(
                self.host.jvmti,
                jni,
                &self.host.registry,
                |name| names.contains(name),
                |_| (),
            ),
        };
        if let Err(e) = self.host.jvmti.notify(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false) {
            warning!("the class file load hook stays on: {e}");
        }
        restored
    }

    /// Stops the clock and the account of time, and closes the window.
    pub fn pause(&self, jni: Jni<'_>, control: &mut Control) {
        self.cpu.stop(&self.host, jni);
        if let Some(clock) = control.clock.take() {
            clock.stop();
        }
        if let (Some(recorder), Some(shim)) = (control.recorder(), self.host.shim_if_defined()) {
            recorder.pause(&self.host, shim, jni);
        }
        if let Some(since) = control.since.take() {
            control.before += since.elapsed();
        }
    }

    /// Forgets all counts; profiling goes on, if it runs.
    pub fn reset(&self, jni: Jni<'_>, control: &mut Control) -> Result<(), JvmError> {
        if let (Some(recorder), Some(shim)) = (control.recorder(), self.host.shim_if_defined()) {
            recorder.reset(&self.host, shim, jni)?;
        }
        self.cpu.reset();
        self.marks.reset();
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
