//! Puts probes into a method: layout of the new code, then everything that speaks of bytecode indices.

mod arrivals;
pub mod cuts;
mod layout;
mod method;
mod unwind;
mod with_calls;

pub use method::{MethodInput, ProbeInput, RewriteError, RewriteScratch, rewrite};
pub use unwind::{calls_other_constructor, covered};
