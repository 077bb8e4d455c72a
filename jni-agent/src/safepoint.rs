//! The `safepoint` probe.
use crate::agent::Agent;
use crate::jvm::{Jni, JvmError};

/// Reads path registers from frames.
#[derive(Default)]
pub struct SafepointSampler {}

impl SafepointSampler {
    /// One tick.
    pub fn sample(&mut self, _agent: &Agent, _jni: Jni<'_>) -> Result<(), JvmError> {
        Ok(())
    }
}
