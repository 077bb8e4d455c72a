//! The thin layer over the JVM's C interfaces: everything `unsafe` that is not an entry point.
//!
//! The types here are handles. They are made only from what the JVM passed to us, which is what the
//! SAFETY comments rest on: a `Jvmti` or `Jni` in hand is a valid environment, a reference in hand
//! was given out by that JVM and not yet deleted by us.

pub mod code;
mod error;
pub mod flags;
mod frames;
mod guard;
mod jni;
mod jvmti;
pub mod memory;
pub mod symbols;
pub mod tables;
mod thread;
mod turns;

pub use error::JvmError;
pub use frames::InnermostFrame;
pub use guard::{Panicked, catch, guard, panics};
pub use jni::{ClassRef, FieldId, GlobalRef, Jni, LocalFrame, StaticMethod, WeakRef};
pub use jvmti::{Jvmti, ThreadRef};
pub use thread::Vm;
