//! Starting and stopping a profile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use jvmti_bindings::sys::jvmti::JVMTI_EVENT_CLASS_FILE_LOAD_HOOK;
use trodden_instrumenter::ProbeKind;

use crate::classes::retransform::{Restored, retransform};
use crate::jvm::guard::guard;
use crate::jvm::{Jni, JvmError};
use crate::log::{info, warning};
use crate::recorders::{self, Begin, BeginError, OnTick};
use crate::sampling::clock::{Clock, THREAD_NAME};
use crate::session::agent::{Agent, Control};
use crate::session::dump;
use crate::session::ticker::Ticker;
use crate::settings::Settings;
use crate::stream::record::TraceFile;

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

/// Number of the next stretch.
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
            .map(|i| self.start_clock(i, &settings, recorder.on_ticks(&self.host, &settings)))
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
        self.host.registry.silenced.clear();
        let names = self.host.registry.names();
        let restored = if unchanged {
            Restored::default()
        } else {
            retransform(
                self.host.jvmti,
                jni,
                &self.host.registry,
                |name| names.contains(name),
                |_| (),
            )
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

    /// Forgets all counts; profiling continues, if it runs.
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
