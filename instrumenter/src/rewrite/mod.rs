//! Puts probes into a method: layout of the new code, then everything that speaks of bytecode indices.

mod arrivals;
mod layout;
mod method;
mod unwind;

pub use method::{MethodInput, ProbeInput, RewriteError, RewriteScratch, rewrite};
