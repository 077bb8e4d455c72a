//! The thin layer over the JVM's C interfaces: everything `unsafe` that is not an entry point.
//!
//! The types here are handles. They are made only from what the JVM passed to us, which is what the
//! SAFETY comments rest on: a `Jvmti` or `Jni` in hand is a valid environment, a reference in hand
//! was given out by that JVM and not yet deleted by us.

pub mod code;
pub mod error;
pub mod flags;
pub mod guard;
pub mod jni;
pub mod jvmti;
pub mod symbols;
mod tables;
pub mod thread;
mod turns;

pub use error::JvmError;
pub use jni::{ClassRef, FieldId, GlobalRef, Jni, StaticMethod};
pub use jvmti::Jvmti;
