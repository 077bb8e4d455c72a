//! Puts probes into a method: layout of the new code, then everything that speaks of bytecode indices.

mod arrivals;
mod layout;
mod method;

pub use method::{MethodInput, ProbeInput, RewriteError, RewriteScratch, rewrite};
