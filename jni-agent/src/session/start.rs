//! Starting and stopping a profile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use jvmti_bindings::sys::jvmti::{
    JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
    JVMTI_EVENT_GARBAGE_COLLECTION_START, jvmtiEvent,
};
use trodden_instrumenter::ProbeKind;
use trodden_profile::options::UnsetVariable;

use crate::classes::{Restored, retransform};
use crate::jvm::{Jni, JvmError, guard};
use crate::log::{error, info, warning};
use crate::recorders::{self, Begin, BeginError, Moment, OnTick};
use crate::sampling::clock::{Clock, Signal, THREAD_NAME};
use crate::session::agent::{Agent, Control};
use crate::session::{dump, spool};
use crate::settings::Settings;
use crate::stream::record::{TraceError, TraceFile};
use crate::threads::Shim;

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
    Trace(#[from] TraceError),
    /// Its name needs something that is not there.
    #[error("no trace: {0}")]
    TraceName(#[from] UnsetVariable),
    /// No clock.
    #[error("no thread for the agent: {0}")]
    Thread(std::io::Error),
}

/// The JVM's events of collections.
const COLLECTIONS: [jvmtiEvent; 2] = [
    JVMTI_EVENT_GARBAGE_COLLECTION_START,
    JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
];

/// Number of the next session.
static SESSIONS: AtomicU64 = AtomicU64::new(1);

impl Agent {
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
            self.host.registry.silenced.clear();
            self.cpu.reset();
            self.requests.reset();
        }
        self.recording.forget_methods();
        shim.lay_out(jni, settings.strata())?;
        let before = control.started.map(|_| control.before);
        let recorder = match control.recorder.take() {
            Some(recorder) if before.is_some() => recorder,
            _ => new,
        };
        control.recorder = Some(Arc::clone(&recorder));
        let trace = if settings.records() {
            Some(self.trace(control, &settings)?)
        } else {
            None
        };
        control.trace = trace.clone();
        let begin = Begin {
            settings: &settings,
            before,
            trace,
        };
        recorder.begin(&self.host, begin)?;
        let done = if settings.ahead || !settings.instruments() {
            Restored::default()
        } else {
            self.instrument(jni, &settings)?
        };
        self.recording.streams.settled();
        control.clock = settings
            .interval()
            .map(|i| self.start_clock(i, shim, &settings, recorder.on_ticks(&self.host, &settings)))
            .transpose()
            .map_err(StartError::Thread)?;
        let counts = settings.probe == ProbeKind::Counters && settings.instruments();
        if let Some(interval) = settings.options.sampling.sample
            && let Err(e) = self.cpu.start(
                &self.host,
                jni,
                interval,
                settings.options.sampling.sampled_by,
                counts,
            )
        {
            warning!("no CPU samples: {e}");
        }
        if !settings.requests.is_empty() {
            self.begin_requests();
        }
        let counting = settings.probe == ProbeKind::Counters && !settings.retires;
        self.counting.store(counting, Ordering::Release);
        control.settings = Some(settings);
        control.started.get_or_insert_with(SystemTime::now);
        control.since = Some(Instant::now());
        control.session = SESSIONS.fetch_add(1, Ordering::Relaxed);
        Ok(done)
    }

    /// Requests that end from now on are recorded, and collections that stop them.
    fn begin_requests(&self) {
        for event in COLLECTIONS {
            if let Err(e) = self.host.jvmti.notify(event, true) {
                warning!("collections in requests are not known: {e}");
            }
        }
        self.requests.begin();
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
        let registry = &self.host.registry;
        let wanted = |name: &str| {
            (filter.class(name) && !(once && registry.has_class_named(name)))
                || settings.requests.name_class(name)
        };
        Ok(retransform(self.host.jvmti, jni, registry, wanted))
    }

    /// The trace that the stream goes to.
    fn trace(&self, control: &Control, settings: &Settings) -> Result<Arc<TraceFile>, StartError> {
        let file = dump::file_name(settings)?;
        let kinds = settings.instrumenter.options().probes.events();
        let run = dump::run_info(self, control, settings);
        let trace = TraceFile::create(file, kinds, &run, Arc::clone(&self.host.registry))?;
        Ok(Arc::new(trace))
    }

    /// A clock for the recorder's work and for periodic dumps.
    fn start_clock(
        &'static self,
        interval: Duration,
        shim: &'static Shim,
        settings: &Arc<Settings>,
        mut on_tick: OnTick,
    ) -> std::io::Result<Clock> {
        let (host, settings) = (&self.host, Arc::clone(settings));
        let jitter = settings.jitter();
        let every = settings.options.dump_every();
        let mut next_dump = every.map(|every| Instant::now() + every);
        let mut work = move |jni: Jni<'_>, tick, signal: &Signal| {
            let now = Moment {
                host,
                settings: &settings,
                shim,
                jni,
                tick,
                signal,
            };
            if let Err(e) = on_tick(&now) {
                error!("sampling stops: {e}");
                return false;
            }
            if next_dump.is_some_and(|at| Instant::now() >= at) {
                next_dump = every.map(|every| Instant::now() + every);
                self.dump_at_tick(jni);
            }
            true
        };
        let work =
            move |jni: Jni<'_>, tick, signal: &Signal| guard("the clock", false, || work(jni, tick, signal));
        Clock::start(THREAD_NAME, host.vm, host.jvmti, interval, jitter, work)
    }

    /// Writes the next window, or the profile so far.
    fn dump_at_tick(&self, jni: Jni<'_>) {
        // A command in progress (maybe stopping this very clock) dumps itself or does not want one now.
        if let Some(mut control) = self.try_control()
            && spool::turn(self, jni, &mut control).is_none()
            && let Err(e) = dump::dump(self, jni, &control, None, control.running())
        {
            error!("{e}");
        }
    }

    /// Stops profiling; counts are kept, classes get their own bytes back.
    pub fn stop(&self, jni: Jni<'_>, control: &mut Control) -> Restored {
        self.counting.store(false, Ordering::Release);
        self.pause(jni, control);
        let settings = control.settings.as_ref();
        if settings.is_some_and(|settings| settings.ahead) {
            return Restored::default();
        }
        let unchanged = settings.is_some_and(|settings| settings.options.has_events_of_jvm());
        self.host.set_active(None);
        if let Some(recorder) = control.recorder() {
            recorder.stop(&self.host);
        }
        self.host.registry.silenced.clear();
        let registry = &self.host.registry;
        let names = registry.names();
        let handles = |name: &str| settings.is_some_and(|settings| settings.requests.name_class(name));
        let restored = if unchanged {
            Restored::default()
        } else {
            retransform(self.host.jvmti, jni, registry, |name| {
                names.contains(name) || handles(name)
            })
        };
        if let Err(e) = self.host.jvmti.notify(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false) {
            warning!("the class file load hook stays on: {e}");
        }
        restored
    }

    /// Stops the clock and the account of time, and closes the window.
    pub fn pause(&self, jni: Jni<'_>, control: &mut Control) {
        self.cpu.stop(&self.host, jni);
        self.requests.end();
        for event in COLLECTIONS {
            // It was off, or stays on for nothing.
            let _ = self.host.jvmti.notify(event, false);
        }
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

    /// Forgets all counts; profiling continues, if it runs.
    pub fn reset(&self, jni: Jni<'_>, control: &mut Control) -> Result<(), JvmError> {
        if let (Some(recorder), Some(shim)) = (control.recorder(), self.host.shim_if_defined()) {
            recorder.reset(&self.host, shim, jni)?;
        }
        self.cpu.reset();
        self.marks.reset();
        self.requests.reset();
        control.before = Duration::ZERO;
        control.started = control.started.map(|_| SystemTime::now());
        control.since = control.since.map(|_| Instant::now());
        Ok(())
    }
}
