//! The agent as a whole: its state, starting and stopping, commands, each tick of the clock, and the profile
//! file.

pub mod agent;
pub mod ahead;
pub mod by_test;
mod by_thread;
pub mod control;
pub mod dump;
pub mod fleet;
mod lease;
mod patterns;
pub mod spool;
mod start;
