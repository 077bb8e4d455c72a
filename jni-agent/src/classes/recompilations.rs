//! How much is compiled again because probes were taken out.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use jvmti_bindings::sys::jni::jmethodID;
use jvmti_bindings::sys::jvmti::{JVMTI_EVENT_COMPILED_METHOD_LOAD, jvmtiCapabilities};

use crate::classes::registry::Registry;
use crate::jvm::{Jni, Jvmti};
use crate::log::debug;

/// Methods that were compiled again, in classes whose probes were taken out.
#[derive(Default)]
pub struct Recompilations {
    count: AtomicU64,
    /// Are they counted? The JVM may report compiled methods for another reason.
    watching: AtomicBool,
}

impl Recompilations {
    /// Has the JVM report every method that it compiles from now on.
    pub fn watch(&self, jvmti: Jvmti) {
        self.watching.store(true, Ordering::Relaxed);
        let mut capabilities = jvmtiCapabilities::default();
        capabilities.set_can_generate_compiled_method_load_events(true);
        let asked = jvmti.add_capabilities(&capabilities);
        if let Err(e) = asked.and_then(|()| jvmti.notify(JVMTI_EVENT_COMPILED_METHOD_LOAD, true)) {
            debug!("recompilations are not counted: {e}");
        }
    }

    /// A method was compiled.
    pub fn compiled(&self, jvmti: Jvmti, registry: &Registry, jni: Jni<'_>, method: jmethodID) {
        if !self.watches() {
            return;
        }
        // A method may be unloaded by now.
        if let Ok(class) = jvmti.declaring_class(method) {
            if let Ok(Some(name)) = jvmti.class_name(class)
                && registry.was_silenced(&name)
            {
                self.count.fetch_add(1, Ordering::Relaxed);
            }
            jni.delete_local_class(class);
        }
    }

    /// Are they counted?
    pub fn watches(&self) -> bool {
        self.watching.load(Ordering::Relaxed)
    }

    /// How many so far.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}
