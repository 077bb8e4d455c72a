//! What belongs to threads: their native memory, and the Java shim through which they write to it.

mod address_space;
pub mod blocks;
#[allow(dead_code, reason = "build.rs uses the rest")]
mod layout;
pub mod shim;
pub mod stack;
pub mod strata;
