//! The JVM that the agent lives in, as all rooms above see it: its interfaces, the ids of classes, the memory
//! of its threads.
//!
//! Lower rooms and those that record take this in place of the whole agent, which only `session` and `entry`
//! know.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

use trodden_instrumenter::CounterSlot;
use trodden_profile::events::ThreadInfo;

use crate::classes::Registry;
use crate::jvm::{FieldId, GlobalRef, Jni, JvmError, Jvmti, ThreadRef, Vm};
use crate::locks::{read, write};
use crate::settings::Settings;
use crate::threads::{Shim, ThreadBlock, ThreadBlocks};

/// The JVM and what the agent keeps of it; one per process, alive until it ends.
pub struct Host {
    /// The JVM.
    pub vm: Vm,
    /// Our environment in it.
    pub jvmti: Jvmti,
    /// True if the agent was attached to a running JVM.
    pub late: bool,
    /// Capabilities that the JVM gave at start-up.
    pub granted: Granted,
    /// Classes and their ids.
    pub registry: Arc<Registry>,
    /// Native memory of threads.
    pub blocks: ThreadBlocks,
    /// True once the program runs.
    up: AtomicBool,
    /// The common superclass of virtual threads, once it has been looked up, and if there is one.
    virtual_threads: OnceLock<GlobalRef>,
    /// `Thread.tid`.
    thread_id: OnceLock<FieldId>,
    shim: OnceLock<Shim>,
    /// The hook's settings while profiling runs.
    active: RwLock<Option<Arc<Settings>>>,
}

/// Capabilities that the JVM gives at start-up only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Granted {
    /// Frames may be read.
    pub frames: bool,
    /// The JVM reports beginnings and ends of activations.
    pub method_events: bool,
    /// The JVM reports single steps.
    pub steps: bool,
}

impl Host {
    /// A JVM of which nothing is known yet. `late`: the agent was attached while it ran.
    pub fn new(vm: Vm, jvmti: Jvmti, late: bool, granted: Granted) -> Self {
        Host {
            vm,
            jvmti,
            late,
            granted,
            registry: Arc::default(),
            blocks: ThreadBlocks::new(),
            up: AtomicBool::new(late),
            virtual_threads: OnceLock::new(),
            thread_id: OnceLock::new(),
            shim: OnceLock::new(),
            active: RwLock::new(None),
        }
    }

    /// The program begins to run.
    pub fn set_up(&self) {
        self.up.store(true, Ordering::Relaxed);
    }

    /// True once the program runs.
    pub fn is_up(&self) -> bool {
        self.up.load(Ordering::Relaxed)
    }

    /// The shim, defined at first use; then `first` gets the block of the calling thread. For callers that
    /// hold the command lock, so that it is defined only once.
    ///
    /// # Errors
    /// If the JVM does not take its classes.
    pub fn shim(
        &self,
        jni: Jni<'_>,
        window: u64,
        first: impl FnOnce(ThreadBlock, ThreadInfo),
    ) -> Result<&Shim, JvmError> {
        if let Some(shim) = self.shim.get() {
            return Ok(shim);
        }
        let current = self.jvmti.current_thread()?;
        let thread_id = jni.long_field_id(current, c"tid")?;
        self.thread_id.get_or_init(|| thread_id);
        let shim = Shim::define(jni, &self.blocks, window)?;
        self.registry.limit_slots(self.blocks.slots());
        if let Some(block) = shim.first_block() {
            let info = ThreadInfo {
                id: jni.long_field(current, thread_id) as u64,
                // The JVM gives that of a virtual thread only with a capability.
                name: self.jvmti.thread_name(current).unwrap_or_default(),
                is_virtual: false,
            };
            first(block, info);
        }
        Ok(self.shim.get_or_init(|| shim))
    }

    /// The shim, if it is there.
    pub fn shim_if_defined(&self) -> Option<&Shim> {
        self.shim.get()
    }

    /// A thread's number in the whole run of the JVM.
    pub fn thread_id(&self, jni: Jni<'_>, thread: ThreadRef) -> Option<u64> {
        let field = *self.thread_id.get()?;
        Some(jni.long_field(thread, field) as u64)
    }

    /// Looks up the class of virtual threads, which may run Java code. JVMs before 21 have none.
    pub fn find_virtual_threads(&self, jni: Jni<'_>) {
        if self.virtual_threads.get().is_none()
            && let Ok(class) = jni.find_class(c"java/lang/BaseVirtualThread")
        {
            self.virtual_threads.get_or_init(|| jni.global(class.raw()));
            jni.delete_local(class.raw());
        }
    }

    /// True for a virtual thread. False as long as their class was not [looked
    /// up](Self::find_virtual_threads).
    pub fn is_virtual(&self, jni: Jni<'_>, thread: ThreadRef) -> bool {
        let class = self.virtual_threads.get();
        class.is_some_and(|&class| jni.is_instance(thread, class))
    }

    /// All counters, summed over threads. These may go on counting meanwhile.
    pub fn counters(&self) -> Vec<u64> {
        self.blocks.sums(CounterSlot(0)..self.registry.counters())
    }

    /// The hook's settings, if profiling runs.
    pub fn active(&self) -> Option<Arc<Settings>> {
        read(&self.active).clone()
    }

    /// Sets them.
    pub fn set_active(&self, settings: Option<Arc<Settings>>) {
        *write(&self.active) = settings;
    }
}
