//! The agent's state.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jvmti_bindings::sys::jni::JNIEnv;
use trodden_instrumenter::CounterSlot;
use trodden_profile::output::Lease;

use crate::cpu::CpuSampler;
use crate::host::{Granted, Host};
use crate::jvm::{Jni, JvmError, Jvmti, ThreadRef, Vm, guard};
use crate::locks::lock;
use crate::log::error;
use crate::recorders::Recorder;
use crate::requests::Requests;
use crate::sampling::Clock;
use crate::session::by_test::Marks;
use crate::session::spool;
use crate::settings::Settings;
use crate::stream::record::TraceFile;
use crate::stream::{Recording, Reporter};
use crate::threads::Shim;

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
    /// Counts of each test.
    pub marks: Marks,
    /// Latencies and paths of requests.
    pub requests: Requests,
    /// True while each path end is counted, in counters of its own. For callers that ask often and must not
    /// wait.
    pub(super) counting: AtomicBool,
}

/// The last draw.
#[derive(Clone, Debug, Default)]
pub struct HostSelection {
    /// The draw, if there is one: `1/100`.
    pub of: Option<String>,
    /// True if this host is drawn.
    pub yes: bool,
    /// Number of the last command that started or stopped profiling: who waits for the next draw does so for
    /// that command.
    pub command: u64,
}

/// State that commands change.
#[derive(Default)]
pub struct Control {
    pub(super) clock: Option<Clock>,
    /// Settings of the running or last profile.
    pub settings: Option<Arc<Settings>>,
    /// Its recorder.
    pub(super) recorder: Option<Arc<dyn Recorder>>,
    /// The trace that is being written.
    pub trace: Option<Arc<TraceFile>>,
    /// Wall-clock time at which the profile began.
    pub started: Option<SystemTime>,
    /// Time profiled before the current interval.
    pub(super) before: Duration,
    /// When the current interval began; `None` while stopped.
    pub(super) since: Option<Instant>,
    /// Says whether the process lives that asked for a session, with the number of that.
    pub lease: Option<(u64, Arc<Lease>)>,
    /// Number of the current or last session, which no other one has.
    pub session: u64,
    /// Windows in a spool folder.
    pub windows: spool::Windows,
    /// The draw of hosts that record.
    pub drawn: HostSelection,
    /// True at the end of the JVM: nothing begins any more.
    pub ended: bool,
}

static AGENT: OnceLock<Agent> = OnceLock::new();
impl Control {
    /// Seconds profiled so far.
    pub fn seconds(&self) -> f64 {
        (self.before + self.since.map_or(Duration::ZERO, |since| since.elapsed())).as_secs_f64()
    }

    /// True while profiling runs.
    pub fn running(&self) -> bool {
        self.since.is_some()
    }

    /// True if the profile that runs, or ran last, goes into a spool folder and nowhere else.
    pub fn writes_windows_only(&self) -> bool {
        let settings = self.settings.as_ref();
        settings.is_some_and(|settings| !settings.options.writes_file())
    }

    /// The recorder of the profile that runs, or ran last.
    pub fn recorder(&self) -> Option<&dyn Recorder> {
        self.recorder.as_deref()
    }

    /// True if the session of that number runs.
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

    /// Starts a thread that is none of the JVM's: one that sleeps in the kernel most of its time.
    ///
    /// # Errors
    /// If the operating system gives no thread.
    pub fn spawn(name: &'static str, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let thread = std::thread::Builder::new().name(name.to_owned());
        thread.spawn(body).map(drop)
    }

    /// Runs a body on the calling thread, which is attached to the JVM for that time under a name; guarded.
    pub fn attached(&'static self, name: &'static str, body: impl FnOnce(&'static Agent, Jni<'_>)) {
        let run = |jni: Jni<'_>| guard(name, (), || body(self, jni));
        if let Err(e) = self.host.vm.attached(self.host.jvmti, name, run) {
            error!("the thread {name:?} cannot run: {e}");
        }
    }

    /// Makes the agent. The first caller wins.
    pub fn create(vm: Vm, jvmti: Jvmti, late: bool, granted: Granted) -> &'static Agent {
        AGENT.get_or_init(|| Agent {
            host: Host::new(vm, jvmti, late, granted),
            recording: Recording::default(),
            cpu: CpuSampler::default(),
            control: Mutex::default(),
            marks: Marks::default(),
            requests: Requests::default(),
            counting: AtomicBool::new(false),
        })
    }

    /// The calling thread, as streams see it.
    pub fn reporter<'a>(&'a self, jni: Jni<'a>, thread: ThreadRef) -> Reporter<'a> {
        Reporter {
            host: &self.host,
            recording: &self.recording,
            jni,
            thread,
        }
    }

    /// The shim, defined at first use. For callers that hold the command lock.
    pub fn shim(&self, jni: Jni<'_>, window: u64) -> Result<&Shim, JvmError> {
        self.host.shim(jni, window, |block, info| {
            self.cpu.thread_counts_in(block);
            self.recording.streams.thread_begins(block, info);
        })
    }

    /// One past the last counter slot, while each path end is counted.
    pub fn counters(&self) -> Option<CounterSlot> {
        let counting = self.counting.load(Ordering::Acquire);
        counting.then(|| self.host.registry.counters())
    }

    /// The command lock.
    pub fn control(&self) -> MutexGuard<'_, Control> {
        lock(&self.control)
    }

    /// The command lock, unless a command holds it.
    pub fn try_control(&self) -> Option<MutexGuard<'_, Control>> {
        self.control.try_lock().ok()
    }
}

/// Milliseconds since 1970.
pub fn unix_millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_millis() as u64)
}
