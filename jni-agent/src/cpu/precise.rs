//! Compiled code that knows its bytecode indices between safepoints too: without that, a sample is put down
//! to the safepoint that comes before or after it.

use jvmti_bindings::sys::jvmti::JVMTI_EVENT_COMPILED_METHOD_LOAD;

use crate::jvm::flags::{Flag, debug_non_safepoints};
use crate::jvm::{JvmError, Jvmti, Vm};
use crate::log::debug;

/// How it was asked for: what ends with the sampling.
pub enum Precise {
    /// By a flag of the JVM.
    Flag(Flag),
    /// The JVM records more where an agent listens to what it compiles.
    Events,
    /// It was not: the user set the flag, or the JVM refuses.
    Untouched,
}

impl Precise {
    /// Asks for it. What is compiled from now on has it.
    pub fn begin(vm: Vm, jvmti: Jvmti) -> Self {
        match debug_non_safepoints(vm) {
            Some(flag) if flag.by_default => {
                flag.set(true);
                Self::Flag(flag)
            }
            Some(_) => Self::Untouched,
            None => match listen(jvmti) {
                Ok(()) => Self::Events,
                Err(e) => {
                    debug!("samples lie at safepoints of compiled code: {e}");
                    Self::Untouched
                }
            },
        }
    }

    /// Ends the request.
    pub fn end(self, jvmti: Jvmti) {
        match self {
            Self::Flag(flag) => flag.set(false),
            Self::Events => {
                if let Err(e) = jvmti.notify(JVMTI_EVENT_COMPILED_METHOD_LOAD, false) {
                    debug!("an event stays on: {e}");
                }
            }
            Self::Untouched => {}
        }
    }
}

fn listen(jvmti: Jvmti) -> Result<(), JvmError> {
    jvmti.add_capabilities(|set| set.set_can_generate_compiled_method_load_events(true))?;
    jvmti.notify(JVMTI_EVENT_COMPILED_METHOD_LOAD, true)
}
