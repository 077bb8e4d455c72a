//! Native memory of threads, and the Java shim through which they write to it.

mod address_space;
mod blocks;
#[allow(dead_code, reason = "build.rs uses the rest")]
mod layout;
mod shim;
pub mod stack;
mod strata;

pub use blocks::{Switches, ThreadBlock, ThreadBlocks};
pub use shim::{Cut, Hashed, Owner, Shim, cut_key, hashed_key};
pub use strata::Strata;
