//! The trait of recorders, and the data that they get.

use std::sync::Arc;
use std::time::Duration;

use trodden_analyses::stream::StreamError;
use trodden_instrumenter::MethodId;
use trodden_profile::{ClassProfile, MergeError, Profile, RunInfo};

use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::sampling::{Signal, Tick};
use crate::settings::Settings;
use crate::stream::record::TraceFile;
use crate::threads::Shim;

/// Why a profile could not begin with these probes.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// Frames can be read only if the agent was there from the start.
    #[error(
        "probe 'safepoint' needs the agent at JVM start-up (-agentpath or JAVA_TOOL_OPTIONS), not attached later"
    )]
    NeedsStartUp,
    /// The JVM gives its events only to agents that request them at start-up.
    #[error(
        "burst=jvm needs the agent at JVM start-up with that very option (-agentpath or JAVA_TOOL_OPTIONS): this JVM \
         can no longer be asked for its events; burst=static can be attached"
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
    /// No address space for a thread's counters.
    #[error(
        "this probe needs address space for the counters of threads, and there is too little left (see ulimit -v)"
    )]
    NoRoom,
    /// The JVM refused something.
    #[error(transparent)]
    Jvm(#[from] JvmError),
    /// The analyses cannot be set up.
    #[error(transparent)]
    Stream(#[from] StreamError),
}

/// Why there is nothing to write.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Nothing was ever profiled.
    #[error("nothing has been profiled")]
    Nothing,
    /// The counts could not be had.
    #[error("the profile could not be collected: {0}")]
    Jvm(#[from] JvmError),
    /// An analysis has no result.
    #[error("the profile could not be made: {0}")]
    Analysis(#[from] StreamError),
    /// Classes that were numbered twice contradict each other.
    #[error("the profile could not be made: {0}")]
    Classes(#[from] MergeError),
}

/// Readings of paths that have not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderWay {
    /// Nothing: they are counted when they end. So counts never fall from one reading to a later one.
    Nothing,
    /// Paths that exceptions have cut off in constructors.
    Died,
    /// That, and prefixes of paths that are read from frames, if the options want that: probes are in.
    Open,
}

/// A profile that begins, or continues.
pub struct Begin<'a> {
    /// The settings that it is recorded with.
    pub settings: &'a Settings,
    /// How long it has been recorded already; `None` if it begins.
    pub before: Option<Duration>,
    /// The trace that takes the stream, if one is recorded.
    pub trace: Option<Arc<TraceFile>>,
}

/// The means by which a profile is read.
pub struct Reading<'a> {
    /// The JVM.
    pub host: &'a Host,
    /// The settings that it is recorded with.
    pub settings: &'a Settings,
    /// The Java half.
    pub shim: &'a Shim,
    /// The calling thread.
    pub jni: Jni<'a>,
    /// The facts of the run.
    pub run: RunInfo,
    /// Readings of paths that have not ended.
    pub under_way: UnderWay,
}

/// The counts so far.
pub struct Totals {
    /// The profile.
    pub profile: Profile,
    /// The number of each class's first method, if its classes are those of the registry.
    pub first_methods: Option<Vec<MethodId>>,
}

/// Records with one kind of probe.
pub trait Recorder: Send + Sync {
    /// Checks that it can begin in this JVM. Sets what only the JVM can say.
    ///
    /// # Errors
    /// If it cannot.
    fn prepare(&self, _host: &Host, _jni: Jni<'_>, _settings: &mut Settings) -> Result<(), BeginError> {
        Ok(())
    }

    /// Checks that this JVM's shim has all that the probes need: a block of counters for the first thread.
    ///
    /// # Errors
    /// If something is missing.
    fn check(&self, shim: &Shim, _settings: &Settings) -> Result<(), BeginError> {
        shim.first_block().map(drop).ok_or(BeginError::NoRoom)
    }

    /// Recording begins, or continues: before classes get their probes.
    ///
    /// # Errors
    /// If the JVM refuses something, or the analyses cannot be set up.
    fn begin(&self, _host: &Host, _begin: Begin<'_>) -> Result<(), BeginError> {
        Ok(())
    }

    /// The work of the clock's thread from now on.
    fn on_ticks(self: Arc<Self>, _host: &'static Host, _settings: &Settings) -> OnTick {
        idle()
    }

    /// Nothing is reported from now on; probes may still be in.
    fn pause(&self, _host: &Host, _shim: &Shim, _jni: Jni<'_>) {}

    /// Recording stops: all probes will be taken out.
    fn stop(&self, _host: &Host) {}

    /// Why counts cannot be forgotten, if they cannot.
    fn keeps_counts(&self) -> Option<&'static str> {
        None
    }

    /// Forgets all counts.
    ///
    /// # Errors
    /// If the counts so far cannot be read. Nothing is changed then.
    fn reset(&self, host: &Host, shim: &Shim, jni: Jni<'_>) -> Result<(), JvmError>;

    /// Says in the run's description how it was recorded.
    fn describe(&self, _settings: &Settings, _run: &mut RunInfo) {}

    /// Reads the counts so far.
    ///
    /// # Errors
    /// If it cannot be read, or an analysis has no result.
    fn totals(&self, reading: Reading<'_>) -> Result<Totals, ReadError>;

    /// Lines of an answer about its state.
    fn status(&self, _settings: &Settings) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// A tick of the clock, in the clock's thread.
pub struct Moment<'a> {
    /// The JVM.
    pub host: &'static Host,
    /// The settings that the profile is recorded with.
    pub settings: &'a Settings,
    /// The Java half.
    pub shim: &'a Shim,
    /// The clock's thread.
    pub jni: Jni<'a>,
    /// The tick.
    pub tick: Tick,
    /// Interrupts waits when the clock is to stop.
    pub signal: &'a Signal,
}

/// The work of a recorder at each tick. An error: nothing more can be recorded.
pub type OnTick = Box<dyn FnMut(&Moment<'_>) -> Result<(), JvmError> + Send>;

/// No work.
pub fn idle() -> OnTick {
    Box::new(|_: &Moment<'_>| Ok(()))
}

/// A profile of these classes, as the registry numbers them.
pub fn totals(run: RunInfo, (classes, first_methods): (Vec<ClassProfile>, Vec<MethodId>)) -> Totals {
    Totals {
        profile: Profile {
            run,
            classes,
            ..Profile::default()
        },
        first_methods: Some(first_methods),
    }
}
