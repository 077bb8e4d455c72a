//! Errors of the JVM.

use jvmti_bindings::sys::jvmti::jvmtiError;

/// A JVMTI or JNI call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JvmError {
    /// A JVMTI function returned an error code.
    #[error("{call}: {} (JVMTI error {})", name(*.error), .error.raw())]
    Jvmti {
        /// The function.
        call: &'static str,
        /// Its answer.
        error: jvmtiError,
    },
    /// A JNI function left a Java exception behind (it is cleared).
    #[error("{call}: a Java exception")]
    Exception {
        /// The function.
        call: &'static str,
    },
    /// A JNI function of the invocation interface returned a code.
    #[error("{call}: JNI error {code}")]
    Jni {
        /// The function.
        call: &'static str,
        /// Its answer.
        code: i32,
    },
    /// The JVM's function table has a hole.
    #[error("{call}: not offered by this JVM")]
    Missing {
        /// The function.
        call: &'static str,
    },
    /// Another copy of the agent, from another file, is in this JVM.
    #[error("this JVM has Trodden's agent already: that one's options count, this one does nothing")]
    OtherAgent,
}

impl JvmError {
    /// An error unless a function of JNI has answered 0.
    pub(super) fn check(call: &'static str, code: i32) -> Result<(), JvmError> {
        match code {
            0 => Ok(()),
            code => Err(JvmError::Jni { call, code }),
        }
    }
}

fn name(error: jvmtiError) -> &'static str {
    match error {
        jvmtiError::INVALID_THREAD => "invalid thread",
        jvmtiError::THREAD_NOT_SUSPENDED => "thread not suspended",
        jvmtiError::THREAD_NOT_ALIVE => "thread not alive",
        jvmtiError::NO_MORE_FRAMES => "no more frames",
        jvmtiError::OPAQUE_FRAME => "opaque frame",
        jvmtiError::TYPE_MISMATCH => "type mismatch",
        jvmtiError::INVALID_SLOT => "invalid slot",
        jvmtiError::INVALID_CLASS_FORMAT => "invalid class format",
        jvmtiError::FAILS_VERIFICATION => "class fails verification",
        jvmtiError::UNMODIFIABLE_CLASS => "unmodifiable class",
        jvmtiError::NOT_AVAILABLE => "not available",
        jvmtiError::MUST_POSSESS_CAPABILITY => "capability missing",
        jvmtiError::OUT_OF_MEMORY => "out of memory",
        jvmtiError::WRONG_PHASE => "wrong phase",
        jvmtiError::INTERNAL => "internal error",
        _ => "failed",
    }
}
