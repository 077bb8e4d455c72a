//! Where the innermost Java frame of a thread is: what the interpreter leaves in the thread's
//! `JavaFrameAnchor` when it calls the JVM.

use super::code::{env_in_thread, word};
use super::tables::Tables;
use super::{Jni, Jvmti, Vm};

/// Offsets in a `JavaThread`.
#[derive(Clone, Copy, Debug)]
pub struct InnermostFrame {
    env: usize,
    last_fp: usize,
}

impl InnermostFrame {
    /// `None` if this JVM does not say how its data are laid out. The calling thread has to be attached.
    pub fn new(vm: Vm, jvmti: Jvmti, jni: Jni<'_>) -> Option<Self> {
        let tables = Tables::of(vm)?;
        Some(InnermostFrame {
            env: env_in_thread(&tables, vm, jvmti, jni)?,
            last_fp: last_fp(&tables)?,
        })
    }

    /// True if this JVM says where frames are.
    pub fn is_known(vm: Vm) -> bool {
        Tables::of(vm).is_some_and(|tables| last_fp(&tables).is_some())
    }

    /// The frame pointer of the interpreted frame that called the JVM, which reports an event on its thread.
    /// Of two frames of a thread, the callee's is lower.
    pub fn of_caller(self, jni: Jni<'_>) -> usize {
        word(jni.address() - self.env + self.last_fp)
    }
}

fn last_fp(tables: &Tables) -> Option<usize> {
    let anchor = tables.offset(c"JavaThread", c"_anchor")?;
    Some(anchor + tables.offset(c"JavaFrameAnchor", c"_last_Java_fp")?)
}
